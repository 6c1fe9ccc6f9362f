import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine

extension StoredMessage {
    /// The message for the session, under a name. Its expiry is the app's; how long the client lets it wait is no business
    /// of the broker's.
    ///
    /// - Parameters:
    ///   - token: The name.
    ///   - now: The present, as a moment of the loop.
    ///   - date: The present, as a date.
    /// - Returns: The message.
    func outgoing(_ token: Token, now: ContinuousClock.Instant, date: Date) -> OutgoingMessage {
        let expiry = properties.messageExpiry.map { expiry in
            // A clock that was set back does not make it longer.
            now.advanced(by: expiry.bounded - .bounded(seconds: date.timeIntervalSince(storedAt)))
        }
        return OutgoingMessage(
            topic: topic, payload: payload, qos: PacketQoS(qos), isRetained: isRetained,
            properties: properties.isEmpty ? PacketProperties() : PacketProperties(publishing: properties),
            expiry: expiry, token: token)
    }
}
