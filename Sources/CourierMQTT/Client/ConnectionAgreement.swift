import CourierCore
import MQTTCodec

/// Fields of the last CONNECT and CONNACK. Any thread may need these fields.
struct ConnectionAgreement: Sendable {
    /// True if the session ends with its connection. DISCONNECT must not extend such a session (MQTT 5.0, 3.14.2.2.2).
    private(set) var endsSession = false
    /// The size of the largest packet that the broker accepts, in bytes.
    private(set) var maximumPacketSize = PacketEncoder.largestPacketSize
    /// The prefix that the broker suggests for response topics; `nil` if it suggests none.
    private(set) var responseInformation: String?

    /// Records the CONNECT of a new connection.
    mutating func connects(_ connect: Connect) {
        endsSession = connect.version >= .v5 && connect.properties.sessionExpiryInterval ?? 0 == 0
        maximumPacketSize = PacketEncoder.largestPacketSize
    }

    /// Records the CONNACK of an accepted connection.
    mutating func accepted(_ connAck: ConnAck) {
        maximumPacketSize = connAck.properties.maximumPacketSize.map { Int($0) } ?? PacketEncoder.largestPacketSize
        responseInformation = connAck.properties.responseInformation
    }
}
