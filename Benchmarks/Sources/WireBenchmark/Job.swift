import CourierCore

/// The operation that is measured over a wire.
enum Job: String, CaseIterable, Sendable {
    /// Publishes at QoS 0, until the broker has received all messages.
    case publishQoS0 = "publish QoS 0"
    /// Publishes at QoS 1, until all messages are acknowledged.
    case publishQoS1 = "publish QoS 1"
    /// Receives at QoS 0, from the first message to the last.
    case receiveQoS0 = "receive QoS 0"
    /// Receives at QoS 1, and acknowledges the messages.
    case receiveQoS1 = "receive QoS 1"

    var qos: QoS {
        switch self {
        case .publishQoS0, .receiveQoS0: .zero
        case .publishQoS1, .receiveQoS1: .one
        }
    }

    /// The number of messages in one run.
    var count: Int { qos == .zero ? 400_000 : 100_000 }
}
