import CourierCore

/// An action or a report of a ``SubscriptionSet``, in order.
enum SubscriptionAction: Hashable, Sendable {
    /// Names one packet; never used again.
    struct RequestID: RawRepresentable, Hashable, Sendable {
        let rawValue: UInt64
    }

    /// A filter and a quality of service, requested or granted.
    struct Subscription: Hashable, Sendable {
        let filter: TopicFilter
        let qos: QoS
        /// The identifier that it is to have, which all of its packet have.
        var identifier: UInt32?
        /// Whether only the identifier is new, so that retained messages are not wanted again.
        var isRenewal = false

        init(_ filter: TopicFilter, _ qos: QoS, identifier: UInt32? = nil, isRenewal: Bool = false) {
            self.filter = filter
            self.qos = qos
            self.identifier = identifier
            self.isRenewal = isRenewal
        }
    }

    /// Why a request was not sent, or not granted.
    enum Failure: Hashable, Sendable {
        /// It said no.
        case refused(ReasonCode)
        /// The connection ended before it answered: it is asked again with the next one.
        case connectionLost
        /// The packet cannot be sent on this connection: it is tried again with the next one.
        case notSent
    }

    /// How the wait for one filter ended.
    enum Outcome: Hashable, Sendable {
        /// The broker delivers, with this quality of service.
        case granted(QoS)
        /// The caller's interest in the filter has ended. If nobody else wants the filter, the broker has confirmed its end.
        case unsubscribed
        /// Something else was wanted of the filter before this was reached.
        case superseded
        /// The request failed. ``Failure/connectionLost`` is never reported, because the wait continues then.
        case failed(Failure)
        /// The client gave up; see ``SubscriptionSet/abandonWaiters()``.
        case abandoned
    }

    /// Send SUBSCRIBE, and report the attempt.
    case subscribe([Subscription], RequestID)
    /// Send UNSUBSCRIBE, and report the attempt.
    case unsubscribe([TopicFilter], RequestID)
    /// Call the waiting caller with this id.
    case waiter(UInt64, Outcome)
    /// End the loops of these readers: the broker delivers nothing of their filter.
    case endReaders([UInt64], TopicFilter, Failure)
    /// Let the message store know.
    case store(StoreChange)
    /// Report: filters of one packet were granted, each with its quality of service.
    case subscribeSucceeded([Subscription], timeTaken: Duration)
    /// Report: filters of one packet were not granted, each with the requested quality of service.
    case subscribeFailed([Subscription], Failure, timeTaken: Duration)
    /// Report: filters of one packet were unsubscribed.
    case unsubscribeSucceeded([TopicFilter], timeTaken: Duration)
    /// Report: unsubscribing filters of one packet failed.
    case unsubscribeFailed([TopicFilter], Failure, timeTaken: Duration)
}
