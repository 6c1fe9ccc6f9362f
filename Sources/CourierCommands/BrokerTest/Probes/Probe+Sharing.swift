import MQTTCodec

extension Probe {
    static let sharing: [Probe] = [
        Probe("sharedSubscriptions", "shared subscriptions", Clause(nil, v5: "4.5.0-1"), run: sharedSubscriptions)
    ]

    /// The time limit for a broker with MQTT 3.1.1. If no message arrives in this time, the broker counts as a broker
    /// without shared subscriptions.
    private static let optionalTimeLimit = Duration.seconds(1)

    private static func sharedSubscriptions(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        if context.announced?.sharedSubscriptions == false { return .unavailable }
        let topic = context.topic("shared")
        let filter = "$share/courier/\(topic)"
        let qos = context.plan.reliableQoS
        let subscribers = [try context.connect(), try context.connect()]
        let publisher = try context.connect()
        let count = context.plan.messageCount
        do throws(LinkFailure) {
            for client in subscribers { try client.subscribe(filter, qos) }
            try publisher.publish(
                (1...count).map { ProbeClient.Message(topic: topic, payload: Array("\($0)".utf8), qos: qos) })
            // MQTT 3.1.1 does not define shared subscriptions, so the broker may never send a message.
            let isOptional = context.version < .v5
            func isEnough() -> Bool { ProbeClient.haveReceived(isOptional ? 1 : count, subscribers) }
            try context.step(atMost: isOptional ? optionalTimeLimit : .seconds(context.plan.timeLimit)) {
                () throws(LinkFailure) in try context.receive(by: subscribers, until: isEnough)
            }
            try context.receive(by: subscribers) { ProbeClient.haveReceived(count, subscribers) }
        } catch {
            if error == .interrupted || context.version >= .v5 { throw error }
            return .note("not available (optional in MQTT 3.1.1)")
        }
        for client in subscribers { try client.ping() }
        let counts = subscribers.map(\.messages.count)
        let text = "\(count) of \(count) messages arrived"
        if counts.reduce(0, +) > count {
            return .violation(
                "\(text), but some messages arrived at both clients (MQTT 5.0, section 4.8.2)", nil, found: count)
        }
        return .works("\(text) once: \(counts[0]) at one client, \(counts[1]) at the other", found: count)
    }
}
