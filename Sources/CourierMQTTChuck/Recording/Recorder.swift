import CourierCore
import MQTTCodec

/// The data of a logger: packets in the arrays in which they arrived, and a small state for each connection.
///
/// It formats no packets. The caller must hold the logger's lock.
struct Recorder {
    /// The maximum number of connections without rows, and of clients, that are remembered: 16,384 of each.
    static let rememberedLimit = 16_384

    private let maximumRows: Int
    private let maximumBytes: Int
    private let maximumAge: Int64?
    private let slabLimits: SlabLimits

    private var slabs = FlatRing<Slab>()
    private var context: RecordingContext
    private var connections = ConnectionBook()

    /// The number of the next row. The first row has number 1.
    private(set) var nextRow: UInt64 = 1
    /// The number of the oldest row, or ``nextRow`` if there are no rows.
    private(set) var firstRow: UInt64 = 1
    private(set) var heldRows = 0
    /// The number of rows that were ever recorded. The row numbers are not enough to compute this count, because an
    /// imported recording leaves gaps.
    private(set) var recordedRows: UInt64 = 0
    private var heldSlabBytes = 0
    /// The number of rows that were dropped because of a limit.
    private(set) var droppedRows: UInt64 = 0
    /// The number of calls of ``clear()``.
    private(set) var clearCount: UInt64 = 0

    init(_ options: MQTTChuckOptions) {
        maximumRows = max(1, options.logsMaxSize)
        maximumBytes = max(1, options.logsMaxBytes)
        maximumAge = options.logsMaxAge.map { Nanoseconds.of($0) }
        let slabSize = max(1, maximumBytes / 8)
        slabLimits = SlabLimits(packetSize: max(16, min(options.packetMaxSize, slabSize)), slabSize: slabSize)
        context = RecordingContext(redactor: Redactor(options.redaction))
    }

    /// The memory that the rows use, in bytes.
    var heldBytes: Int { heldSlabBytes + context.links.byteCount }

    var tally: Tally { context.tally }

    // MARK: Recording

    /// Records the packets of a batch.
    mutating func record(_ batch: PacketBatch) {
        guard !batch.bytes.isEmpty else { return }
        let slot = connections.slot(for: batch.connection)
        let time = connections.tracks[slot].time(batch.time)
        add(batch.bytes, batch.direction, slot, time, keptSince: time)
        trim(now: time)
    }

    /// Adds one packet of a recording, with the row number and the exchange link from the recording.
    mutating func restore(_ packet: PacketRecord, now: Int64) {
        let slot = connections.slot(restoring: packet.connection)
        if heldRows == 0 { firstRow = max(nextRow, packet.number) }
        nextRow = max(nextRow, packet.number)
        if let alias = packet.alias {
            context.oldestRow = firstRow
            alias.topic.withUTF8Span { topic in
                connections.tracks[slot].define(alias.number, topic, packet.direction, nextRow, context)
            }
        }
        // The link stored in the file replaces the link computed from the packets, because the file may lack the first
        // packet of an exchange.
        let number = nextRow
        if packet.bytes.count < packet.wholeSize {
            restoreCut(packet, slot, now: now)
        } else {
            add(packet.bytes, packet.direction, slot, packet.time, keptSince: now)
        }
        context.links.removeLast(from: number)
        if let link = packet.link { context.links.append(link) }
        trim(now: now)
    }

    /// Adds a packet whose recording has only the first bytes. A PUBLISH is decoded like a whole packet, so that
    /// redaction rules apply, and then gets its original header again. The body of any other packet is masked.
    private mutating func restoreCut(_ packet: PacketRecord, _ slot: Int, now: Int64) {
        var piece = KeptBatch.Piece()
        piece.rowCount = 1
        piece.wholeSize = packet.wholeSize
        if packet.bytes[0] >> 4 == PacketType.publish.rawValue, let shortened = ShortenedPacket(packet.bytes[...]) {
            let kept = read(shortened.bytes, packet.direction, slot, packet.time)
            piece.bytes =
                Array(packet.bytes.prefix(shortened.originalHeaderSize))
                + kept.pieces(of: shortened.bytes).first.bytes.dropFirst(shortened.headerSize)
        } else {
            let headerSize = ShortenedPacket(packet.bytes[...])?.originalHeaderSize ?? 2
            piece.bytes = KeptBatch.masked(packet.bytes, behind: headerSize)
            context.tally.count(packet.bytes[0] >> 4, packet.direction, size: packet.wholeSize)
        }
        append(piece, packet.direction, slot, packet.time, keptSince: now)
    }

    private mutating func add(
        _ bytes: [UInt8], _ direction: PacketBatch.Direction, _ slot: Int, _ time: Int64, keptSince: Int64
    ) {
        let kept = read(bytes, direction, slot, time)
        let (first, others) = kept.pieces(of: bytes)
        append(first, direction, slot, time, keptSince: keptSince)
        for piece in others { append(piece, direction, slot, time, keptSince: keptSince) }
    }

    private mutating func read(
        _ bytes: [UInt8], _ direction: PacketBatch.Direction, _ slot: Int, _ time: Int64
    ) -> KeptBatch {
        context.oldestRow = firstRow
        let load = connections.tracks[slot].load
        let kept = connections.tracks[slot].read(
            bytes, direction, time: time, firstRow: nextRow, slabLimits, &context)
        connections.loadChanged(of: slot, from: load)
        if connections.tracks[slot].wasAccepted { connections.accepted(slot) }
        return kept
    }

