package import CourierCore
import Foundation

/// The parts of a received message that can be printed.
package struct PrintedMessage: Sendable {
    package var topic: String
    package var payload: [UInt8]
    package var qos: Int
    package var isRetained: Bool
    /// The MQTT packet identifier; 0 for QoS 0.
    package var packetID: Int
    package var properties: MessageProperties
    /// The time when the message was received.
    package var time: WallTime

    package init(
        topic: String, payload: [UInt8], qos: Int = 0, isRetained: Bool = false, packetID: Int = 0,
        properties: MessageProperties = MessageProperties(), time: WallTime = .now()
    ) {
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.isRetained = isRetained
        self.packetID = packetID
        self.properties = properties
        self.time = time
    }

    /// Creates the printable form of a message that the client received now.
    package init(_ message: Message) {
        self.init(
            topic: message.topic, payload: message.withBytes { $0.withUnsafeBytes { [UInt8]($0) } },
            qos: Int(message.qos.wireLevel), isRetained: message.isRetained,
            packetID: Int(message.packetID ?? 0), properties: message.properties)
    }
}
