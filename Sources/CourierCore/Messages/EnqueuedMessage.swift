/// A message that a client has accepted for delivery. ``CourierSession/enqueue(_:as:)`` returns it.
///
/// ```swift
/// let message = try await client.enqueue(order, to: "orders/7")
/// …
/// if try await message.withdraw() { print("The order was never sent.") }
/// ```
///
/// The delivery does not depend on this value, so an app may ignore it.
public struct EnqueuedMessage: Sendable {
    private let withdrawal: @Sendable () async throws -> Bool

    /// Creates the result of `enqueue` for an app's own type that conforms to `CourierSession`.
    ///
    /// - Parameter withdraw: The action of ``withdraw()``. By default, it returns `false`, which means that the message
    ///   was sent.
    public init(withdraw: @escaping @Sendable () async throws -> Bool = { false }) { withdrawal = withdraw }

    /// Takes the message back, unless the client has begun to send it.
    ///
    /// A withdrawn message is never sent. Before the call returns, the message is also removed from the message store.
    /// An event with ``CourierError/Code-swift.struct/messageWithdrawn`` reports the end of the delivery.
    ///
    /// - Returns: `true` if the message was withdrawn. `false` if the message was already sent, even if the broker has
    ///   not acknowledged it, or if its delivery has ended.
    /// - Throws: The store's error if the store could not remove the message. A later process may then send the
    ///   message. ``CourierError/Code-swift.struct/clientDestroyed`` if the client ends first, or `CancellationError`
    ///   if the task is cancelled first. Even after an error, this client does not send the message.
    @discardableResult
    public func withdraw() async throws -> Bool { try await withdrawal() }
}
