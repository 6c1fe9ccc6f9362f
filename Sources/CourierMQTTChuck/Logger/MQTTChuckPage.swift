/// A part of a logger's rows, and the row number at which to continue.
public struct MQTTChuckPage: Sendable {
    /// The rows of the page, in the order of time.
    public let rows: [MQTTChuckRow]

    /// The row number at which the next request continues. If the rows were read from older to newer, it is the number
    /// after the last checked row. Otherwise it is the number of the oldest checked row.
    public let next: UInt64

    /// The summary of the logger when the page was created.
    public let summary: MQTTChuckSummary
}
