/// What a logger keeps at a moment.
public struct MQTTChuckSummary: Hashable, Sendable {
    /// The number of the oldest row, ``nextRow`` when there is none. Numbers grow with time; only an imported recording
    /// has gaps.
    public let firstRow: UInt64

    /// The number that the next row will have.
    public let nextRow: UInt64

    /// How many rows are kept.
    public let rowCount: Int

    /// What they take in memory, in bytes.
    public let byteCount: Int

    /// How many rows the limits have dropped since the logger was made.
    public let droppedCount: UInt64

    /// How many rows there ever were, whether they are kept or not.
    package let recordedCount: UInt64

    /// How often the logger was cleared.
    public let clearCount: UInt64
}
