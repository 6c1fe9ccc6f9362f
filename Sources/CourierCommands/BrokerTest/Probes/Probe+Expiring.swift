import MQTTCodec

extension Probe {
    static let expiring: [Probe] = [
        .v5("messageExpiry", "message expiry", "3.3.2-5", after: .seconds(2), prepare: messageExpiry),
        .v5("sessionExpiry", "session expiry", "4.1.0-2", after: .seconds(3), prepare: sessionExpiry),
    ]

    /// Publishes a message with an expiry of one second to an offline client, which connects after two seconds.
    private static func messageExpiry(_ context: ProbeContext) throws(LinkFailure) -> Run {
        let topic = context.topic("expiry")
        let id = context.newClientID()
        let qos = context.plan.reliableQoS
        let first = try context.resume(id)
        if first.connAck.properties.sessionExpiryInterval == 0 || qos == .atMostOnce {
            return { _ in .note("not tried: the broker keeps no messages for offline clients") }
        }
        try first.subscribe(topic, qos)
        try context.leave(first, keepsSession: true)
        let publisher = try context.connect()
        try publisher.publish("old", to: topic, qos, [.messageExpiryInterval(1)])
        try publisher.publish("kept", to: topic, qos, [.messageExpiryInterval(60)])
        try context.leave(publisher)
        return { (context) throws(LinkFailure) in
            let client = try context.resume(id)
            try client.receive { client.payloads.contains("kept") }
            if client.payloads.contains("old") {
                return .violation("a message is delivered after its expiry", "[MQTT-3.3.2-5]")
            }
            let rest = client.messages.last?.properties.messageExpiryInterval
            guard let rest, rest < 60 else {
                return .violation(
                    "the broker does not subtract the waiting time from the expiry of a message", "[MQTT-3.3.2-6]")
            }
            return .works("a message is not delivered after its expiry")
        }
    }

    /// Ends a connection whose session expires after one second, and connects again after three seconds.
    private static func sessionExpiry(_ context: ProbeContext) throws(LinkFailure) -> Run {
        let id = context.newClientID()
        let first = try context.resume(id, expiry: 1)
        let granted = first.connAck.properties.sessionExpiryInterval ?? 1
        try context.leave(first, keepsSession: true)
        return { (context) throws(LinkFailure) in
            let client = try context.resume(id, expiry: 1)
            if client.connAck.isSessionPresent {
                return granted <= 1
                    ? .violation("the session still exists after its expiry", "[MQTT-4.1.0-2]")
                    : .note("the broker keeps sessions for at least \(granted) seconds", found: Int(granted))
            }
            let longest = context.announced?.sessionExpiry ?? 0
            return longest < TestPlan.sessionExpiry
                ? .note("the broker keeps a session for at most \(longest) seconds", announced: Int(longest))
                : .works("a session ends after its expiry")
        }
    }
}
