/// The limits of a buffer for a slow receiver, and the rule that selects the dropped value when the buffer is full.
public struct BufferPolicy: Sendable {
    /// The value that is dropped when the buffer is full.
    public enum Overflow: Hashable, Sendable {
        /// The value that has waited longest is dropped, so that the newest value always arrives.
        case dropOldest

        /// The new value is dropped.
        case dropNewest
    }

    /// The largest number of values that may wait, at least 1. The completion of the publisher is always accepted in
    /// addition.
    public let limit: Int

    /// The largest total size of the waiting values in bytes, at least 1. An empty buffer accepts a value of any size.
    ///
    /// Sizes are estimates of the memory of messages, dead letters, events, `Data`, byte arrays and strings. For values
    /// of other types, only `limit` applies. Messages that were received together share memory. Each message counts
    /// only its own part.
    public let byteLimit: Int

    /// The value that is dropped when the buffer is full; ``Overflow/dropOldest`` by default.
    public let overflow: Overflow

    /// A closure that is called after each dropped value, on the sender's thread; `nil` for none. The closure must not
    /// block.
    public let onDrop: (@Sendable () -> Void)?

    /// Makes a policy from the limits and the value to drop.
    ///
    /// - Parameters:
    ///   - limit: The largest number of values that may wait; less than 1 counts as 1.
    ///   - byteLimit: The largest total size of the waiting values in bytes; 8 MiB by default, and less than 1 counts
    ///     as 1.
    ///   - overflow: The rule for dropping a value when the buffer is full; drops the oldest value by default.
    ///   - onDrop: A closure that is called after each dropped value; `nil` by default.
    public init(
        limit: Int, byteLimit: Int = 8 << 20, overflow: Overflow = .dropOldest, onDrop: (@Sendable () -> Void)? = nil
    ) {
        self.limit = max(1, limit)
        self.byteLimit = max(1, byteLimit)
        self.overflow = overflow
        self.onDrop = onDrop
    }

    /// A limit of 1,024 values and 8 MiB; the oldest value is dropped. Used for values that are sent to a subject while
    /// its sink is busy.
    public static let mailbox = BufferPolicy(limit: 1_024)

    /// A limit of 16,384 values and 8 MiB; the oldest value is dropped. Used for values that wait for the queue of a
    /// `receive(on:)`.
    public static let queue = BufferPolicy(limit: 16_384)

    /// A limit of 256 values and 8 MiB; the oldest value is dropped. Used for values that wait until a `for await` loop
    /// reads them.
    public static let values = BufferPolicy(limit: 256)
}
