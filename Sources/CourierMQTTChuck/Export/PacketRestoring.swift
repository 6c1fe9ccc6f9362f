import Synchronization

/// Adds the packets of one recording to a logger: under the numbers that they had, or behind the logger's own.
package struct PacketRestoring {
    private let logger: MQTTChuckLogger
    private var shift: UInt64?
    /// How many packets were added.
    package private(set) var count = 0

    package init(_ logger: MQTTChuckLogger) { self.logger = logger }

    /// Adds a packet.
    ///
    /// - Returns: `false` when it can not be added: it has no bytes, or its number is not behind those before it.
    package mutating func restore(_ record: PacketRecord) -> Bool {
        guard !record.bytes.isEmpty, record.number < UInt64(Int64.max) else { return false }
        let next = logger.state.withLock { $0.recorder.nextRow }
        let shift = shift ?? (record.number >= next ? 0 : next - record.number)
        self.shift = shift
        guard record.number + shift >= next else { return false }
        var record = record
        // An exchange that does not begin before its packet is none.
        if let link = record.link, link.start >= record.number { record.link = nil }
        record = record.shifted(by: shift)
        let now = logger.clock()
        let waiters = logger.state.withLock { state in
            state.recorder.restore(record, now: now)
            return state.takeWaiters()
        }
        for waiter in waiters { waiter() }
        count += 1
        return true
    }
}
