/// A client that stays connected until the app disconnects it.
///
/// ```swift
/// let client = CourierClientFactory().makeMQTTClient(config: MQTTClientConfig(authService: authService))
/// client.connect()
/// try await client.connected()
/// try await client.publish(order, to: "orders/7", qos: .one)
/// for try await note in client.messages(Note.self, from: "chat/+/notes") { show(note) }
/// ```
///
/// Every member may be called from any thread. No member blocks the thread.
public protocol CourierClient: CourierSession {
    /// True if a session exists: `connect()` was called, and `destroy()` was not called after it.
    var hasExistingSession: Bool { get }

    /// Ends the connection and stops reconnecting. Messages and subscriptions are kept for the next `connect()`.
    ///
    /// The method returns before the connection has ended; ``CourierSession/disconnectAndWait()`` and
    /// ``CourierSession/disconnect(completion:)`` report the end. Callers that wait for an acknowledgement continue to
    /// wait, and loops over messages continue with the next connection.
    func disconnect()

    /// Ends all loops over messages, ends the connection, and returns when the loops and the connection have ended. The
    /// call takes at most 10 s. Without a connection, the call returns at once.
    ///
    /// ```swift
    /// await client.shutdown()
    /// try await reading.value  // The task that runs the loop.
    /// exit(0)
    /// ```
    ///
    /// Each loop first returns the messages that have already arrived, and then ends without an error. To wait until
    /// the bodies of the loops have handled these messages, await the tasks of the loops. The body of a loop may make
    /// this call. Messages of QoS 1 and 2 that are not acknowledged stay for the next `connect()`, as with
    /// ``disconnect()``. If there is no connection, ``LoopSubscriptions/remove`` sends UNSUBSCRIBE on the next
    /// connection of this client.
    ///
    /// ``disconnect()`` and ``CourierSession/disconnectAndWait()`` neither end loops nor unsubscribe.
    ///
    /// - Parameter subscriptions: Whether the subscriptions of the loops are kept. With `nil`, the subscriptions are
    ///   kept if the broker keeps the session (`isCleanSession` is `false`), and removed otherwise.
    nonisolated(nonsending) func shutdown(subscriptions: LoopSubscriptions?) async

    /// Ends the session: closes the connection, and removes stored messages and subscriptions. `connect()` begins a new
    /// session.
    ///
    /// The method returns before the connection has ended. Waiting publishes, requests and subscriptions fail with
    /// ``CourierError/Code-swift.struct/clientDestroyed``. The next `connect()` subscribes to the topics of running
    /// loops and to all topics of the configuration, even topics that were unsubscribed. If two threads call
    /// `connect()` and `destroy()`, one call takes effect completely before the other. A reader may still acknowledge a
    /// message of the ended session after this call. This acknowledgement does not remove stored messages of the next
    /// session.
    ///
    /// The stored messages of this session are removed even if the connection service provider has not returned connect
    /// options yet. If the store fails, the client tries again every second, as long as the client lives.
    func destroy()
}
