import CourierCore

/// A handler or a subscriber of the publisher, from one entry of the ``EventBuffer`` on.
struct EventListener: Sendable {
    struct WeakHandler {
        weak var handler: (any ICourierEventHandler)?
    }

    enum Target: Sendable {
        /// The box is used on the delivery queue, which is the one place that ``Confined`` asks for. Whether the handler
        /// still exists is checked elsewhere, too.
        case handler(ObjectIdentifier, Confined<WeakHandler>)
        case subscriber(@Sendable (PublisherSignal<CourierEvent, Never>) -> Void)
    }

    /// Names the listener; never used twice.
    let serial: UInt64
    /// The number of the first entry that the listener gets.
    let firstNumber: UInt64
    let target: Target

    /// Whether this is the handler with that identity.
    func isHandler(_ id: ObjectIdentifier) -> Bool { if case .handler(id, _) = target { true } else { false } }

    /// Whether the handler no longer exists.
    var isGone: Bool { if case .handler(_, let box) = target { box.use { $0.handler == nil } } else { false } }

    /// Reports an event. On the delivery queue; `false` if the handler no longer exists.
    func tell(_ event: CourierEvent) -> Bool {
        switch target {
        case .handler(_, let box): return box.use { Self.call($0) { $0.onEvent(event) } }
        case .subscriber(let receive):
            receive(.value(event))
            return true
        }
    }

    /// Reports that the session was destroyed. On the delivery queue; `false` if the handler no longer exists.
    func reset() -> Bool {
        guard case .handler(_, let box) = target else { return true }
        return box.use { Self.call($0) { $0.reset() } }
    }

    /// Reports that no event follows. On the delivery queue.
    func finish() {
        if case .subscriber(let receive) = target { receive(.completion(.finished)) }
    }

    private static func call(_ weak: WeakHandler, _ body: (any ICourierEventHandler) -> Void) -> Bool {
        guard let handler = weak.handler else { return false }
        body(handler)
        return true
    }
}
