import MQTTCodec

/// A will message with the user whose rights it is published with.
struct BrokerWill: Sendable {
    let will: Connect.Will
    let username: String?

    var delay: Duration { .seconds(will.properties.willDelayInterval ?? 0) }

    /// The message as it is published at `now`, from when on its expiry counts.
    func message(from client: ExactText, at now: ContinuousClock.Instant) -> BrokerMessage {
        BrokerMessage(
            topic: will.topic, payload: will.payload, qos: will.qos, isRetained: will.isRetained,
            properties: will.properties, publisher: client, receivedAt: now)
    }
}
