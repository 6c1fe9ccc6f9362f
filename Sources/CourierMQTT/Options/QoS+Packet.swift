import CourierCore
import MQTTCodec

extension QoS {
    /// Makes the public value for the QoS of a packet.
    init(_ qos: PacketQoS) {
        switch qos {
        case .atMostOnce: self = .zero
        case .atLeastOnce: self = .one
        case .exactlyOnce: self = .two
        }
    }
}

extension PacketQoS {
    /// Makes the QoS for a packet. Every variant of `one` is sent as at-least-once.
    init(_ qos: QoS) {
        switch qos {
        case .zero: self = .atMostOnce
        case .one, .oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry: self = .atLeastOnce
        case .two: self = .exactlyOnce
        }
    }
}