    private mutating func append(
        _ piece: KeptBatch.Piece, _ direction: PacketBatch.Direction, _ slot: Int, _ time: Int64, keptSince: Int64
    ) {
        guard piece.rowCount > 0 else { return }
        let slab = Slab(
            bytes: piece.bytes, firstRow: nextRow, rowCount: piece.rowCount, time: time, keptSince: keptSince,
            connection: connections.tracks[slot].connection, slot: slot, direction: direction,
            wholeSize: piece.wholeSize)
        connections.tracks[slot].slabCount &+= 1
        heldSlabBytes &+= slab.cost
        heldRows &+= piece.rowCount
        nextRow &+= UInt64(piece.rowCount)
        recordedRows &+= UInt64(piece.rowCount)
        slabs.append(slab)
    }

    // MARK: Dropping rows

    /// Drops the oldest rows until the limits for number, memory and age are no longer exceeded.
    mutating func trim(now: Int64) {
        let oldest = maximumAge.map { Nanoseconds.difference(now, $0) } ?? .min
        while let head = slabs.first {
            let left = Int(head.endRow &- max(firstRow, head.firstRow))
            let excess = heldRows - maximumRows
            if heldBytes <= maximumBytes, head.keptSince >= oldest {
                if excess <= 0 { return }
                if excess < left {
                    firstRow = max(firstRow, head.firstRow) + UInt64(excess)
                    heldRows -= excess
                    droppedRows += UInt64(excess)
                    dropLinks()
                    return
                }
            }
            removeHead(head, rowCount: left)
            droppedRows += UInt64(left)
        }
    }

    /// Drops all rows. The counts and the states of connections do not change.
    mutating func clear() {
        while let head = slabs.first {
            removeHead(head, rowCount: Int(head.endRow &- max(firstRow, head.firstRow)))
        }
        slabs.removeAll()
        context.links.removeAll()
        clearCount += 1
    }

    private mutating func removeHead(_ head: Slab, rowCount: Int) {
        slabs.removeFirst()
        heldSlabBytes -= head.cost
        heldRows -= rowCount
        firstRow = slabs.first?.firstRow ?? nextRow
        connections.tracks[head.slot].slabCount &-= 1
        dropLinks()
    }

    private mutating func dropLinks() { context.links.removeFirst(before: firstRow) }

    // MARK: Reading rows

    /// Returns the packets of up to `limit` rows from `first` on. The bytes of the packets are not copied.
    func rows(from first: UInt64, limit: Int) -> [RawRow] {
        var result: [RawRow] = []
        guard limit > 0 else { return result }
        let start = max(first, firstRow)
        var index = slabs.firstIndex { $0.endRow > start }
        while index < slabs.count, result.count < limit {
            let slab = slabs[index]
            slab.bytes.withSpan { appendRows(of: slab, $0, from: start, limit: limit, to: &result) }
            index += 1
        }
        return result
    }

    private func appendRows(
        of slab: Slab, _ bytes: Span<UInt8>, from start: UInt64, limit: Int, to result: inout [RawRow]
    ) {
        var row = slab.firstRow
        var offset = 0
        while row < slab.endRow, result.count < limit {
            let header = PacketHeader(bytes, at: offset)
            let end = header?.end ?? bytes.count
            if row >= start {
                result.append(
                    RawRow(
                        number: row, slab: slab, range: offset..<end, isWhole: header != nil,
                        aliasTopic: header.flatMap { aliasTopic($0, bytes, slab, row) },
                        link: context.links.link(of: row)))
            }
            offset = end
            row += 1
        }
    }

    /// Returns the number of the row that is `count` rows before `row`. If there are fewer rows, returns the number of
    /// the oldest row.
    func row(_ count: Int, before row: UInt64) -> UInt64 {
        var left = count
        var index = slabs.firstIndex { $0.endRow >= row }  // The last slab that has rows before `row`.
        if index == slabs.count { index -= 1 }
        while index >= 0 {
            let slab = slabs[index]
            let from = max(firstRow, slab.firstRow)
            let inSlab = Int(min(row, slab.endRow)) - Int(min(row, from))
            if inSlab >= left { return min(row, slab.endRow) - UInt64(left) }
            left -= inSlab
            index -= 1
        }
        return firstRow
    }

    /// Returns up to `limit` exchange links of rows from `first` on.
    func links(from first: UInt64, limit: Int) -> [ExchangeLink] {
        context.links.links(from: max(first, firstRow), limit: limit)
    }

    private func aliasTopic(_ header: PacketHeader, _ bytes: Span<UInt8>, _ slab: Slab, _ row: UInt64) -> String? {
        guard header.typeBits == PacketType.publish.rawValue, slab.connection.protocolVersion == .v5,
            header.bodySize > 1, header.number(bytes, at: header.bodyStart) == 0
        else { return nil }
        let track = connections.tracks[slab.slot]
        let decoder = track.decoder(slab.direction)
        guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes.bytes, at: header.start),
            let alias = try? decoder.publish(frame, in: bytes.bytes).topicAlias
        else { return nil }
        return track.aliasMeaning(alias, slab.direction, at: row)
    }

    /// The number of slots, which hold the states of the connections. It never decreases, because the slots of
    /// forgotten connections are kept for other connections.
    var connectionSlotCount: Int { connections.tracks.count }

    /// Returns the states of the connections in these slots. Slots of forgotten connections are skipped.
    func connectionStatuses(in slots: Range<Int>) -> [MQTTChuckConnectionStatus] { connections.statuses(in: slots) }

    /// The number of open connections, and the number of their open exchanges.
    var connectionLoad: ConnectionLoad { connections.load }
}
