import Synchronization

/// Adds the packets of one recording to a logger: under the numbers that they had, or behind the logger's own.
///
/// Clients may record into the same logger meanwhile. Their rows come between, and the rest of the recording behind them.
package struct PacketRestoring {
    /// Why a packet is not added.
    package enum Refusal: Error {
        case hasNoBytes
        case numberIsTooLarge
        /// The number is not above that of the packet before.
        case numberDoesNotGrow
    }

    /// The largest number that a row of a recording may have, 2^53: every program that reads JSON holds it exactly, and
    /// sums of two of them are far from the end of an integer.
    package static let largestNumber: UInt64 = 1 << 53

    private let logger: MQTTChuckLogger
    /// What is added to the numbers of the recording.
    private var shift: UInt64 = 0
    /// The number of the packet before, in the recording.
    private var previous: UInt64?
    /// The number of the logger's next row, if nobody else has added one.
    private var expected: UInt64 = 1
    /// From here on no rows but those of the recording were added.
    private var firstOwn: UInt64 = 0
    /// How many packets were added.
    package private(set) var count = 0

    package init(_ logger: MQTTChuckLogger) { self.logger = logger }

    /// Adds a packet.
    ///
    /// It loses its exchange where that began before rows of somebody else came: the number of its first packet may be
    /// one of theirs.
    package mutating func restore(_ record: PacketRecord) throws(Refusal) {
        guard !record.bytes.isEmpty else { throw .hasNoBytes }
        guard record.number <= Self.largestNumber else { throw .numberIsTooLarge }
        if let previous, record.number <= previous { throw .numberDoesNotGrow }
        let now = logger.clock()
        // In one hold of the lock, because between two of them a client may take the number.
        let waiters = logger.state.withLock { state -> [@Sendable () -> Void]? in
            guard let placed = placed(record, at: state.recorder.nextRow) else { return nil }
            state.recorder.restore(placed, now: now)
            expected = state.recorder.nextRow
            return state.takeWaiters()
        }
        guard let waiters else { throw .numberIsTooLarge }
        for waiter in waiters { waiter() }
        previous = record.number
        count += 1
    }

    /// The packet under the number that it gets in the logger, whose next row is `next`; `nil` where there is none.
    private mutating func placed(_ record: PacketRecord, at next: UInt64) -> PacketRecord? {
        if next != expected { firstOwn = next }
        if record.number + shift < next { shift = next - record.number }
        guard record.number + shift <= Self.largestNumber else { return nil }
        var record = record
        if let link = record.link, link.start >= record.number || link.start + shift < firstOwn { record.link = nil }
        return record.shifted(by: shift)
    }
}
