/// Links a packet to the exchange that an earlier packet began.
///
/// The packet that begins an exchange has no link.
package struct ExchangeLink: Sendable {
    let row: UInt64
    /// Nanoseconds since the exchange began.
    package let elapsed: Int64
    /// The number of rows from the packet that began the exchange to this row. A `UInt32` is enough, because no logger
    /// holds so many rows.
    private let distance: UInt32
    /// True if the packet ends the exchange. Swift uses unused bits of the `Bool` to represent a missing link. An
    /// optional link thus needs no more memory than a link: 24 bytes.
    package let isLast: Bool

    package init(row: UInt64, start: UInt64, elapsed: Int64, isLast: Bool) {
        self.row = row
        self.elapsed = max(0, elapsed)
        distance = UInt32(truncatingIfNeeded: min(row &- start, UInt64(UInt32.max)))
        self.isLast = isLast
    }

    /// The row of the packet that began the exchange.
    package var start: UInt64 { row &- UInt64(distance) }

    /// True if both links have the same distance, elapsed time and `isLast`. `ExchangeLinks` can then store them
    /// together.
    @inline(__always)
    func isLike(_ other: ExchangeLink) -> Bool {
        distance == other.distance && elapsed == other.elapsed && isLast == other.isLast
    }

    /// Returns a copy in which all row numbers are greater by `shift`.
    func shifted(by shift: UInt64) -> ExchangeLink {
        ExchangeLink(row: row + shift, start: start + shift, elapsed: elapsed, isLast: isLast)
    }
}
