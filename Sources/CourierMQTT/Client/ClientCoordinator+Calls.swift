import CourierCore
import CourierTransport
import Synchronization

/// What is called from any thread.
extension ClientCoordinator {
    var hasSession: Bool { session.withLock { $0 } }

    /// Whether the last connection that was accepted speaks MQTT 5.
    var speaksVersion5: Bool { version5.load(ordering: .acquiring) }

    func connect(source: String) {
        sessionCalls.withLock { calls in
            session.withLock { $0 = true }
            publishing.setHasSession(true)
            calls.append(.connect(source: source))
        }
        loop.execute { [self] in performSessionCalls() }
    }

    func disconnect() {
        loop.execute { [self] in tell(.disconnectRequested) }
    }

    /// The same, and tells how the connection ended when there is none any more.
    func disconnect(told: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        loop.execute { [self] in
            tell(.disconnectRequested)
            closeWaiters.add(told)
            if connectionName == nil { answerCloseWaiters() }
        }
    }

    func destroy() {
        let remains = sessionCalls.withLock { calls in
            session.withLock { $0 = false }
            calls.append(.destroy)
            return publishing.giveUpSession()
        }
        // Who is told may run here, and call this or connect().
        publishing.end(remains, Self.destroyed)
        loop.execute { [self] in performSessionCalls() }
    }

    /// Does what was called, in the order of the calls, whichever of their threads has come here first. On the loop.
    private func performSessionCalls() {
        while let call = nextSessionCall() {
            switch call {
            case .connect(let source):
                startOnce()
                durable?.openIfKnown()
                tell(.connectRequested(source: source))
            case .destroy: tell(.destroyRequested)
            }
        }
    }

    private func nextSessionCall() -> SessionCall? {
        sessionCalls.withLock { calls in
            guard !calls.isEmpty else { return nil }
            let call = calls.removeFirst()
            if calls.isEmpty { calls = [] }  // Clients that idle keep no memory for it.
            return call
        }
    }

    /// Tells when there is a connection, or why there will be none; at once if it is known. The wait begins behind what
    /// was asked for before: a `disconnect()` that is still to be heard is none of its business.
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

    /// Takes back what ``whenConnected(_:)`` was given, unless it is told before the loop comes to this.
    func forgetConnectionWaiter(_ key: CallbackList<Result<Void, CourierError>>.Key) {
        loop.execute { [self] in connectionWaiters.remove(key) }
    }

    /// Wants messages of a filter; ``forgetSubscriptionWaiter(_:)`` takes back who is told.
    @discardableResult
    func subscribe(
        _ filter: String, _ qos: QoS, told: (@Sendable (Result<QoS, CourierError>) -> Void)?
    ) -> SubscriptionKeeper.WaiterKey {
        let key = lastWaiterKey.add(1, ordering: .relaxed).newValue
        loop.execute { [self] in
            subscriptions.subscribe(filter, qos, key: key, told: told)
            subscriptionsChanged()
        }
        return key
    }

    /// Wants no more messages of a filter; ``forgetSubscriptionWaiter(_:)`` takes back who is told.
    @discardableResult
    func unsubscribe(
        _ filter: String, told: (@Sendable (Result<Void, CourierError>) -> Void)?
    ) -> SubscriptionKeeper.WaiterKey {
        let key = lastWaiterKey.add(1, ordering: .relaxed).newValue
        loop.execute { [self] in
            subscriptions.unsubscribe(filter, key: key, told: told)
            subscriptionsChanged()
        }
        return key
    }

    /// Whoever waits under this number waits no more.
    func forgetSubscriptionWaiter(_ key: SubscriptionKeeper.WaiterKey) {
        loop.execute { [self] in subscriptions.forget(key) }
    }

    /// The app let the client go.
    func release() {
        loop.execute { [self] in
            isReleased = true
            tell(.disconnectRequested)
            finishIfReleased()
        }
    }
}
