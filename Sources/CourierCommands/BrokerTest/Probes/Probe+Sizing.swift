import CourierTransport
import MQTTCodec

extension Probe {
    /// The largest size of a text in MQTT.
    private static let textLimit = 65_535
    /// The client id that every broker must accept has this number of letters and digits. [MQTT-3.1.3-5]
    private static let guaranteedClientID = 23

    private static let mqttLimit = "the maximum that MQTT allows"

    static let sizing: [Probe] = [
        Probe("longestClientID", "longest client id", Clause("3.1.3-5"), run: longestClientID),
        Probe("longestTopic", "longest topic") { (context) throws(LinkFailure) in
            let start = context.topic("long/")
            return try search(context, start.utf8.count + 1...textLimit, "byte", below: context.topic("long")) {
                count in
                (start + String(repeating: "t", count: count - start.utf8.count), [])
            }
        },
        Probe("topicLevels", "most topic levels") { (context) throws(LinkFailure) in
            let start = context.topic("levels")
            let first = start.split(separator: "/").count
            let most = first + (textLimit - start.utf8.count) / 2
            return try search(context, first + 1...most, "level", below: start) { count in
                (start + String(repeating: "/l", count: count - first), [])
            }
        },
        Probe("largestPayload", "largest payload") { (context) throws(LinkFailure) in
            let topic = context.topic("large")
            var limit = context.plan.maximumPayload
            var top = "the largest size that was tried (--max-payload)"
            if let packet = context.announced?.maximumPacketSize, context.version >= .v5 {
                let size = max(1, payloadSize(ofPacket: Int(packet), topic, context.plan.reliableQoS))
                if size < limit { (limit, top) = (size, "the largest size that the announced packet size allows") }
            }
            return try search(context, 0...limit, "byte", top: top, below: topic) { count in
                (topic, [UInt8](repeating: 0x78, count: count))
            }
        },
    ]

    /// Returns the size of the payload that makes an MQTT 5 PUBLISH without properties exactly `size` bytes large.
    static func payloadSize(ofPacket size: Int, _ topic: String, _ qos: PacketQoS) -> Int {
        // The size of the fixed header: one byte for the type, and 1 to 4 bytes for the remaining length. For example,
        // a remaining length of up to 127 needs one byte, so the whole packet has up to 129 bytes.
        let header = 1 + (size <= 129 ? 1 : size <= 16_386 ? 2 : size <= 2_097_155 ? 3 : 4)
        return size - header - 2 - topic.utf8.count - (qos == .atMostOnce ? 0 : 2) - 1
    }

    private static func longestClientID(_ context: ProbeContext) throws(LinkFailure) -> ProbeOutcome {
        let start = "courier\(context.plan.randomPart)"
        func id(_ count: Int) -> String { start + String(repeating: "i", count: count - start.utf8.count) }
        do throws(LinkFailure) {
            try context.leave(try context.connect(id(guaranteedClientID)))
        } catch {
            guard error == .refused(.clientIdentifierNotValid) else { throw error }
            return .violation(
                "the broker refuses a client id of \(guaranteedClientID) letters and digits", "[MQTT-3.1.3-5]")
        }
        return try result(context, LimitSearch(guaranteedClientID...textLimit), "byte") { count throws(LinkFailure) in
            try context.leave(try context.connect(id(count)))
            return true
        }
    }

    /// Finds the largest message of one kind that arrives at a subscriber.
    ///
    /// `unit` is the unit of the size in the singular. `top` is the reason why no size above `range` is tried. All topics
    /// of the messages begin with the levels of `root`. `message` returns the topic and the payload of a size.
    private static func search(
        _ context: ProbeContext, _ range: ClosedRange<Int>, _ unit: String, top: String = mqttLimit, below root: String,
        _ message: (Int) -> (topic: String, payload: [UInt8])
    ) throws(LinkFailure) -> ProbeOutcome {
        if context.announced?.wildcardSubscriptions == false { return .note("not tried: the probe needs wildcards") }
        let qos = context.plan.reliableQoS
        var pair: (subscriber: ProbeClient, publisher: ProbeClient)?
        return try result(context, LimitSearch(range), unit, top: top) { count throws(LinkFailure) in
            do throws(LinkFailure) {
                if pair == nil {
                    let clients = (subscriber: try context.connect(), publisher: try context.connect())
                    try clients.subscriber.subscribe("\(root)/#", qos)
                    pair = clients
                }
                guard let (subscriber, publisher) = pair else { return false }
                let (topic, payload) = message(count)
                subscriber.forgetMessages()
                try publisher.publish([ProbeClient.Message(topic: topic, payload: payload, qos: qos)])
                // If the broker drops the large message, only this second message arrives.
                let end = topic == root ? root : "\(root)/end"
                try publisher.publish("end", to: end, qos)
                try subscriber.receive { subscriber.payloads.contains("end") }
                return subscriber.messages.first.map { $0.topic == topic && $0.payload == payload } ?? false
            } catch {
                for client in [pair?.subscriber, pair?.publisher].compactMap(\.self) { context.cut(client) }
                pair = nil
                throw error
            }
        }
    }

    /// Searches for the largest size that works, until the limit is found or the time is over. `top` is the reason why no
    /// larger size is tried.
    private static func result(
        _ context: ProbeContext, _ search: LimitSearch, _ unit: String, top: String = mqttLimit,
        _ works: (Int) throws(LinkFailure) -> Bool
    ) throws(LinkFailure) -> ProbeOutcome {
        var search = search
        var refusal: LinkFailure?
        while let size = search.next {
            guard context.events.now < context.deadline else {
                return .note(
                    "at least \(text(search.works, unit)); the time limit ended the search", found: search.works)
            }
            do throws(LinkFailure) {
                let doesWork = try context.step { () throws(LinkFailure) in try works(size) }
                if !doesWork { refusal = nil }
                search.tried(size, works: doesWork)
            } catch {
                if case .subscriptionRefused = error { throw error }
                if error == .interrupted { throw error }
                refusal = error
                search.tried(size, works: false)
            }
        }
        if search.isUnlimited { return .works("\(text(search.works, unit)), \(top)", found: search.works) }
        let reaction =
            if case .transport(let error) = refusal, error.code == .reset {
                "the broker resets the connection"
            } else {
                refusal?.text(timeLimit: max(1, context.plan.timeLimit / 4)) ?? "the broker drops the message"
            }
        let outcome = "\(text(search.works, unit)); with one more, \(reaction)"
        // If the broker sends a packet that is not valid MQTT, it breaks a rule, although the limit itself is allowed.
        if case .unreadable = refusal {
            return .violation(outcome, context.name(Clause(nil, v5: "3.4.2-1")), found: search.works)
        }
        return .note(outcome, found: search.works)
    }

    private static func text(_ count: Int, _ unit: String) -> String {
        "\(BenchReport.grouped(count)) \(unit)\(count == 1 ? "" : "s")"
    }
}
