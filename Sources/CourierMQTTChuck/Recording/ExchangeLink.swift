/// Says that a packet belongs to the exchange that an earlier one began.
///
/// The rows of packets that begin an exchange have none.
struct ExchangeLink {
    let row: UInt64
    /// The row of the packet that began the exchange.
    let start: UInt64
    /// The time since then in nanoseconds, with the bits inverted where the exchange goes on.
    private let mark: Int64

    init(row: UInt64, start: UInt64, elapsed: Int64, isLast: Bool) {
        self.row = row
        self.start = start
        mark = isLast ? max(0, elapsed) : ~max(0, elapsed)
    }

    /// Nanoseconds since the exchange began.
    var elapsed: Int64 { mark < 0 ? ~mark : mark }

    /// Whether the packet ends the exchange.
    var isLast: Bool { mark >= 0 }
}
