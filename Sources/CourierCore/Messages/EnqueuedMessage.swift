/// A message that a client has accepted for delivery. ``CourierSession/enqueue(_:as:)`` returns it.
///
/// ```swift
/// let message = try await client.enqueue(order, to: "orders/7")
/// …
/// if try await message.withdraw() { print("The order was never sent.") }
/// ```
///
/// The delivery does not depend on this value: an app may ignore it.
public struct EnqueuedMessage: Sendable {
    private let withdrawal: @Sendable () async throws -> Bool

    /// Makes the result of `enqueue` in a session type of your own.
    ///
    /// - Parameter withdraw: What ``withdraw()`` does; by default it returns `false`, because the message was sent.
    public init(withdraw: @escaping @Sendable () async throws -> Bool = { false }) { withdrawal = withdraw }

    /// Takes the message back, unless the client has begun to send it.
    ///
    /// A message that was taken back is never sent. Before the call returns, it is removed from the message store, too. Its end is
    /// an event with ``CourierError/Code-swift.struct/messageWithdrawn``.
    ///
    /// - Returns: `false` if the message was sent before, even if the broker did not acknowledge it, or if its delivery has ended.
    /// - Throws: If the store could not remove the message, so that a later process may send it:
    ///   ``CourierError/Code-swift.struct/clientDestroyed`` when the client ends first, or `CancellationError` when the task is
    ///   cancelled first. The present client does not send the message.
    @discardableResult
    public func withdraw() async throws -> Bool { try await withdrawal() }
}
