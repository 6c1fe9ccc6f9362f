/// Some rows of a logger.
public struct MQTTChuckPage: Sendable {
    /// The rows, in the order of time.
    public let rows: [MQTTChuckRow]

    /// The number to ask for next: behind the last row that was looked at, or, of a page of older rows, the first.
    public let next: UInt64

    /// What the logger kept when the page was made.
    public let summary: MQTTChuckSummary
}
