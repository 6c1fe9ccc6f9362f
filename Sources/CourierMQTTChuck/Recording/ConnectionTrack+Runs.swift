import CourierCore
import MQTTCodec

// What nearly all packets are, read many at a time: PUBLISH that no rule can hide anything of, and acknowledgements that
// are nothing but a packet id. It notes of them what `ConnectionTrack.read` does of any packet, and leaves to that all that
// is in any way special.

/// Packets one behind the other.
struct PacketRun {
    var count = 0
    /// Where the first packet behind them starts.
    var end: Int
}

extension ConnectionTrack {
    /// Reads the run that starts at `offset`; its packets are kept as they are, and none is larger than `packetSize`.
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
        while let header = PacketHeader(bytes, at: run.end), header.typeBits == PacketType.publish.rawValue,
            header.size <= packetSize, !header.isDuplicate
        {
            var index = header.bodyStart &+ 2 &+ Int(header.number(bytes, at: header.bodyStart))
            let id = header.qosBits == 0 ? 0 : header.number(bytes, at: index)
            if isVersion5 {
                if header.qosBits != 0 { index &+= 2 }
                if index < header.end, bytes[index] != 0 { break }
            }
            if id != 0 {
                table.open(
                    ExchangeTable.Start(row: firstRow &+ UInt64(run.count), time: time, id: id, qos: header.qosBits))
            }
            run.count &+= 1
            run.end = header.end
        }
        context.tally.count(PacketType.publish.rawValue, direction, packets: run.count, size: run.end &- start)
        return run
    }

    private static func readAnswers(
        _ bytes: Span<UInt8>, at start: Int, _ direction: PacketBatch.Direction, _ firstRow: UInt64, _ time: Int64,
        _ table: inout ExchangeTable, _ context: inout RecordingContext
    ) -> PacketRun {
        let (first, typeBits) = (bytes[start], bytes[start] &>> 4)
        let isLast = typeBits != PacketType.pubRec.rawValue
        var run = PacketRun(end: start)
        // How many exchanges in a row took equally long.
        var (equals, elapsed, qos) = (0, Int64(0), UInt8(0))
        while run.end &+ 4 <= bytes.count, bytes[run.end] == first, bytes[run.end &+ 1] == 2 {
            let id = UInt16(bytes[run.end &+ 2]) &<< 8 | UInt16(bytes[run.end &+ 3])
            if let begun = isLast ? table.close(id) : table.start(id) {
                let time = Nanoseconds.difference(time, begun.time)
                if time != elapsed || begun.qos != qos {
                    count(equals, typeBits, qos, isOwn: direction == .incoming, elapsed, &context.tally)
                    (equals, elapsed, qos) = (0, time, begun.qos)
                }
                if isLast { equals &+= 1 }
                context.links.append(
                    ExchangeLink(
                        row: firstRow &+ UInt64(run.count), start: begun.row, elapsed: time, isLast: isLast))
            }
            run.count &+= 1
            run.end &+= 4
        }
        count(equals, typeBits, qos, isOwn: direction == .incoming, elapsed, &context.tally)
        context.tally.count(typeBits, direction, packets: run.count, size: run.end &- start)
        return run
    }

    private static func count(
        _ exchanges: Int, _ typeBits: UInt8, _ qos: UInt8, isOwn: Bool, _ elapsed: Int64, _ tally: inout Tally
    ) {
        guard exchanges > 0, let kind = kind(typeBits, qos, isOwn: isOwn) else { return }
        tally.latencies.count(kind, elapsed, times: exchanges)
    }
}
