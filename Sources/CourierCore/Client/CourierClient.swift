/// A client that stays connected until it is told otherwise.
///
/// ```swift
/// let client = CourierClientFactory().makeMQTTClient(config: MQTTClientConfig(authService: authService))
/// client.connect()
/// try await client.connected()
/// try await client.publish(order, to: "orders/7", qos: .one)
/// for try await note in client.messages(Note.self, from: "chat/+/notes") { show(note) }
/// ```
///
/// Every member may be called from any thread; none blocks.
public protocol CourierClient: CourierSession {
    /// Whether a session exists: `connect()` was called, and `destroy()` was not called since.
    var hasExistingSession: Bool { get }

    /// Ends the connection and stops reconnecting; messages and subscriptions are kept for the next `connect()`.
    ///
    /// It returns before the connection has ended; ``CourierSession/disconnectAndWait()`` and
    /// ``CourierSession/disconnect(completion:)`` tell when it has. Who waits for an acknowledgement waits on, and
    /// loops over messages go on with the next connection.
    func disconnect()

    /// Ends all loops over messages, then the connection, and returns when both have ended, within 10 s.
    ///
    /// ```swift
    /// await client.shutdown()
    /// exit(0)
    /// ```
    ///
    /// Each loop ends behind the messages that have come for it, without an error. Messages of QoS 1 and 2 that are not
    /// acknowledged stay for the next `connect()`, as with ``disconnect()``. Without a connection it returns at once, and an
    /// UNSUBSCRIBE is sent with the next connection. It does not wait for the body of a loop, so a body may call it.
    ///
    /// ``disconnect()`` and ``CourierSession/disconnectAndWait()`` neither end loops nor unsubscribe.
    ///
    /// - Parameter subscriptions: What becomes of the subscriptions of loops; `nil` keeps them if the broker keeps the session.
    nonisolated(nonsending) func shutdown(subscriptions: LoopSubscriptions?) async

    /// Ends the connection and removes stored messages and subscriptions. The client can be connected afresh
    /// afterwards.
    ///
    /// It returns before that is done. Publishes, questions and subscriptions that wait fail with
    /// ``CourierError/Code-swift.struct/clientDestroyed``. The topics of the configuration, with those of them
    /// that were unsubscribed, and those of running loops are wanted for the next `connect()`.
    func destroy()
}
