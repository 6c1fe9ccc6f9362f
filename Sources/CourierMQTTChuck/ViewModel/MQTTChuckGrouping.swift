/// How a view puts rows together.
public enum MQTTChuckGrouping: String, CaseIterable, Sendable {
    /// One list in the order of time.
    case none
    /// A section for each connection.
    case connection
    /// A section for each exchange, such as the four packets of a QoS 2 message; packets of none stand alone.
    case exchange
}

/// Rows that a view shows together.
public struct MQTTChuckSection: Identifiable, Hashable, Sendable {
    /// The number of its first row.
    public let id: UInt64

    /// What stands above the rows; empty where nothing does.
    public let title: String

    /// The rows, in the order of time.
    public let rows: [MQTTChuckRow]
}
