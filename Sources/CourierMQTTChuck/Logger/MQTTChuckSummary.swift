/// The row numbers and counts of a logger at one moment.
public struct MQTTChuckSummary: Hashable, Sendable {
    /// The number of the oldest row, or ``nextRow`` if there are no rows. Row numbers increase with time. They are
    /// consecutive, except for gaps from an imported recording.
    public let firstRow: UInt64

    /// The number that the next row will have.
    public let nextRow: UInt64

    /// The number of rows that the logger holds.
    public let rowCount: Int

    /// The memory that the rows use, in bytes.
    public let byteCount: Int

    /// The number of rows that were dropped because of a limit, since the logger was created.
    public let droppedCount: UInt64

    /// The number of rows that were ever recorded, including dropped ones.
    package let recordedCount: UInt64

    /// The number of times that the logger was cleared.
    public let clearCount: UInt64
}
