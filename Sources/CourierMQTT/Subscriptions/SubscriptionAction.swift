import CourierCore

/// An action that a ``SubscriptionSet`` requests, or a result that it reports.
enum SubscriptionAction: Hashable, Sendable {
    /// Identifies one SUBSCRIBE or UNSUBSCRIBE packet. An id is never used again.
    struct RequestID: RawRepresentable, Hashable, Sendable {
        let rawValue: UInt64
    }

    /// A filter and a quality of service, requested or granted.
    struct Subscription: Hashable, Sendable {
        let filter: TopicFilter
        let qos: QoS
        /// The requested subscription identifier; `nil` for none. All subscriptions of a packet have the same
        /// identifier.
        var identifier: UInt32?
        /// True if the broker already has the subscription with this quality of service. Then SUBSCRIBE changes only
        /// the identifier or the user properties, and requests no retained messages.
        var isRenewal = false

        init(_ filter: TopicFilter, _ qos: QoS, identifier: UInt32? = nil, isRenewal: Bool = false) {
            self.filter = filter
            self.qos = qos
            self.identifier = identifier
            self.isRenewal = isRenewal
        }
    }

    /// The reason why a request was not sent, or not granted.
    enum Failure: Hashable, Sendable {
        /// The broker refused the request with this code, or CONNACK shows that the broker would refuse the request.
        case refused(ReasonCode)
        /// The connection ended before the broker answered. The request is sent again on the next connection.
        case connectionLost
        /// The packet cannot be sent on this connection. The request is tried again on the next connection.
        case notSent
    }

    /// The result for a caller that waits for the broker's answer about one filter.
    enum Outcome: Hashable, Sendable {
        /// The broker granted the subscription with this quality of service.
        case granted(QoS)
        /// The caller has unsubscribed. If no other owner (the app or a reader) wants the filter, the broker has also
        /// confirmed UNSUBSCRIBE.
        case unsubscribed
        /// A later call requested something else for the same filter, before this request was fulfilled.
        case superseded
        /// The request failed. ``Failure/connectionLost`` is never reported here: when the connection is lost, the
        /// caller continues to wait.
        case failed(Failure)
        /// The client ended; see ``SubscriptionSet/abandonWaiters()``.
        case abandoned
    }

    /// Send SUBSCRIBE for these filters, and report the request to the app.
    case subscribe([Subscription], RequestID)
    /// Send UNSUBSCRIBE for these filters, and report the request to the app.
    case unsubscribe([TopicFilter], RequestID)
    /// Report the result to the waiting caller with this id.
    case waiter(UInt64, Outcome)
    /// End the loops of these readers, because the broker sends no messages for their filter.
    case endReaders([UInt64], TopicFilter, Failure)
    /// Write the change to the message store.
    case store(StoreChange)
    /// Report to the app: the broker granted these filters of one packet, each with this quality of service.
    case subscribeSucceeded([Subscription], timeTaken: Duration)
    /// Report to the app: these filters of one packet were not granted. Each filter has its requested quality of
    /// service.
    case subscribeFailed([Subscription], Failure, timeTaken: Duration)
    /// Report to the app: these filters of one packet were unsubscribed.
    case unsubscribeSucceeded([TopicFilter], timeTaken: Duration)
    /// Report to the app: the client could not unsubscribe these filters of one packet.
    case unsubscribeFailed([TopicFilter], Failure, timeTaken: Duration)
}
