import CourierCore

/// The request that the broker refused, or that failed.
enum RequestSubject: Hashable, Sendable {
    case message(topic: String)
    /// A QoS 0 message. It has no topic here: when the session driver reports that the message could not be written,
    /// the driver no longer knows the topic.
    case unacknowledgedMessage
    case subscription(filter: String)
    case unsubscription(filter: String)

    /// The code of the error that is reported if the broker refuses the request.
    var refusalCode: CourierError.Code {
        switch self {
        case .message, .unacknowledgedMessage: .publishRefused
        case .subscription, .unsubscription: .subscriptionRefused
        }
    }
}

extension RequestSubject: CustomStringConvertible {
    /// The beginning of a sentence about the request.
    var description: String {
        switch self {
        case .message(let topic): "The message to \(topic.quoted())"
        case .unacknowledgedMessage: "A message of QoS 0"
        case .subscription(let filter): "The subscription to \(filter.quoted())"
        case .unsubscription(let filter): "The UNSUBSCRIBE for \(filter.quoted())"
        }
    }
}
