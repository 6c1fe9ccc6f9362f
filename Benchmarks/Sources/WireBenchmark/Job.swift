import CourierCore

/// What is done over a wire.
enum Job: String, CaseIterable, Sendable {
    /// Publishing at QoS 0, until the broker has all.
    case publishQoS0 = "publish QoS 0"
    /// Publishing at QoS 1, until all are acknowledged.
    case publishQoS1 = "publish QoS 1"
    /// Receiving at QoS 0, from the first message to the last.
    case receiveQoS0 = "receive QoS 0"
    /// Receiving at QoS 1, which the client acknowledges.
    case receiveQoS1 = "receive QoS 1"

    var qos: QoS {
        switch self {
        case .publishQoS0, .receiveQoS0: .zero
        case .publishQoS1, .receiveQoS1: .one
        }
    }

    /// How many messages a run has.
    var count: Int { qos == .zero ? 400_000 : 100_000 }
}
