/// Adds and removes event handlers, and offers the events as a publisher and as a sequence.
public protocol CourierEventManager: AnyObject, Sendable {
    /// Publishes the events in the order in which they occur. When the client is released, the publisher finishes.
    ///
    /// Its sinks run on the client's delivery queue. If sinks and event handlers are slower than the client, the client
    /// drops events about single messages. The event `eventsDropped(count:)` then reports the number of dropped events.
    var eventPublisher: AnyPublisher<CourierEvent, Never> { get }

    /// Adds an event handler, unless it was added before. The client references the handler weakly.
    ///
    /// If the handler is not `Sendable`, call this method on the client's delivery queue, or on any thread before the
    /// first `connect()`.
    ///
    /// - Parameter handler: The handler. The app must keep it alive.
    func addEventHandler(_ handler: any ICourierEventHandler)

    /// Removes a handler, if it was added. If this method is called on the delivery queue, the handler receives no
    /// event after the call.
    ///
    /// - Parameter handler: The handler.
    func removeEventHandler(_ handler: any ICourierEventHandler)
}

extension CourierEventManager {
    /// The events as a sequence, as in `for await event in client.events`.
    ///
    /// A loop receives the events that occur after it has started. Each loop has its own buffer of 256 events; see
    /// ``BufferPolicy/values``. If a loop is slower than the client, the buffer drops the oldest events.
    public var events: PublisherValues<CourierEvent, Never> { eventPublisher.values }
}
