import MQTTCodec

extension Probe {
    /// The maximum number of messages that are sent to test the receive maximum. If the broker announces a larger
    /// receive maximum, the probe does not reach it.
    private static let triedReceiveMaximum = 1_000

    static let limiting: [Probe] = [
        .v5("receiveMaximum", "receive maximum", "4.3.3-8", run: receiveMaximum),
        .v5("topicAliasMaximum", "topic aliases", "3.3.2-12", run: topicAliasMaximum),
        .v5("maximumPacketSize", "maximum packet size", run: maximumPacketSize),
    ]

    /// Publishes QoS 2 messages without sending PUBREL. First it publishes as many messages as the receive maximum that
    /// the broker announces, and then one more.
    private static func receiveMaximum(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let client = try context.connect()
        let announced = Int(client.connAck.properties.receiveMaximum ?? .max)
        if context.plan.maximumQoS < .exactlyOnce {
            return .note(
                "the broker announces \(grouped(announced)); this was not tried, because the probe needs QoS 2",
                announced: announced)
        }
        client.releases = false
        let tried = min(announced, triedReceiveMaximum)
        let message = ProbeClient.Message(topic: context.topic("receive"), payload: [], qos: .exactlyOnce)
        for _ in 0..<tried { try client.send(message) }
        do throws(LinkFailure) {
            try client.receive { client.pubRecCount >= tried }
        } catch {
            if error == .interrupted { throw error }
            if error == .silent { return .undecided(announced: announced) }
            return .violation(
                "the broker announces \(grouped(announced)), but accepts only \(client.pubRecCount) messages at once",
                "[MQTT-4.3.3-8]", found: client.pubRecCount, announced: announced)
        }
        guard tried == announced else {
            try client.release()
            return .works(
                "the broker announces \(grouped(announced)), and at least \(grouped(tried)) messages work",
                found: tried, announced: announced)
        }
        let isMoreAllowed = try accepts(context) { () throws(LinkFailure) in
            try client.send(message)
            try client.receive { client.pubRecCount > tried }
        }
        return .works(
            "the broker announces \(grouped(announced)), \(grouped(tried)) messages work, "
                + (isMoreAllowed ? "and one more message works too" : "and one more message is refused"),
            found: tried, announced: announced)
    }

    private static func topicAliasMaximum(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let announced = Int(context.announced?.topicAliasMaximum ?? 0)
        if announced == 0 {
            return .note("the broker announces that this feature is not available", found: 0, announced: 0)
        }
        let topic = context.topic("alias")
        let qos = context.plan.reliableQoS
        let subscriber = try context.connect()
        try subscriber.subscribe(topic, qos)
        let publisher = try context.connect()
        for alias in Set([1, UInt16(announced)]) {
            try publisher.publish("\(alias)", to: topic, qos, [.topicAlias(alias)])
            try publisher.publish("\(alias) again", to: "", qos, [.topicAlias(alias)])
        }
        let expected = announced == 1 ? 2 : 4
        try subscriber.receive { subscriber.messages.count >= expected }
        if subscriber.messages.contains(where: { $0.properties.topicAlias != nil }) {
            return .violation("the broker forwards the publisher's alias to a subscriber", "[MQTT-3.1.2-30]")
        }
        guard announced < UInt16.max else {
            return .works(
                "the broker announces 65,535 aliases, and alias 65,535 works", found: announced, announced: announced)
        }
        let isMoreAllowed = try accepts(context) { () throws(LinkFailure) in
            try publisher.publish("more", to: topic, qos, [.topicAlias(UInt16(announced + 1))])
            try publisher.ping()
        }
        return .works(
            "the broker announces \(grouped(announced)) aliases, alias \(grouped(announced)) works, "
                + (isMoreAllowed ? "and a larger alias works too" : "and a larger alias is refused"),
            found: announced, announced: announced)
    }

    private static func maximumPacketSize(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        guard let announced = context.announced?.maximumPacketSize.map(Int.init) else {
            return .works("the broker announces no limit")
        }
        let topic = context.topic("packet")
        let qos = context.plan.reliableQoS
        let size = payloadSize(ofPacket: announced, topic, qos)
        guard (0...context.plan.maximumPayload).contains(size) else {
            return .note(
                "the broker announces \(grouped(announced)) bytes; this was not tried, because --max-payload is smaller",
                announced: announced)
        }
        let client = try context.connect()
        func publish(_ size: Int) throws(LinkFailure) {
            try client.publish([
                ProbeClient.Message(topic: topic, payload: [UInt8](repeating: 0x78, count: size), qos: qos)
            ])
            try client.ping()
        }
        do throws(LinkFailure) {
            try publish(size)
        } catch {
            if error == .interrupted { throw error }
            if error == .silent { return .undecided(announced: announced) }
            return .violation(
                "the broker announces \(grouped(announced)) bytes, but refuses a packet of this size", nil,
                announced: announced)
        }
        let isMoreAllowed = try accepts(context) { () throws(LinkFailure) in try publish(size + 1) }
        return .note(
            "the broker announces \(grouped(announced)) bytes, a packet of this size works, "
                + (isMoreAllowed ? "and a larger packet works too" : "and a larger packet is refused"),
            found: announced, announced: announced)
    }

    /// Returns true if the broker accepts a packet that exceeds an announced limit.
    private static func accepts(
        _ context: ProbeContext, _ body: () throws(LinkFailure) -> Void
    ) throws(LinkFailure) -> Bool {
        do throws(LinkFailure) {
            try context.step(body)
            return true
        } catch {
            if error == .interrupted { throw error }
            return false
        }
    }

    private static func grouped(_ count: Int) -> String { BenchReport.grouped(count) }
}
