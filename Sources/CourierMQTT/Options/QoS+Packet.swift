import CourierCore
import MQTTCodec

extension QoS {
    /// The public name of a level on the wire.
    init(_ qos: PacketQoS) {
        switch qos {
        case .atMostOnce: self = .zero
        case .atLeastOnce: self = .one
        case .exactlyOnce: self = .two
        }
    }
}

extension PacketQoS {
    /// The level on the wire.
    init(_ qos: QoS) {
        switch qos {
        case .zero: self = .atMostOnce
        case .one, .oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry: self = .atLeastOnce
        case .two: self = .exactlyOnce
        }
    }
}
