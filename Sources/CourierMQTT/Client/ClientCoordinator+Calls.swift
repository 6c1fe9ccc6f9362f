import CourierCore
import CourierTransport
import Synchronization

/// The calls of the app. Any thread may call these functions, unless a comment says that the function runs on the event
/// loop.
extension ClientCoordinator {
    var hasSession: Bool { session.withLock { $0 } }

    /// True if the last connection that the broker accepted used MQTT 5; `false` before the first connection.
    var speaksVersion5: Bool { version5.load(ordering: .acquiring) }

    func connect(source: String) {
        let number = sessionCalls.withLock { calls in
            session.withLock { $0 = true }
            publishing.queue.beginSession()
            return calls.note(.connect(source: source))
        }
        loop.execute { [self] in performSessionCalls(upTo: number) }
    }

    /// Ends the connection. Calls `told` with the result when the connection has closed, or with an error if there is
    /// no connection.
    func disconnect(
        _ options: DisconnectOptions = DisconnectOptions(),
        told: (@Sendable (Result<Void, CourierError>) -> Void)? = nil
    ) {
        let number = sessionCalls.withLock { $0.note(.disconnect(options, told: told)) }
        loop.execute { [self] in performSessionCalls(upTo: number) }
    }

    /// Checks that DISCONNECT on the current connection can carry these options.
    ///
    /// - Throws: ``CourierError/Code/invalidMessage``. Its message names the field and the remedy.
    func check(_ options: DisconnectOptions) throws(CourierError) {
        try options.check(for: agreement.withLock { $0 }, settings.texts)
    }

    func destroy() {
        let (number, remains) = sessionCalls.withLock { calls in
            session.withLock { $0 = false }
            return (calls.note(.destroy), publishing.queue.destroy())
        }
        // `report` resumes callers of earlier publishes. No lock is held here, because a resumed caller may run on this
        // thread and call `destroy()` or `connect()`.
        publishing.report(remains, Self.destroyed)
        loop.execute { [self] in performSessionCalls(upTo: number) }
    }

    /// Performs the pending `connect`, `disconnect` and `destroy` calls whose numbers are at most `number`, in the
    /// order in which the app made them. Called on the event loop.
    private func performSessionCalls(upTo number: Int) {
        while let call = sessionCalls.withLock({ $0.next(upTo: number) }) {
            switch call {
            case .connect(let source):
                startOnce()
                durable?.openIfKnown()
                // Forget the last failure if the client has stopped connecting. In a pause between two attempts, keep
                // the failure, because the client still tries to connect.
                if case .failed = supervisor.waiterAnswer, !supervisor.isInPause { connectionFailure = nil }
                tell(.connectRequested(source: source))
            case .disconnect(let options, let told):
                disconnectOptions = options
                tell(.disconnectRequested)
                disconnectOptions = DisconnectOptions()
                connectionFailure = nil
                reportStatus()
                guard let told else { continue }
                closeWaiters.add(told)
                if connectionName == nil { answerCloseWaiters() }
            case .destroy:
                tell(.destroyRequested)
                connectionFailure = nil
                reportStatus()
            }
        }
    }

    /// Calls `callback` with success when the client is connected, or with the error that explains why the client does
    /// not connect. The wait begins after the loop has performed all earlier calls, such as a `disconnect()`. Returns a
    /// key that can remove the callback.
    @discardableResult
    func whenConnected(
        _ callback: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) -> CallbackList<Result<Void, CourierError>>.Key {
        let key = lastWaiterKey.add(1, ordering: .relaxed).newValue
        loop.execute { [self] in
            connectionWaiters.add(callback, under: key)
            answerConnectionWaiters()
        }
        return key
    }

    /// Returns the error for a caller whose wait for a connection timed out. Called on the event loop.
    func noConnection(within timeout: Duration) -> CourierError {
        let reason = connectionFailure?.message.asSentence ?? "No attempt has failed so far."
        return CourierError(
            .timedOut, "There was no connection within \(timeout). \(reason) The client keeps trying.",
            cause: connectionFailure)
    }

    /// Removes the callback that ``whenConnected(_:)`` added, if it was not called yet.
    func forgetConnectionWaiter(_ key: CallbackList<Result<Void, CourierError>>.Key) {
        loop.execute { [self] in connectionWaiters.remove(key) }
    }

    /// Subscribes to a filter, and calls `told` with the granted QoS or an error. ``forgetSubscriptionWaiter(_:)`` with
    /// the returned key removes `told`.
    @discardableResult
    func subscribe(
        _ filter: String, _ qos: QoS, properties: SubscriptionProperties? = nil,
        told: (@Sendable (Result<QoS, CourierError>) -> Void)?
    ) -> SubscriptionKeeper.WaiterKey {
        let key = lastWaiterKey.add(1, ordering: .relaxed).newValue
        loop.execute { [self] in
            subscriptions.subscribe(filter, qos, properties: properties, key: key, told: told)
            subscriptionsChanged()
        }
        return key
    }

    /// Unsubscribes from a filter, and calls `told` with the result. ``forgetSubscriptionWaiter(_:)`` with the returned
    /// key removes `told`.
    @discardableResult
    func unsubscribe(
        _ filter: String, userProperties: [UserProperty] = [],
        told: (@Sendable (Result<Void, CourierError>) -> Void)?
    ) -> SubscriptionKeeper.WaiterKey {
        let key = lastWaiterKey.add(1, ordering: .relaxed).newValue
        loop.execute { [self] in
            subscriptions.unsubscribe(filter, userProperties: userProperties, key: key, told: told)
            subscriptionsChanged()
        }
        return key
    }

    /// Removes the callback of a subscribe or unsubscribe call, so that it is not called any more. The SUBSCRIBE or
    /// UNSUBSCRIBE packet is not cancelled.
    func forgetSubscriptionWaiter(_ key: SubscriptionKeeper.WaiterKey) {
        loop.execute { [self] in subscriptions.forget(key) }
    }

    /// Ends the connection and the client, because the app released its last reference to the client.
    func release() {
        loop.execute { [self] in
            isReleased = true
            switch supervisor.phase {
            case .resting, .closing: break
            case .paused, .waiting, .authenticating, .locating, .opening, .connected:
                settings.log.log(
                    .info, source: "connection", clientID: info?.clientId,
                    "the client was released without disconnect(); its connection or connection attempt ends")
            }
            tell(.disconnectRequested)
            finishIfReleased()
        }
    }
}
