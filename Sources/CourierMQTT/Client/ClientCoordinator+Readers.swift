import CourierCore
import CourierTransport
import Synchronization

/// Readers that subscribe.
extension ClientCoordinator {
    /// A loop has started: it reads, and its filter is wanted. On the loop.
    func opened(_ reader: ReaderRegistration, _ request: SubscriptionRequest) {
        subscriptions.open(reader, request, identity: publishing.identity)
        subscriptionsChanged()
    }

    /// Subscribes a reader to a filter, and reports the grant. The first call opens the reader. ``forgetSubscriptionWaiter(_:)``
    /// removes the callback. From any thread.
    func subscribe(
        _ reader: ReaderRegistration, to filter: TopicFilter, _ qos: QoS,
        told: @escaping @Sendable (Result<QoS, CourierError>) -> Void
    ) -> SubscriptionKeeper.WaiterKey {
        let key = lastWaiterKey.add(1, ordering: .relaxed).newValue
        loop.execute { [self] in
            subscriptions.subscribe(reader, to: filter, qos, key: key, told: told)
            subscriptionsChanged()
        }
        return key
    }

    /// A loop was left. Its unfinished messages go to other readers, and its filter is unsubscribed unless others want it. On the
    /// loop.
    func closed(_ reader: ReaderRegistration, _ left: [ReceivedMessage]) {
        subscriptions.close(reader)
        subscriptions.perform()
        reader.close(left)
        subscriptionsChanged()
    }

    /// Ends all loops over messages, and calls `confirmed` as
    /// ``SubscriptionKeeper/endLoops(keepsSubscriptions:confirmed:)`` does. From any thread.
    func endLoops(_ fate: LoopSubscriptions, confirmed: @escaping @Sendable () -> Void) {
        loop.execute { [self] in
            subscriptions.endLoops(keepsSubscriptions: fate == .keep, confirmed: confirmed)
            subscriptionsChanged()
        }
    }

    /// Whether the broker keeps the session without a connection; `false` before the first credentials. On the loop.
    var isSessionKept: Bool { info?.isCleanSession == false }

    /// Logs a warning about messages. On the loop.
    func warnOfReading(_ text: String) {
        settings.log.log(.warning, source: "reading", clientID: info?.clientId, text)
    }

    func subscriptionsChanged() {
        subscriptions.perform()
        tellTopics()
    }

    /// Reports to the supervisor whether there is a topic to connect for, if that has changed.
    func tellTopics() {
        let areWanted = subscriptions.hasTopics
        if areWanted != supervisor.areTopicsWanted { tell(.topicsChanged(areWanted: areWanted)) }
    }
}
