import CourierCore
import MQTTCodec

// A fast path that reads many packets at a time. It reads only the most frequent packets: PUBLISH that no redaction
// rule can affect, and acknowledgements that contain only a packet id. It updates the connection's state like
// `ConnectionTrack.read`, which reads all other packets.

/// A run: a number of consecutive packets in a batch that were read together.
struct PacketRun {
    var count = 0
    /// The offset of the first byte after the packets.
    var end: Int
}

extension ConnectionTrack {
    /// Reads as many packets at `offset` as the fast path can read. The count is 0 if the first packet needs the slow
    /// path. All packets that are read remain unchanged, and none is larger than `packetSize`.
    @inline(__always)
    mutating func readRun(
        _ bytes: Span<UInt8>, at offset: Int, _ direction: PacketBatch.Direction, _ row: UInt64, _ time: Int64,
        _ packetSize: Int, _ context: inout RecordingContext
    ) -> PacketRun {
        switch bytes[offset] &>> 4 {
        case PacketType.publish.rawValue where !context.redactor.hasTopicRules:
            if direction == .outgoing {
                Self.readPublishes(bytes, at: offset, direction, row, time, packetSize, isVersion5, &own, &context)
            } else {
                Self.readPublishes(bytes, at: offset, direction, row, time, packetSize, isVersion5, &peers, &context)
            }
        case PacketType.pubAck.rawValue, PacketType.pubRec.rawValue, PacketType.pubComp.rawValue:
            if direction == .incoming {
                Self.readAnswers(bytes, at: offset, direction, row, time, &own, &context)
            } else {
                Self.readAnswers(bytes, at: offset, direction, row, time, &peers, &context)
            }
        default: PacketRun(end: offset)
        }
    }

    private static func readPublishes(
        _ bytes: Span<UInt8>, at start: Int, _ direction: PacketBatch.Direction, _ firstRow: UInt64, _ time: Int64,
        _ packetSize: Int, _ isVersion5: Bool, _ table: inout ExchangeTable, _ context: inout RecordingContext
    ) -> PacketRun {
        var run = PacketRun(end: start)
        var next = PacketRun(end: start)
        table.open {
            // Each further call of this closure means that the table has opened the exchange that the previous call
            // returned. So the packet of that exchange belongs to the run.
            run = next
            while let header = PacketHeader(bytes, at: next.end), header.typeBits == PacketType.publish.rawValue,
                header.size <= packetSize, !header.isDuplicate
            {
                var index = header.bodyStart &+ 2 &+ Int(header.number(bytes, at: header.bodyStart))
                let id = header.qosBits == 0 ? 0 : header.number(bytes, at: index)
                if isVersion5 {
                    if header.qosBits != 0 { index &+= 2 }
                    if index < header.end, bytes[index] != 0 { return nil }
                }
                let row = firstRow &+ UInt64(next.count)
                next.count &+= 1
                next.end = header.end
                if id != 0 { return ExchangeTable.Start(row: row, time: time, id: id, qos: header.qosBits) }
                run = next
            }
            return nil
        }
        context.tally.count(PacketType.publish.rawValue, direction, packets: run.count, size: run.end &- start)
        return run
    }

    private static func readAnswers(
        _ bytes: Span<UInt8>, at start: Int, _ direction: PacketBatch.Direction, _ firstRow: UInt64, _ time: Int64,
        _ table: inout ExchangeTable, _ context: inout RecordingContext
    ) -> PacketRun {
        let (firstByte, typeBits) = (bytes[start], bytes[start] &>> 4)
        let isLast = typeBits != PacketType.pubRec.rawValue
        var run = PacketRun(end: start)
        // If consecutive responses acknowledge consecutive packets that were sent at the same time, their exchange
        // links are recorded together.
        var (first, begun, answers) = (firstRow, ExchangeTable.Start(), 0)
        func note() {
            guard answers > 0 else { return }
            let elapsed = Nanoseconds.difference(time, begun.time)
            context.links.append(
                ExchangeLink(row: first, start: begun.row, elapsed: elapsed, isLast: isLast), count: answers)
            if isLast, let kind = kind(typeBits, begun.qos, isOwn: direction == .incoming) {
                context.tally.latencies.count(kind, elapsed, times: answers)
            }
        }
        table.find(closing: isLast) {
            guard run.end &+ 4 <= bytes.count, bytes[run.end] == firstByte, bytes[run.end &+ 1] == 2 else { return nil }
            let id = UInt16(bytes[run.end &+ 2]) &<< 8 | UInt16(bytes[run.end &+ 3])
            run.count &+= 1
            run.end &+= 4
            return id
        } _: { start in
            let row = firstRow &+ UInt64(run.count &- 1)
            let isNext =
                row == first &+ UInt64(answers) && start.row == begun.row &+ UInt64(answers)
                && start.time == begun.time && start.qos == begun.qos
            if isNext {
                answers &+= 1
            } else {
                note()
                (first, begun, answers) = (row, start, 1)
            }
        }
        note()
        context.tally.count(typeBits, direction, packets: run.count, size: run.end &- start)
        return run
    }
}
