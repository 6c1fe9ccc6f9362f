import CourierCore

/// A handler, or a subscriber of the events publisher. The listener receives entries of the ``EventBuffer`` from
/// `firstNumber` on.
struct EventListener: Sendable {
    /// A weak reference to a handler, so that the client does not keep the handler alive.
    struct WeakHandler {
        weak var handler: (any ICourierEventHandler)?
    }

    /// The receiver of the events.
    enum Target: Sendable {
        /// A handler. The handler in the box is used on the delivery queue only, as ``NonSendableBox`` requires. Other
        /// threads only check whether the app has released the handler.
        case handler(ObjectIdentifier, NonSendableBox<WeakHandler>)
        case subscriber(@Sendable (PublisherSignal<CourierEvent, Never>) -> Void)
    }

    /// The number that identifies the listener. Each number is used for one listener only.
    let serial: UInt64
    /// The number of the first entry that the listener receives.
    let firstNumber: UInt64
    let target: Target

    /// Returns true if the listener is the handler with this identity.
    func isHandler(_ id: ObjectIdentifier) -> Bool { if case .handler(id, _) = target { true } else { false } }

    /// True if the app has released the handler.
    var isGone: Bool { if case .handler(_, let box) = target { box.use { $0.handler == nil } } else { false } }

    /// The listener for one batch, with a strong reference if the listener is a handler; `nil` if the app has released
    /// the handler. Used on the delivery queue only.
    ///
    /// Reading the weak reference to a handler takes as long as calling a short handler. So the reference is read only
    /// once for each batch.
    var present: Present? {
        switch target {
        case .handler(_, let box):
            return box.use { $0.handler.map { Present(serial: serial, firstNumber: firstNumber, handler: $0) } }
        case .subscriber(let receive):
            return Present(serial: serial, firstNumber: firstNumber, receive: receive)
        }
    }

    /// A listener that receives one batch. Used on the delivery queue only.
    struct Present {
        /// The receiver of the events.
        private enum Target {
            /// A handler. The property ``owner`` keeps the handler alive.
            case handler(Unowned)
            case subscriber(@Sendable (PublisherSignal<CourierEvent, Never>) -> Void)
        }

        /// A reference that does not change the handler's reference count. The property ``Present/owner`` keeps the
        /// handler alive.
        private struct Unowned {
            unowned(unsafe) let handler: any ICourierEventHandler
        }

        let serial: UInt64
        let firstNumber: UInt64
        private let target: Target
        private var owner: AnyObject?

        fileprivate init(serial: UInt64, firstNumber: UInt64, handler: any ICourierEventHandler) {
            self.serial = serial
            self.firstNumber = firstNumber
            owner = handler
            target = .handler(Unowned(handler: handler))
        }

        fileprivate init(
            serial: UInt64, firstNumber: UInt64,
            receive: @escaping @Sendable (PublisherSignal<CourierEvent, Never>) -> Void
        ) {
            self.serial = serial
            self.firstNumber = firstNumber
            target = .subscriber(receive)
        }

        /// True if the app has released the handler, so that only ``owner`` still references it.
        var isAbandoned: Bool {
            mutating get {
                guard owner != nil else { return false }
                return isKnownUniquelyReferenced(&owner)
            }
        }

        /// Reports an event.
        func tell(_ event: CourierEvent) {
            switch target {
            case .handler(let unowned): unowned.handler.onEvent(event)
            case .subscriber(let receive): receive(.value(event))
            }
        }

        /// Reports that the session was destroyed.
        func reset() { if case .handler(let unowned) = target { unowned.handler.reset() } }

        /// Reports that no more events follow.
        func finish() { if case .subscriber(let receive) = target { receive(.completion(.finished)) } }
    }
}
