import MQTTCodec

extension Probe {
    static let retaining: [Probe] = [
        Probe("retainedMessages", "retained messages", Clause("3.3.1-6", v5: "3.3.1-9"), run: retainedMessages),
        .v5("retainHandling", "retain handling", "3.3.1-10", run: retainHandling),
        .v5("retainAsPublished", "retain as published", "3.3.1-13", run: retainAsPublished),
    ]

    private static func retainedMessages(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        if context.announced?.retain == false { return .unavailable }
        let topic = context.topic("retained")
        let publisher = try context.connect()
        let qos = context.plan.reliableQoS
        try context.retain("first", at: topic, by: publisher)
        let later = try context.connect()
        try later.subscribe(topic, qos)
        do throws(LinkFailure) {
            try later.receive { !later.messages.isEmpty }
        } catch {
            guard error == .silent else { throw error }
            return .violation(
                "a later subscriber does not receive the retained message",
                context.name(Clause("3.3.1-6", v5: "3.3.1-9")))
        }
        if later.messages.first?.isRetained == false {
            return .violation(
                "a later subscriber receives the message without the retain flag",
                context.name(Clause("3.3.1-8", v5: nil)))
        }
        try context.retain("second", at: topic, by: publisher)
        try later.receive { later.payloads.contains("second") }
        if later.messages.last?.isRetained == true {
            return .violation(
                "a subscriber receives a new message with the retain flag",
                context.name(Clause("3.3.1-9", v5: "3.3.1-12")))
        }
        if try payloads(context, topic, publisher).contains("first") {
            return .violation(
                "a new retained message does not replace the old one", context.name(Clause("3.3.1-5")))
        }
        try publisher.publish("", to: topic, qos, isRetained: true)
        if try !payloads(context, topic, publisher).isEmpty {
            return .violation(
                "an empty message does not remove the retained message", context.name(Clause("3.3.1-10", v5: "3.3.1-6"))
            )
        }
        return .works("kept, delivered to a later subscriber, replaced and removed")
    }

    /// Returns the payloads that a new subscriber receives before a live message.
    private static func payloads(
        _ context: ProbeContext, _ topic: String, _ publisher: ProbeClient
    ) throws(LinkFailure) -> [String] {
        let client = try context.connect()
        try client.subscribe(topic, context.plan.reliableQoS)
        try publisher.publish("live", to: topic, context.plan.reliableQoS)
        try client.receive { client.payloads.contains("live") }
        return client.payloads.filter { $0 != "live" }
    }

    private static func retainHandling(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        if context.announced?.retain == false { return .unavailable }
        let topic = context.topic("handling")
        let publisher = try context.connect()
        let qos = context.plan.reliableQoS
        try context.retain("kept", at: topic, by: publisher)
        /// Subscribes, and returns true if the retained message is received before a live message.
        func isSent(_ handling: Subscription.RetainHandling, to client: ProbeClient) throws(LinkFailure) -> Bool {
            client.forgetMessages()
            try client.subscribe([Subscription(topic, qos: qos, retainHandling: handling)])
            try publisher.publish("live", to: topic, qos)
            try client.receive { client.payloads.contains("live") }
            return client.payloads.contains("kept")
        }
        let client = try context.connect()
        if try isSent(.doNotSend, to: client) {
            return .violation("retain handling 2 (never) is ignored: the retained message is sent", "[MQTT-3.3.1-11]")
        }
        if try isSent(.sendIfNew, to: client) {
            return .violation(
                "retain handling 1 (new subscriptions) is ignored: the message is sent for an old subscription",
                "[MQTT-3.3.1-10]")
        }
        for (handling, name, clause) in [
            (.send, "0 (always)", "[MQTT-3.3.1-9]"), (.sendIfNew, "1 (new subscriptions)", "[MQTT-3.3.1-10]"),
        ] as [(Subscription.RetainHandling, String, String)] {
            let receiver = handling == .send ? client : try context.connect()
            if try isSent(handling, to: receiver) { continue }
            do throws(LinkFailure) {
                try receiver.receive { receiver.payloads.contains("kept") }
            } catch {
                guard error == .silent else { throw error }
                return .violation("retain handling \(name) is ignored: the retained message is not sent", clause)
            }
        }
        return .works("retain handling 0 (always), 1 (new subscriptions) and 2 (never) works")
    }

    private static func retainAsPublished(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        if context.announced?.retain == false { return .unavailable }
        let topic = context.topic("published")
        let subscriber = try context.connect()
        try subscriber.subscribe([Subscription(topic, qos: context.plan.reliableQoS, isRetainAsPublished: true)])
        let publisher = try context.connect()
        try context.retain("kept", at: topic, by: publisher)
        try publisher.publish("live", to: topic, context.plan.reliableQoS)
        try subscriber.receive { subscriber.messages.count >= 2 }
        return subscriber.messages.map(\.isRetained) == [true, false]
            ? .works("a subscriber can receive the retain flag of the publisher")
            : .violation("a subscriber does not receive the retain flag of the publisher", "[MQTT-3.3.1-13]")
    }
}
