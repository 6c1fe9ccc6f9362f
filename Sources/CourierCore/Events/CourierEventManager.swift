/// Adds and removes event handlers, and offers the events as a publisher and as a sequence.
public protocol CourierEventManager: AnyObject, Sendable {
    /// Every event, in order, as long as the client lives. The publisher finishes with the client.
    ///
    /// Its sinks run on the client's delivery queue. If they and the handlers are slower than the client, events about
    /// single messages are dropped, and `eventsDropped(count:)` reports how many.
    var eventPublisher: AnyPublisher<CourierEvent, Never> { get }

    /// Adds a handler, unless it was added before. The handler is referenced weakly.
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
    /// Each loop has its own buffer of 256 events, see ``BufferPolicy/values``. A loop that is too slow loses the
    /// oldest events.
    public var events: PublisherValues<CourierEvent, Never> { eventPublisher.values }
}
