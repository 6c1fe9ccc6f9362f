import CourierTransport
import MQTTCodec

/// The settings of one run of `courier test` with one version of MQTT.
struct TestPlan: Sendable {
    /// The keep-alive that each CONNECT requests, in seconds. It is longer than the longest probe, so that no probe
    /// needs keep-alive pings.
    static let keepAlive: UInt16 = 120
    /// The session expiry that a CONNECT requests for a session that must outlive its connection, in seconds.
    static let sessionExpiry: UInt32 = 300

    let address: BrokerAddress
    let tls: TLSContext?
    var version: ProtocolVersion
    /// The time limit of each probe in seconds.
    let timeLimit: Int
    /// The number of messages of a probe that counts messages.
    let messageCount: Int
    /// The largest payload that is tried, in bytes.
    let maximumPayload: Int
    /// The random part of topics and client ids: six letters and digits.
    let randomPart: String
    /// The limits that the broker announces to MQTT 5 clients; `nil` if the broker does not support MQTT 5.
    var announced: AnnouncedLimits?

    /// The highest QoS that the broker accepts.
    var maximumQoS: PacketQoS { announced.flatMap { PacketQoS(rawValue: $0.maximumQoS) } ?? .exactlyOnce }
    /// QoS 1, or QoS 0 if the broker announces that it accepts only QoS 0.
    var reliableQoS: PacketQoS { min(.atLeastOnce, maximumQoS) }
}
