import CourierCore

/// The request that the broker refused, or that failed.
enum RequestSubject: Hashable, Sendable {
    case message(topic: String)
    /// A QoS 0 message. Its topic is not known any more when the session driver reports that the message could not be
    /// written.
    case unacknowledgedMessage
    case subscription(filter: String)
    case unsubscription(filter: String)

    /// The error code if the broker refuses the request.
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
