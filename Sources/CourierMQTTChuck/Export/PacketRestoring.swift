import Synchronization

/// Adds the packets of one recording to a logger. Packets keep their numbers. If the logger has already used a number,
/// the packet and the following packets get later numbers.
///
/// Clients may record into the same logger at the same time. Their rows then come between the rows of the recording.
package struct PacketRestoring {
    /// The reason why a packet is not added.
    package enum Refusal: Error {
        case hasNoBytes
        case numberIsTooLarge
        /// The number is not greater than the number of the previous packet.
        case numberDoesNotGrow
    }

    /// The largest row number of a recording: 2^53, because every JSON parser represents it exactly, and the sum of two
    /// such numbers does not overflow.
    package static let largestNumber: UInt64 = 1 << 53

    private let logger: MQTTChuckLogger
    /// The number that is added to a row number of the recording. The sum is the row number in the logger.
    private var shift: UInt64 = 0
    /// The number of the previous packet in the recording.
    private var previous: UInt64?
    /// The logger's next row number after the last restored packet. If the logger then reports another next row number,
    /// clients have recorded rows in the meantime.
    private var expected: UInt64 = 1
    /// This recording has added all rows with this number or a higher number; no client has recorded rows between them.
    private var firstOwn: UInt64 = 0
    /// The number of added packets.
    package private(set) var count = 0

    package init(_ logger: MQTTChuckLogger) { self.logger = logger }

    /// Adds a packet to the logger.
    ///
    /// If clients recorded rows after the packet's exchange began, the packet loses its exchange link. Otherwise the
    /// link could point to a row of a client.
    package mutating func restore(_ record: PacketRecord) throws(Refusal) {
        guard !record.bytes.isEmpty else { throw .hasNoBytes }
        guard record.number <= Self.largestNumber else { throw .numberIsTooLarge }
        if let previous, record.number <= previous { throw .numberDoesNotGrow }
        let now = logger.clock()
        // The packet gets its number and is added under one lock. Otherwise a client could record a row with the same
        // number before the packet is added.
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

    /// Returns the packet with its number in the logger, or `nil` if that number is above `largestNumber`. `next` is
    /// the logger's next row number.
    private mutating func placed(_ record: PacketRecord, at next: UInt64) -> PacketRecord? {
        if next != expected { firstOwn = next }
        if record.number + shift < next { shift = next - record.number }
        guard record.number + shift <= Self.largestNumber else { return nil }
        var record = record
        if let link = record.link, link.start >= record.number || link.start + shift < firstOwn { record.link = nil }
        return record.shifted(by: shift)
    }
}
