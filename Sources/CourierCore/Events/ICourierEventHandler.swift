/// Receives the events of a client, for example when it connects, subscribes, publishes or loses its connection.
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
/// Contract. The client references handlers weakly, so the app must keep them alive. Both methods are called only on
/// the client's delivery queue, which is the main queue by default. The calls come one at a time, in the order of the
/// events. So a handler may have mutable state without a lock and need not be `Sendable`. It must not block that queue.
public protocol ICourierEventHandler: AnyObject {
    /// Called after the client's session was destroyed, so that the handler can remove collected data. Does nothing by
    /// default.
    func reset()

    /// Handles an event.
    ///
    /// - Parameter event: The event, with the options of its connection.
    func onEvent(_ event: CourierEvent)
}

extension ICourierEventHandler {
    /// Does nothing.
    public func reset() {}
}
