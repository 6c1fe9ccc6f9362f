/// How many values may wait for a slow receiver, and what happens to the next one.
public struct BufferPolicy: Sendable {
    /// Which value is given up when there is no room.
    public enum Overflow: Hashable, Sendable {
        /// The value that has waited longest, so that the newest always arrives.
        case dropOldest

        /// The new value.
        case dropNewest
    }

    /// The number of values that may wait, at least 1. A completion always finds room.
    public let limit: Int

    /// The largest total size of the waiting values in bytes, at least 1. An empty buffer accepts a value of any size.
    ///
    /// Sizes are estimates of the memory of messages, dead letters, events, `Data`, byte arrays and strings. Values of other
    /// types count by number only. A message counts its own part of the memory that it shares with others that came with it.
    public let byteLimit: Int

    /// Which value is given up; ``Overflow/dropOldest`` by default.
    public let overflow: Overflow

    /// Called after each dropped value, on the sender's thread. It must not block.
    public let onDrop: (@Sendable () -> Void)?

    /// Names a limit and what happens at it.
    ///
    /// - Parameters:
    ///   - limit: The number of values that may wait; less than 1 counts as 1.
    ///   - byteLimit: How many bytes the values may take; 8 MiB by default, and less than 1 counts as 1.
    ///   - overflow: Which value is given up; the oldest by default.
    ///   - onDrop: Called after each dropped value; `nil` by default.
    public init(
        limit: Int, byteLimit: Int = 8 << 20, overflow: Overflow = .dropOldest, onDrop: (@Sendable () -> Void)? = nil
    ) {
        self.limit = max(1, limit)
        self.byteLimit = max(1, byteLimit)
        self.overflow = overflow
        self.onDrop = onDrop
    }

    /// 1,024 values or 8 MiB; the oldest is dropped. For values that are sent to a subject while its sink is busy.
    public static let mailbox = BufferPolicy(limit: 1_024)

    /// 16,384 values or 8 MiB; the oldest is dropped. For values that wait for the queue of a `receive(on:)`.
    public static let queue = BufferPolicy(limit: 16_384)

    /// 256 values or 8 MiB; the oldest is dropped. For values that wait for the next turn of a `for await` loop.
    public static let values = BufferPolicy(limit: 256)
}
