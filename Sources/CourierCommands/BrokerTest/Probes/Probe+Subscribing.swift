import MQTTCodec

extension Probe {
    static let subscribing: [Probe] = [
        .v5("subscriptionIdentifiers", "subscription ids", "3.3.4-3", run: subscriptionIdentifiers),
        .v5("noLocal", "no local", "3.8.3-3", run: noLocal),
    ]

    private static func subscriptionIdentifiers(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        if context.announced?.subscriptionIdentifiers == false { return .unavailable }
        let topic = context.topic("identified")
        let identifier: UInt32 = 268_435_455
        let subscriber = try context.connect()
        try subscriber.subscribe(topic, context.plan.reliableQoS, identifier: identifier)
        let publisher = try context.connect()
        try publisher.publish("text", to: topic, context.plan.reliableQoS)
        try subscriber.receive { !subscriber.messages.isEmpty }
        return subscriber.messages[0].properties.subscriptionIdentifiers == [identifier]
            ? .works("each message contains its subscription identifier, up to 268,435,455")
            : .violation("the message does not contain its subscription identifier", "[MQTT-3.3.4-3]")
    }

    private static func noLocal(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let topic = context.topic("local")
        let qos = context.plan.reliableQoS
        let client = try context.connect()
        try client.subscribe([Subscription(topic, qos: qos, isNoLocal: true)])
        try client.publish("own", to: topic, qos)
        let other = try context.connect()
        try other.publish("end", to: topic, qos)
        try client.receive { client.payloads.contains("end") }
        return client.payloads.contains("own")
            ? .violation("the client receives its own message, although it subscribes with no local", "[MQTT-3.8.3-3]")
            : .works("a client can exclude its own messages")
    }
}
