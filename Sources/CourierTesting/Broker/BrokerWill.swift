import MQTTCodec

/// A will message, and the user whose access rights decide whether it may be published.
struct BrokerWill: Sendable {
    let will: Connect.Will
    let username: String?

    var delay: Duration { .seconds(will.properties.willDelayInterval ?? 0) }

    /// Returns the will as a message that is published at `now`. The message's expiry counts from `now`.
    func message(from client: ExactText, at now: ContinuousClock.Instant) -> BrokerMessage {
        BrokerMessage(
            topic: will.topic, payload: will.payload, qos: will.qos, isRetained: will.isRetained,
            properties: will.properties, publisher: client, receivedAt: now)
    }
}
