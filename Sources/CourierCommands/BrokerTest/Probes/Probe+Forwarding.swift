import MQTTCodec

extension Probe {
    static let forwarding: [Probe] = [
        .v5("forwardedProperties", "message properties", "3.3.2-17", run: forwardedProperties),
        .v5("outgoingAliases", "broker's topic aliases", run: outgoingAliases),
        .v5("flowControl", "flow control", "3.3.4-9", run: flowControl),
    ]

    private static func forwardedProperties(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let sent: [(property: Property, name: String, clause: String)] = [
            (.payloadFormatIndicator(isText: true), "the payload format", "3.3.2-4"),
            (.contentType("text/plain"), "the content type", "3.3.2-20"),
            (.responseTopic(context.topic("response")), "the response topic", "3.3.2-15"),
            (.correlationData([1, 2, 3]), "the correlation data", "3.3.2-16"),
            (.userProperty(name: "b", value: "1"), "the user properties", "3.3.2-17"),
            (.userProperty(name: "a", value: "2"), "the user properties", "3.3.2-17"),
            (.userProperty(name: "b", value: "3"), "the user properties", "3.3.2-17"),
        ]
        let topic = context.topic("properties")
        let subscriber = try context.connect()
        try subscriber.subscribe(topic, context.plan.reliableQoS)
        let publisher = try context.connect()
        try publisher.publish("text", to: topic, context.plan.reliableQoS, PacketProperties(sent.map(\.property)))
        try subscriber.receive { !subscriber.messages.isEmpty }
        let received = subscriber.messages[0].properties.list
        if let lost = sent.first(where: { !received.contains($0.property) }) {
            return .violation("the broker does not forward \(lost.name)", "[MQTT-\(lost.clause)]")
        }
        let order = received.filter { $0.id == .userProperty }
        guard order == sent.map(\.property).filter({ $0.id == .userProperty }) else {
            return .violation("the broker changes the order of the user properties", "[MQTT-3.3.2-18]")
        }
        return .works("forwarded: user properties, content type, response topic, correlation data, payload format")
    }

    private static func outgoingAliases(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let topic = context.topic("aliases")
        let qos = context.plan.reliableQoS
        let maximum: UInt16 = 10
        let subscriber = try context.connect { $0.properties = [.topicAliasMaximum(maximum)] }
        try subscriber.subscribe(topic, qos)
        let publisher = try context.connect()
        for _ in 0..<3 { try publisher.publish("text", to: topic, qos) }
        try subscriber.receive { subscriber.messages.count >= 3 }
        if let wrong = subscriber.messages.compactMap(\.properties.topicAlias).first(where: { $0 > maximum }) {
            return .violation(
                "the broker uses alias \(wrong), but the client allows only \(maximum)", "[MQTT-3.3.2-11]")
        }
        return subscriber.hasReceivedAlias
            ? .works("the broker replaces topics by aliases if the client allows this")
            : .note("the broker sends all topics in full, which is allowed")
    }

    /// Withholds acknowledgements, and counts the messages that the broker sends.
    private static func flowControl(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let qos = context.plan.reliableQoS
        if qos == .atMostOnce { return .note("not tried: the probe needs QoS 1") }
        let topic = context.topic("flow")
        let maximum = 2
        let sent = 6
        let subscriber = try context.connect { $0.properties = [.receiveMaximum(UInt16(maximum))] }
        try subscriber.subscribe(topic, qos)
        subscriber.acknowledges = false
        let publisher = try context.connect()
        try publisher.publish(
            (1...sent).map { ProbeClient.Message(topic: topic, payload: Array("\($0)".utf8), qos: qos) })
        // Wait for one message only: a broker may pause before the number of unacknowledged messages reaches the
        // receive maximum.
        try subscriber.receive { !subscriber.messages.isEmpty }
        // If the broker sends further messages, these messages arrive before the second PINGRESP.
        for _ in 0..<2 { try subscriber.ping() }
        let early = subscriber.messages.count
        if early > maximum {
            return .violation(
                "the broker sends \(early) messages without acknowledgement, but the client allows \(maximum)",
                "[MQTT-3.3.4-9]", found: early)
        }
        try subscriber.acknowledge()
        do throws(LinkFailure) {
            try subscriber.receive { subscriber.messages.count >= sent }
        } catch {
            guard error == .silent else { throw error }
            return .violation(
                "only \(subscriber.messages.count) of \(sent) messages arrived, "
                    + "although the client acknowledged every arrived message",
                context.name(.delivery), found: subscriber.messages.count)
        }
        return .works("the broker waits for acknowledgements when the client's receive maximum is reached")
    }
}
