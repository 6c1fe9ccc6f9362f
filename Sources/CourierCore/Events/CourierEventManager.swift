/// Adds and removes event handlers, and offers the events as a publisher and as a sequence.
public protocol CourierEventManager: AnyObject, Sendable {
    /// Publishes every event in the sequence of their occurrence. When the client is released, the publisher finishes.
    ///
    /// Its sinks run on the client's delivery queue. If the sinks and the event handlers are slower than the client,
    /// events about single messages are dropped. The event `eventsDropped(count:)` then reports the number of dropped
    /// events.
    var eventPublisher: AnyPublisher<CourierEvent, Never> { get }

    /// Adds an event handler, unless it was added before. The client references the handler weakly.
    ///
    /// If the handler is not `Sendable`, call this method on the client's delivery queue, or on any thread before the
    /// first `connect()`.
    ///
    /// - Parameter handler: The handler, which the app keeps alive.
    func addEventHandler(_ handler: any ICourierEventHandler)

    /// Removes a handler, if it was added. After a call on the delivery queue, the handler receives no further event.
    ///
    /// - Parameter handler: The handler.
    func removeEventHandler(_ handler: any ICourierEventHandler)
}

extension CourierEventManager {
    /// The events from now on as a sequence, as in `for await event in client.events`.
    ///
    /// Each loop has its own buffer of 256 events; see ``BufferPolicy/values``. If a loop is slower than the client,
    /// the buffer drops the oldest events.
    public var events: PublisherValues<CourierEvent, Never> { eventPublisher.values }
}
