import CourierCore

/// The subject of a broker's answer or of a failure.
enum RequestSubject: Hashable, Sendable {
    case message(topic: String)
    /// A QoS 0 message. Its topic is not known any more when the session cannot write it.
    case unacknowledgedMessage
    case subscription(filter: String)
    case unsubscription(filter: String)

    /// The code of an error that says that the broker refused it.
    var refusalCode: CourierError.Code {
        switch self {
        case .message, .unacknowledgedMessage: .publishRefused
        case .subscription, .unsubscription: .subscriptionRefused
        }
    }
}

extension RequestSubject: CustomStringConvertible {
    /// How a sentence begins that is about it.
    var description: String {
        switch self {
        case .message(let topic): "The message to \(topic.quoted())"
        case .unacknowledgedMessage: "A message of QoS 0"
        case .subscription(let filter): "The subscription to \(filter.quoted())"
        case .unsubscription(let filter): "The end of the subscription to \(filter.quoted())"
        }
    }
}
