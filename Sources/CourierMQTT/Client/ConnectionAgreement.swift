import CourierCore
import MQTTCodec

/// Fields of the last CONNECT and CONNACK that calls from any thread need.
struct ConnectionAgreement: Sendable {
    /// Whether the session ends with its connection; then DISCONNECT cannot extend it ([MQTT-3.14.2-2]).
    private(set) var endsSession = false
    /// The largest packet that the broker takes.
    private(set) var maximumPacketSize = PacketEncoder.largestPacketSize
    /// The beginning of response topics that the broker suggests.
    private(set) var responseInformation: String?

    /// A connection begins.
    mutating func connects(_ connect: Connect) {
        endsSession = connect.version >= .v5 && connect.properties.sessionExpiryInterval ?? 0 == 0
        maximumPacketSize = PacketEncoder.largestPacketSize
    }

    /// The broker has accepted it.
    mutating func accepted(_ connAck: ConnAck) {
        maximumPacketSize = connAck.properties.maximumPacketSize.map { Int($0) } ?? PacketEncoder.largestPacketSize
        responseInformation = connAck.properties.responseInformation
    }
}
