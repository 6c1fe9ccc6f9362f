import MQTTCodec

/// Decides what happens to a new message if it does not fit into the queue.
extension OutgoingQueue.State {
    /// Makes room for a new message, or refuses the message. To make room, ends the older message that the new message
    /// replaces. If that is not enough, drops the oldest messages until the new message fits.
    @inline(never)
    mutating func makeRoom(
        for byteCount: Int, replacing older: EntryTable.Slot?
    ) -> OutgoingQueue.Consequences {
        if byteCount > PacketEncoder.largestPacketSize {
            let violation = Violation.packetTooLarge(size: byteCount, limit: PacketEncoder.largestPacketSize)
            return OutgoingQueue.Consequences(.notEncodable(EncodeError(violation, in: .publish, .remainingLength)))
        }
        switch rules.verdict(for: byteCount, replacing: older.flatMap { replacedSize($0) }) {
        case .accept, .acceptAfterDropping: break
        case .refuse: return OutgoingQueue.Consequences(.full(byteCount: byteCount, epoch: epoch))
        case .dropNewest: return OutgoingQueue.Consequences(.dropped)
        case .tooLarge: return OutgoingQueue.Consequences(.tooLarge(byteCount: byteCount))
        }
        var ended: [EndedPublish] = []
        if let older { ended.append(end(older, .replaced)) }
        while !rules.hasRoom(for: byteCount), let oldest = table.firstDroppable() {
            ended.append(end(oldest, .dropped))
        }
        return OutgoingQueue.Consequences(nil, ended, rules.takeReadyWaiters())
    }

    private func replacedSize(_ slot: EntryTable.Slot) -> Int? {
        table[slot].flags.contains(.isCounted) ? table[slot].byteCount : nil
    }
}
