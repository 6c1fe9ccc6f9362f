import MQTTCodec

extension Probe {
    static let filtering: [Probe] = [
        Probe("wildcardPlus", "wildcard +", .delivery) { (context) throws(LinkFailure) in
            try match(
                context, "+/end", matching: ["a/end", "/end", "z/end"], others: ["a/b/end", "end", "a/ends"],
                works: "+ stands for exactly one level, and the level may be empty")
        },
        Probe("wildcardHash", "wildcard #", .delivery) { (context) throws(LinkFailure) in
            try match(
                context, "in/#", matching: ["in", "in/a", "in/a/b", "in/z"], others: ["into", "other/in/a"],
                works: "# stands for any number of levels, or for no level")
        },
        Probe("dollarTopics", "topics with $", Clause("4.7.2-1"), run: dollarTopics),
        Probe("overlappingFilters", "overlapping filters", Clause("3.3.5-1", v5: "3.3.4-2"), run: overlappingFilters),
    ]

    /// Subscribes to a filter, publishes to topics below the root of the context, and compares the received topics.
    private static func match(
        _ context: ProbeContext, _ filter: String, matching: [String], others: [String], works: String
    ) throws(LinkFailure) -> ProbeOutcome {
        if context.announced?.wildcardSubscriptions == false { return .unavailable }
        let qos = context.plan.reliableQoS
        let subscriber = try context.connect()
        try subscriber.subscribe(context.topic(filter), qos)
        let publisher = try context.connect()
        // The last topic of this list matches the filter. Its message arrives after the messages of all other topics,
        // so no message is missed.
        for name in matching.dropLast() + others + matching.suffix(1) {
            try publisher.publish(name, to: context.topic(name), qos)
        }
        do throws(LinkFailure) {
            try subscriber.receive { Set(matching).isSubset(of: subscriber.payloads) }
        } catch {
            guard error == .silent else { throw error }
            let missing = matching.filter { !subscriber.payloads.contains($0) }.map { "…/\($0)" }
            return .violation(
                "the filter …/\(filter) does not match \(missing.joined(separator: ", "))", context.name(.delivery))
        }
        if let wrong = subscriber.payloads.first(where: { !matching.contains($0) }) {
            return .violation("the filter …/\(filter) also matches …/\(wrong)", context.name(.matching))
        }
        return .works(works)
    }

    private static func dollarTopics(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        if context.announced?.wildcardSubscriptions == false { return .unavailable }
        let qos = context.plan.reliableQoS
        let name = context.root.replacing("/", with: "-")
        let subscriber = try context.connect()
        try subscriber.subscribe("+/\(name)", qos)
        let publisher = try context.connect()
        do throws(LinkFailure) {
            try context.step { () throws(LinkFailure) in try publisher.publish("hidden", to: "$courier/\(name)", qos) }
        } catch {
            if error == .interrupted { throw error }
            return .works("the broker refuses messages to topics that begin with $")
        }
        let other = try context.connect()
        try other.publish("end", to: "courier-test-\(context.plan.randomPart)/\(name)", qos)
        try subscriber.receive { subscriber.payloads.contains("end") }
        return subscriber.payloads.contains("hidden")
            ? .violation("the wildcard + at the beginning of a filter matches $courier", "[MQTT-4.7.2-1]")
            : .works("a wildcard at the beginning of a filter does not match topics that begin with $")
    }

    private static func overlappingFilters(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        if context.announced?.wildcardSubscriptions == false { return .unavailable }
        let qos = context.plan.reliableQoS
        let subscriber = try context.connect()
        try subscriber.subscribe([
            Subscription(context.topic("+"), qos: .atMostOnce), Subscription(context.topic("a"), qos: qos),
        ])
        let publisher = try context.connect()
        for payload in ["message", "end"] { try publisher.publish(payload, to: context.topic("a"), qos) }
        try subscriber.receive {
            subscriber.messages.contains { $0.delivery.qos == qos && $0.payload == Array("end".utf8) }
        }
        let copies = subscriber.messages.filter { $0.payload == Array("message".utf8) }
        guard copies.contains(where: { $0.delivery.qos == qos }) else {
            return .violation(
                "a message that matches two filters does not arrive with the higher QoS",
                context.name(Clause("3.3.5-1", v5: "3.3.4-2")))
        }
        return copies.count == 1
            ? .works("a message that matches two filters arrives once", found: 1)
            : .works("a message that matches two filters arrives once for each filter", found: copies.count)
    }
}
