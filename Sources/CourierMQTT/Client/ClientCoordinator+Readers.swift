import CourierCore
import CourierTransport
import Synchronization

/// Opens and closes readers that have their own subscriptions, such as `for await` loops.
extension ClientCoordinator {
    /// Opens the reader of a new `for await` loop, and subscribes to its filter. Called on the event loop.
    func opened(_ reader: ReaderRegistration, _ request: SubscriptionRequest) {
        subscriptions.open(reader, request, identity: publishing.identity)
        subscriptionsChanged()
    }

    /// Subscribes a reader to a filter, and calls `told` with the granted QoS or an error. The first call for a reader
    /// opens the reader. ``forgetSubscriptionWaiter(_:)`` with the returned key removes `told`. May be called from any
    /// thread.
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

    /// Closes the reader of a `for await` loop after the app has left the loop. `left` contains the messages that the
    /// reader has not finished. These messages are passed to other readers. If neither the app nor another reader uses
    /// the reader's filter, the filter is unsubscribed. Called on the event loop.
    func closed(_ reader: ReaderRegistration, _ left: [ReceivedMessage]) {
        subscriptions.close(reader)
        subscriptions.perform()
        reader.close(left)
        subscriptionsChanged()
    }

    /// Ends all `for await` loops over messages, and calls `confirmed` when the broker has confirmed every UNSUBSCRIBE;
    /// see ``SubscriptionKeeper/endLoops(keepsSubscriptions:confirmed:)``. May be called from any thread.
    func endLoops(_ fate: LoopSubscriptions, confirmed: @escaping @Sendable () -> Void) {
        loop.execute { [self] in
            subscriptions.endLoops(keepsSubscriptions: fate == .keep, confirmed: confirmed)
            subscriptionsChanged()
        }
    }

    /// True if the broker keeps the session after the connection ends. False if the options request a clean session, or
    /// if the provider has not returned options yet. Used on the event loop.
    var isSessionKept: Bool { info?.isCleanSession == false }

    /// Logs a warning about received messages. Called on the event loop.
    func warnOfReading(_ text: String) {
        settings.log.log(.warning, source: "reading", clientID: info?.clientId, text)
    }

    func subscriptionsChanged() {
        subscriptions.perform()
        tellTopics()
    }

    /// Reports to the supervisor whether any filter must be subscribed or unsubscribed. Does nothing if the supervisor
    /// already has this information.
    func tellTopics() {
        let areWanted = subscriptions.hasTopics
        if areWanted != supervisor.areTopicsWanted { tell(.topicsChanged(areWanted: areWanted)) }
    }
}
