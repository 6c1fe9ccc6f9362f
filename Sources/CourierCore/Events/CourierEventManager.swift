/// Where event handlers are added and removed, and where events can be read as a publisher or a sequence.
public protocol CourierEventManager: AnyObject, Sendable {
    /// Every event, in order, for as long as the client lives; it finishes with the client.
    ///
    /// Its sinks run on the client's delivery queue. If they and the handlers are slower than the client, events about
    /// single messages are dropped, and `eventsDropped(count:)` reports how many.
    var eventPublisher: AnyPublisher<CourierEvent, Never> { get }

    /// Adds a handler, unless it was added before. The handler is referenced weakly.
    ///
    /// Call it from the client's delivery queue, or from anywhere before the first `connect()`, when the handler is
    /// not `Sendable`.
    ///
    /// - Parameter handler: The handler, which the app keeps alive.
    func addEventHandler(_ handler: any ICourierEventHandler)

    /// Removes a handler, if it was added. On the delivery queue, no event reaches it after the
    /// return.
    ///
    /// - Parameter handler: The handler.
    func removeEventHandler(_ handler: any ICourierEventHandler)
}

extension CourierEventManager {
    /// The events from now on as a sequence, as in `for await event in client.events`.
    ///
    /// Each loop has a buffer of its own, of ``BufferPolicy/values``: 256 events, and a reader that is slower loses
    /// the oldest.
    public var events: PublisherValues<CourierEvent, Never> { eventPublisher.values }
}
