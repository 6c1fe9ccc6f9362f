/// The way in which a view groups rows into sections.
public enum MQTTChuckGrouping: String, CaseIterable, Sendable {
    /// One list in the order of time.
    case none
    /// One section per connection.
    case connection
    /// One section per exchange, such as the four packets of a QoS 2 message. A packet outside of exchanges has its own
    /// section.
    case exchange
}

/// A group of rows that a view shows together.
public struct MQTTChuckSection: Identifiable, Hashable, Sendable {
    /// The number of the section's first row.
    public let id: UInt64

    /// The heading above the rows; empty if there is no heading.
    public let title: String

    /// The rows, in the order of time.
    public let rows: [MQTTChuckRow]
}
