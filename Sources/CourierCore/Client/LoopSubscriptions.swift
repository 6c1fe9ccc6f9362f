/// The treatment of the loops' subscriptions when ``CourierClient/shutdown(subscriptions:)`` ends the loops.
public enum LoopSubscriptions: Hashable, Sendable {
    /// The subscriptions remain until ``CourierSession/unsubscribe(from:)-(String)``, like subscriptions of
    /// ``CourierSession/subscribe(to:qos:)-(String,_)``. If the broker keeps the session, it collects messages until
    /// the next connection.
    case keep

    /// The client unsubscribes from the filters of the loops. A filter remains if the app has also subscribed to it by
    /// a call of `subscribe`.
    case remove
}
