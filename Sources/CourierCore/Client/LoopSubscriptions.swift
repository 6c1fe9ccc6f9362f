/// What becomes of the subscriptions of loops when ``CourierClient/shutdown(subscriptions:)`` ends the loops.
public enum LoopSubscriptions: Hashable, Sendable {
    /// They stay. If the session is kept, the broker collects messages until the next connection. They are subscribed as if by
    /// ``CourierSession/subscribe(to:qos:)-(String,_)``, until ``CourierSession/unsubscribe(from:)-(String)``.
    case keep

    /// They end. Filters that the app itself has subscribed to stay.
    case remove
}
