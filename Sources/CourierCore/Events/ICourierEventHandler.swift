/// Receives an event for every step of the client: connecting, subscribing, sending, losing the connection.
///
/// ```swift
/// final class Analytics: ICourierEventHandler {
///     private var reconnects = 0
///     func onEvent(_ event: CourierEvent) {
///         if case .reconnect = event.type { reconnects += 1 }
///     }
/// }
/// ```
///
/// Contract. The client holds handlers weakly: the app keeps them alive. Both methods are called from one place, the
/// client's delivery queue (the main queue unless configured otherwise), one call at a time and in the order in which
/// things happened; so a handler may have mutable state without a lock and need not be `Sendable`. It must not block
/// that queue.
public protocol ICourierEventHandler: AnyObject {
    /// Forgets what was collected: the client's session was destroyed. Does nothing by default.
    func reset()

    /// Takes note of an event.
    ///
    /// - Parameter event: What happened, and on which connection.
    func onEvent(_ event: CourierEvent)
}

extension ICourierEventHandler {
    /// Does nothing.
    public func reset() {}
}
