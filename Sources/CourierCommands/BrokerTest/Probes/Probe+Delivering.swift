import MQTTCodec

extension Probe {
    static let delivering: [Probe] =
        PacketQoS.allCases.map { qos in
            let clauses: [Clause] = [.delivery, Clause("4.3.2-2", v5: "4.3.2-4"), Clause("4.3.3-2", v5: "4.3.3-8")]
            return Probe("qos\(qos.rawValue)", "QoS \(qos.rawValue)", clauses[Int(qos.rawValue)]) {
                (context) throws(LinkFailure) in try deliver(context, qos)
            }
        } + [.v5("maximumQoS", "maximum QoS", "3.2.2-9", run: maximumQoS)]

    /// Publishes numbered messages, and counts them at a subscriber.
    private static func deliver(_ context: ProbeContext, _ qos: PacketQoS) throws(LinkFailure) -> ProbeOutcome {
        let topic = context.topic("qos")
        let subscriber = try context.connect()
        let granted: PacketQoS
        do throws(LinkFailure) {
            granted = try subscriber.subscribe(topic, qos)
        } catch {
            guard case .subscriptionRefused = error, qos > context.plan.maximumQoS else { throw error }
            return .violation(
                "the broker refuses subscriptions with this QoS", context.name(Clause(nil, v5: "3.2.2-10")))
        }
        if qos > context.plan.maximumQoS { return .unavailable }
        let publisher = try context.connect()
        let count = context.plan.messageCount
        let start = ContinuousClock.now
        try publisher.publish(
            (1...count).map { ProbeClient.Message(topic: topic, payload: Array("\($0)".utf8), qos: qos) })
        do throws(LinkFailure) {
            try subscriber.receive { ProbeClient.haveReceived(count, [subscriber]) }
        } catch {
            guard error == .silent else { throw error }
            return lost(context, qos, arrived: Set(subscriber.payloads).count)
        }
        let time = Examination.text(start.duration(to: .now))
        // The broker delivers this message after all copies of the earlier messages.
        try publisher.publish("end", to: topic, qos)
        try subscriber.receive { subscriber.messages.last?.payload == Array("end".utf8) }
        return judge(context, subscriber.messages.dropLast(), qos, granted, time)
    }

    private static func lost(_ context: ProbeContext, _ qos: PacketQoS, arrived: Int) -> ProbeOutcome {
        let count = context.plan.messageCount
        let text = "only \(arrived) of \(count) messages arrived within \(context.plan.timeLimit) seconds"
        // QoS 0 allows losses, so the loss of some messages is only a note and no broken rule.
        if qos == .atMostOnce, arrived > 0 { return .note(text, found: arrived) }
        var outcome = ProbeOutcome.violation(text, context.name(.delivery), found: arrived)
        outcome.advice =
            "If the broker restricts topics, allow the topics courier-test-… for this client. "
            + "If the network is slow, set a longer --timeout."
        return outcome
    }

    private static func judge(
        _ context: ProbeContext, _ messages: ArraySlice<Publish>, _ qos: PacketQoS, _ granted: PacketQoS, _ time: String
    ) -> ProbeOutcome {
        let count = context.plan.messageCount
        let numbers = messages.compactMap { Int(String(decoding: $0.payload, as: UTF8.self)) }
        let copies = numbers.count - count
        let text = "\(count) of \(count) messages arrived"
        if copies > 0, qos == .exactlyOnce, granted == .exactlyOnce {
            return .violation("\(text), but the broker also sent \(copies) copies", context.name(.exactlyOnce))
        }
        if let wrong = messages.first(where: { $0.delivery.qos != min(qos, granted) }) {
            return .violation(
                "\(text) with QoS \(wrong.delivery.qos.rawValue), although the broker granted QoS \(granted.rawValue)",
                context.name(.deliveredQoS))
        }
        if copies == 0, numbers != numbers.sorted() {
            return .violation("\(text), but in the wrong order", context.name(.order))
        }
        if granted < qos {
            return .note(
                "\(text), but the broker grants subscribers only QoS \(granted.rawValue) (\(time))", found: count)
        }
        let duplicates = copies > 0 ? ", and \(copies) copies, which QoS \(qos.rawValue) allows" : ""
        let once = qos == .exactlyOnce ? " exactly once" : ""
        return .works("\(text)\(once)\(duplicates) (\(time))", found: count)
    }

    /// Publishes one message with each QoS, until the broker refuses a QoS.
    private static func maximumQoS(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let announced = Int(context.plan.maximumQoS.rawValue)
        var found = 0
        for qos in [PacketQoS.atLeastOnce, .exactlyOnce] {
            let client = try context.connect()
            do throws(LinkFailure) {
                try context.step { () throws(LinkFailure) in try client.publish("", to: context.topic("maximum"), qos) }
                found = Int(qos.rawValue)
            } catch {
                if error == .interrupted { throw error }
                if error == .silent { return .undecided(announced: announced) }
                break
            }
        }
        if found < announced {
            return .violation(
                "the broker announces QoS \(announced), but accepts only QoS \(found)", "[MQTT-3.2.2-9]", found: found,
                announced: announced)
        }
        if found > announced {
            return .note(
                "the broker announces QoS \(announced), but QoS \(found) works too", found: found, announced: announced)
        }
        let text = "the broker announces QoS \(announced), and QoS \(found) works"
        return found == 2
            ? .works(text, found: found, announced: announced) : .note(text, found: found, announced: announced)
    }
}
