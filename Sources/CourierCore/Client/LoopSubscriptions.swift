/// What happens to the subscriptions of loops when ``CourierClient/shutdown(subscriptions:)`` ends the loops.
public enum LoopSubscriptions: Hashable, Sendable {
    /// The subscriptions remain, as if the app had subscribed with ``CourierSession/subscribe(to:qos:)-(String,_)``,
    /// until ``CourierSession/unsubscribe(from:)-(String)``. If the broker keeps the session, it collects messages
    /// until the next connection.
    case keep

    /// The client unsubscribes from the filters of the loops. A filter remains if the app has also subscribed to it by
    /// a call of `subscribe`.
    case remove
}
