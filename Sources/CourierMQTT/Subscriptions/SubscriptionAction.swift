import CourierCore

/// What a ``SubscriptionSet`` wants done, or tells, in order.
enum SubscriptionAction: Hashable, Sendable {
    /// Names one packet; never used again.
    struct RequestID: RawRepresentable, Hashable, Sendable {
        let rawValue: UInt64
    }

    /// A filter and a quality of service: the one that is asked for, or the one that was granted.
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

    /// Why the broker was not asked, or did not do what it was asked for.
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
        /// The filter is not wanted by who asked for its end; the broker has confirmed it where nobody else wants it.
        case unsubscribed
        /// Something else was wanted of the filter before this was reached.
        case superseded
        /// It did not happen; ``Failure/connectionLost`` is never told, the wait continues then.
        case failed(Failure)
        /// The client gave up; see ``SubscriptionSet/abandonWaiters()``.
        case abandoned
    }

    /// Send SUBSCRIBE; this is also an attempt to be told.
    case subscribe([Subscription], RequestID)
    /// Send UNSUBSCRIBE; this is also an attempt to be told.
    case unsubscribe([TopicFilter], RequestID)
    /// Answer who waits under this name.
    case waiter(UInt64, Outcome)
    /// End the loops of these readers: the broker delivers nothing of their filter.
    case endReaders([UInt64], TopicFilter, Failure)
    /// Let the message store know.
    case store(StoreChange)
    /// To be told: filters of one packet were accepted, each with what was granted.
    case subscribeSucceeded([Subscription], timeTaken: Duration)
    /// To be told: filters of one packet were not accepted, each with what was asked.
    case subscribeFailed([Subscription], Failure, timeTaken: Duration)
    /// To be told: filters of one packet are gone.
    case unsubscribeSucceeded([TopicFilter], timeTaken: Duration)
    /// To be told: filters of one packet are perhaps not gone.
    case unsubscribeFailed([TopicFilter], Failure, timeTaken: Duration)
}
