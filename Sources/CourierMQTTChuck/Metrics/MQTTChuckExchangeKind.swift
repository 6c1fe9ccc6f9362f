/// A kind of exchange, such as PUBLISH and PUBACK, whose duration the logger measures.
public enum MQTTChuckExchangeKind: String, CaseIterable, Codable, Sendable {
    /// From CONNECT to CONNACK.
    case connect
    /// From SUBSCRIBE to SUBACK.
    case subscribe
    /// From UNSUBSCRIBE to UNSUBACK.
    case unsubscribe
    /// From PINGREQ to PINGRESP.
    case ping
    /// From the client's PUBLISH to the broker's PUBACK.
    case publishQoS1 = "publish_qos1"
    /// From the client's PUBLISH to the broker's PUBCOMP.
    case publishQoS2 = "publish_qos2"
    /// From the broker's PUBLISH to the client's PUBACK.
    case deliveryQoS1 = "delivery_qos1"
    /// From the broker's PUBLISH to the client's PUBCOMP.
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
