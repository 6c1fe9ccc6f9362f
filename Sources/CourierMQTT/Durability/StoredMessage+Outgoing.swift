import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine

extension StoredMessage {
    /// The message for the session, under a name.
    ///
    /// - Parameters:
    ///   - token: The name.
    ///   - now: The present, as a moment of the loop.
    ///   - date: The present, as a date.
    /// - Returns: The message.
    func outgoing(_ token: Token, now: ContinuousClock.Instant, date: Date) -> OutgoingMessage {
        OutgoingMessage(
            topic: topic, payload: payload, qos: PacketQoS(qos), isRetained: isRetained,
            properties: properties.isEmpty ? PacketProperties() : PacketProperties(publishing: properties),
            expiry: expiresAt.map { now.advanced(by: .bounded(seconds: $0.timeIntervalSince(date))) }, token: token)
    }
}
