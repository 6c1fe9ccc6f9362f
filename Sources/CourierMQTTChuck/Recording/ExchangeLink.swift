/// Says that a packet belongs to the exchange that an earlier one began.
///
/// The rows of packets that begin an exchange have none.
package struct ExchangeLink: Sendable {
    let row: UInt64
    /// Nanoseconds since the exchange began.
    package let elapsed: Int64
    /// How many rows ago the packet was that began the exchange; no logger keeps as many as would not fit.
    private let distance: UInt32
    /// Whether the packet ends the exchange. (As a `Bool` it lets an optional link be no larger than a link: 24 bytes.)
    package let isLast: Bool

    package init(row: UInt64, start: UInt64, elapsed: Int64, isLast: Bool) {
        self.row = row
        self.elapsed = max(0, elapsed)
        distance = UInt32(truncatingIfNeeded: min(row &- start, UInt64(UInt32.max)))
        self.isLast = isLast
    }

    /// The row of the packet that began the exchange.
    package var start: UInt64 { row &- UInt64(distance) }

    /// Whether the packet of `other` ended or went on with its exchange in the same way.
    @inline(__always)
    func isLike(_ other: ExchangeLink) -> Bool {
        distance == other.distance && elapsed == other.elapsed && isLast == other.isLast
    }

    /// The same where all rows have later numbers.
    func shifted(by shift: UInt64) -> ExchangeLink {
        ExchangeLink(row: row + shift, start: start + shift, elapsed: elapsed, isLast: isLast)
    }
}
