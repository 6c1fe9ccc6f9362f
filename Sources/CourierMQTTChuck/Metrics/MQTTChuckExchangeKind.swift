/// A kind of exchange whose duration is measured.
public enum MQTTChuckExchangeKind: String, CaseIterable, Codable, Sendable {
    /// CONNECT to CONNACK.
    case connect
    /// SUBSCRIBE to SUBACK.
    case subscribe
    /// UNSUBSCRIBE to UNSUBACK.
    case unsubscribe
    /// PINGREQ to PINGRESP.
    case ping
    /// A PUBLISH of the client to PUBACK.
    case publishQoS1 = "publish_qos1"
    /// A PUBLISH of the client to PUBCOMP.
    case publishQoS2 = "publish_qos2"
    /// A PUBLISH of the broker to the client's PUBACK.
    case deliveryQoS1 = "delivery_qos1"
    /// A PUBLISH of the broker to the client's PUBCOMP.
    case deliveryQoS2 = "delivery_qos2"

    var index: Int {
        switch self {
        case .connect: 0
        case .subscribe: 1
        case .unsubscribe: 2
        case .ping: 3
        case .publishQoS1: 4
        case .publishQoS2: 5
        case .deliveryQoS1: 6
        case .deliveryQoS2: 7
        }
    }
}
