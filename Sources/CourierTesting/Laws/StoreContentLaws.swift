import CourierCore
import Foundation

/// The laws about the content of a store, with one batch at a time.
enum StoreContentLaws {
    static func beginsEmpty(_ probe: StoreProbe) async throws {
        let summary = StoreSummary(outgoingCount: 0, incomingCount: 0, payloadBytes: 0, lastMessageID: nil)
        try require("the summary of a new store", try await probe.summary(), is: summary)
        let snapshot = try await probe.snapshot()
        try require(
            snapshot.outgoing.isEmpty && snapshot.incoming.isEmpty && snapshot.packetIDs.isEmpty
                && snapshot.subscriptions.isEmpty, "a new store holds \(brief(snapshot))")
    }

    static func keepsMessages(_ probe: StoreProbe) async throws {
        let properties = MessageProperties(
            contentType: "application/x-laws", payloadFormat: .utf8, responseTopic: "laws/answer",
            correlationData: Data([0, 255, 7]), messageExpiry: .seconds(90),
            userProperties: [.init("b", "1"), .init("a", ""), .init("b", "2")])
        let messages = [
            StoreProbe.message(1),
            StoredMessage(
                id: StoreProbe.id(2), topic: "caf\u{E9}/\u{1F69A}/\u{65E5}\u{672C}", payload: Array(0...255), qos: .two,
                isRetained: true, properties: properties, storedAt: StoreProbe.moment,
                expiresAt: Date.distantFuture),
            StoredMessage(
                id: StoreProbe.id(3), topic: "/", payload: [], qos: .one,
                properties: MessageProperties(correlationData: Data()), storedAt: StoreProbe.moment),
        ]
        try await probe.commit(messages.map { .enqueue($0) } + messages.map { .keep($0) })
        let outgoing = try await probe.outgoing()
        try require("the outgoing messages", outgoing, is: messages.map { StoredOutgoing($0, .queued) })
        try require("the incoming messages", try await probe.incoming(), is: messages)
    }

    static func readsInOrderOfIDs(_ probe: StoreProbe) async throws {
        // The messages are stored in this order of their ids, because it differs from the ascending and the descending
        // order of the ids, and from the order of the ids as decimal texts.
        for id in [40, 5, 300, 41, 6] as [UInt64] {
            try await probe.commit(.enqueue(StoreProbe.message(id)), .keep(StoreProbe.message(id)))
        }
        try require("the order of outgoing ids", try await probe.outgoingIDs(), is: [5, 6, 40, 41, 300])
        try require("the order of incoming ids", try await probe.incomingIDs(), is: [5, 6, 40, 41, 300])
    }

    static func pages(_ probe: StoreProbe) async throws {
        let ids = (1...25).map { UInt64($0 * 3) }
        try await probe.commit(ids.map { .enqueue(StoreProbe.message($0)) } + ids.map { .keep(StoreProbe.message($0)) })
        for limit in [1, 7, 25, 26] {
            try await pages(of: ids, limit, "outgoing") { try await probe.outgoingIDs(after: $0, limit: limit) }
            try await pages(of: ids, limit, "incoming") { try await probe.incomingIDs(after: $0, limit: limit) }
        }
        // If a message is removed between two pages, the next page begins after an id that no longer exists. The other
        // messages must still be found.
        try await probe.commit(.removeOutgoing(StoreProbe.id(6)), .removeIncoming(StoreProbe.id(6)))
        try require(
            "the page of outgoing messages after id 4", try await probe.outgoingIDs(after: 4, limit: 2), is: [9, 12])
        try require(
            "the page of incoming messages after id 4", try await probe.incomingIDs(after: 4, limit: 2), is: [9, 12])
        try require("a page of messages with the limit 0", try await probe.outgoingIDs(limit: 0), is: [])
    }

    private static func pages(
        of ids: [UInt64], _ limit: Int, _ direction: String, _ read: (UInt64?) async throws -> [UInt64]
    ) async throws {
        var found: [UInt64] = []
        while true {
            let page = try await read(found.last)
            try require(
                page.count <= limit, "a page has \(page.count) \(direction) messages, but the limit is \(limit)")
            if page.isEmpty { break }
            found += page
            try require(
                found.count <= ids.count,
                "with pages of \(limit) messages, an \(direction) message is returned twice: \(brief(found))")
        }
        try require("all \(direction) messages, read in pages of \(limit) messages", found, is: ids)
    }

    static func directionsAreSeparate(_ probe: StoreProbe) async throws {
        let (out, back) = (StoreProbe.message(1, topic: "out"), StoreProbe.message(1, topic: "in"))
        try await probe.commit(.enqueue(out), .keep(back))
        try require("the outgoing topics", try await probe.outgoing().map(\.message.topic), is: ["out"])
        try require("the incoming topics", try await probe.incoming().map(\.topic), is: ["in"])
        try await probe.commit(.removeIncoming(StoreProbe.id(1)))
        try require("outgoing ids after the removal of an incoming message", try await probe.outgoingIDs(), is: [1])
        try await probe.commit(.keep(back), .removeOutgoing(StoreProbe.id(1)))
        try require("incoming ids after the removal of an outgoing message", try await probe.incomingIDs(), is: [1])
    }

    static func progressIsKept(_ probe: StoreProbe) async throws {
        let messages = [StoreProbe.message(1, qos: .two), StoreProbe.message(2, qos: .two)]
        try await probe.commit(messages.map { .enqueue($0) })
        let course: [StoredOutgoing.Progress] = [
            .sent(packetID: 65_535), .sent(packetID: 1), .received(packetID: 1), .queued, .sent(packetID: 7),
        ]
        for progress in course {
            try await probe.commit(.progress(StoreProbe.id(1), progress))
            let expected = [StoredOutgoing(messages[0], progress), StoredOutgoing(messages[1], .queued)]
            try require(
                "the messages after a change of the progress to \(progress)", try await probe.outgoing(), is: expected)
            let sent: [UInt64] = progress == .queued ? [] : [1]
            try require(
                "the sent messages after a change of the progress to \(progress)", try await probe.sentIDs(), is: sent)
        }
        // A store must also find sent messages whose ids are far from each other, with many queued messages in between.
        try await probe.commit((3...1_200).map { .enqueue(StoreProbe.message($0)) })
        try await probe.commit(
            .progress(StoreProbe.id(700), .received(packetID: 8)), .progress(StoreProbe.id(1_200), .sent(packetID: 9)))
        try require("all sent messages", try await probe.sentIDs(), is: [1, 700, 1_200])
        try require("the first two sent messages", try await probe.sentIDs(limit: 2), is: [1, 700])
        try require("the sent message after id 1", try await probe.sentIDs(after: 1, limit: 1), is: [700])
        try require("the sent messages after the last id", try await probe.sentIDs(after: 1_200), is: [])
        try require("a page of sent messages with the limit 0", try await probe.sentIDs(limit: 0), is: [])
    }

    static func changesApplyInOrder(_ probe: StoreProbe) async throws {
        let filter = try TopicFilter("laws/#")
        try await probe.commit(
            .enqueue(StoreProbe.message(1)), .removeOutgoing(StoreProbe.id(1)),
            .enqueue(StoreProbe.message(2)), .progress(StoreProbe.id(2), .sent(packetID: 9)),
            .progress(StoreProbe.id(2), .received(packetID: 9)),
            .keep(StoreProbe.message(3)), .removeIncoming(StoreProbe.id(3)),
            .forgetPacketID(4), .rememberPacketID(4), .rememberPacketID(5), .forgetPacketID(5),
            .forgetSubscription(filter), .want(StoredSubscription(filter, .subscribed(.one))),
            .want(StoredSubscription(filter, .unsubscribing)))
        let outgoing = try await probe.outgoing()
        try require("the outgoing messages", outgoing.map(\.message.id.rawValue), is: [2])
        try require("the progress of the message", outgoing.map(\.progress), is: [.received(packetID: 9)])
        try require("the incoming messages", try await probe.incomingIDs(), is: [])
        try require("the packet ids", try await probe.packetIDs(), is: [4])
        let wanted = [StoredSubscription(filter, .unsubscribing)]
        try require("the subscriptions", try await probe.subscriptions(), is: wanted)

        try await probe.commit(.enqueue(StoreProbe.message(6)), .removeAll, .enqueue(StoreProbe.message(7)))
        try require("the outgoing messages before and after removeAll", try await probe.outgoingIDs(), is: [7])
        try require("the packet ids after removeAll", try await probe.packetIDs(), is: [])
        try require("the subscriptions after removeAll", try await probe.subscriptions(), is: [])
    }

    static func missingRowsAreNoError(_ probe: StoreProbe) async throws {
        let removals: [StoreChange] = [
            .progress(StoreProbe.id(9), .sent(packetID: 1)), .removeOutgoing(StoreProbe.id(9)),
            .removeIncoming(StoreProbe.id(9)), .removeExpired(at: StoreProbe.moment), .forgetPacketID(9),
            .forgetAllPacketIDs, .forgetSubscription(try TopicFilter("nobody/wanted/this")),
        ]
        let before = try await probe.snapshot()
        try await probe.commit(removals)
        try await probe.commit([])
        try require("an empty store after removals of missing entries", try await probe.snapshot(), is: before)

        try await probe.commit(.enqueue(StoreProbe.message(1)), .keep(StoreProbe.message(2)))
        let filled = try await probe.snapshot()
        try await probe.commit(removals)
        try await probe.commit(removals)
        try require("the store after removals of missing entries", try await probe.snapshot(), is: filled)
        try await probe.commit(.removeOutgoing(StoreProbe.id(1)), .removeIncoming(StoreProbe.id(2)))
        try await probe.commit(.removeOutgoing(StoreProbe.id(1)), .removeIncoming(StoreProbe.id(2)))
        try await probe.commit(.progress(StoreProbe.id(1), .received(packetID: 1)))
        try require(
            "the outgoing messages after a progress change of a removed message", try await probe.outgoingIDs(), is: [])
        try await probe.commit(.removeAll)
        try await probe.commit(.removeAll)
    }

    static func idsGrow(_ probe: StoreProbe) async throws {
        func check(_ expected: UInt64, _ when: String) async throws {
            let found = try await probe.summary().lastMessageID?.rawValue
            try require("the last message id after \(when)", found, is: expected)
        }
        try await probe.commit(.enqueue(StoreProbe.message(10)), .keep(StoreProbe.message(4)))
        try await check(10, "the addition of the outgoing message 10 and the incoming message 4")
        try await probe.commit(.keep(StoreProbe.message(12)))
        try await check(12, "the addition of the incoming message 12")
        try await probe.commit(.enqueue(StoreProbe.message(11)))
        try await check(12, "the addition of the outgoing message 11")
        try await probe.commit(
            .removeOutgoing(StoreProbe.id(10)), .removeOutgoing(StoreProbe.id(11)), .removeIncoming(StoreProbe.id(12)))
        try await check(12, "removals")
        try await probe.commit(.removeAll)
        try await check(12, "removeAll")
        try await probe.commit(.enqueue(StoreProbe.message(20)), .removeAll)
        try await check(20, "a batch that adds a message and removes everything")
    }

    static func incomingMatchesFilter(_ probe: StoreProbe) async throws {
        let topics = ["a", "a/b", "a/b/c", "a/x/c", "A/b", "$SYS/a", "/a", "a/"]
        let messages = topics.enumerated().map { StoreProbe.message(UInt64($0 + 1), topic: $1) }
        try await probe.commit(messages.map { .keep($0) })
        let filters = ["a", "a/#", "a/+", "a/+/c", "#", "+", "+/+", "$SYS/#", "$share/group/a/+", "b/#"]
        for filter in filters {
            let parsed = try TopicFilter(filter)
            let expected = try messages.filter { parsed.matches(try TopicName($0.topic)) }.map(\.id.rawValue)
            try require(
                "the messages that match the filter \(filter)", try await probe.incomingIDs(filter), is: expected)
        }
        let many = (100..<200).map { StoreProbe.message($0, topic: "noise") } + [StoreProbe.message(200, topic: "a/z")]
        try await probe.commit(many.map { .keep($0) })
        try require(
            "the first message that matches the filter a/z", try await probe.incomingIDs("a/z", limit: 1), is: [200])
        try require(
            "the first message after id 2 that matches the filter a/+",
            try await probe.incomingIDs("a/+", after: 2, limit: 1), is: [8])
    }

    static func expiryConcernsIncoming(_ probe: StoreProbe) async throws {
        let now = Date()
        let ends: [Date?] = [now - 3_600, now + 3_600, now + 3 * 3_600, nil]
        let messages = ends.enumerated().map { StoreProbe.message(UInt64($0 + 1), expiresAt: $1) }
        try await probe.commit(messages.map { .keep($0) } + messages.map { .enqueue($0) })
        try require("incoming messages that are not expired", try await probe.incomingIDs(), is: [2, 3, 4])
        try require("the first message that matches the filter #", try await probe.incomingIDs("#", limit: 1), is: [2])
        try await probe.commit(.removeExpired(at: now))
        try require("incoming messages after removeExpired", try await probe.incomingIDs(), is: [2, 3, 4])
        try require("the count of incoming messages", try await probe.summary().incomingCount, is: 3)
        try await probe.commit(.removeExpired(at: now + 2 * 3_600))
        try require("incoming messages after two hours", try await probe.incomingIDs(), is: [3, 4])
        try require("outgoing messages at the end", try await probe.outgoingIDs(), is: [1, 2, 3, 4])
    }

    static func packetIDsAreASet(_ probe: StoreProbe) async throws {
        try await probe.commit([1, 2, 65_535, 2].map { .rememberPacketID($0) })
        try require("the packet ids", try await probe.packetIDs(), is: [1, 2, 65_535])
        try await probe.commit(.forgetPacketID(2))
        try require("the packet ids after 2 is removed", try await probe.packetIDs(), is: [1, 65_535])
        try await probe.commit(.rememberPacketID(1))
        try await probe.commit(.forgetPacketID(1))
        try require("the packet ids after 1 is removed", try await probe.packetIDs(), is: [65_535])
        try await probe.commit((1...1_000).map { .rememberPacketID($0) })
        try require("the count of packet ids", try await probe.packetIDs().count, is: 1_001)
        try await probe.commit(.enqueue(StoreProbe.message(1)), .forgetAllPacketIDs)
        try require("the packet ids after all packet ids are removed", try await probe.packetIDs(), is: [])
        try require("the outgoing messages after all packet ids are removed", try await probe.outgoingIDs(), is: [1])
    }

    static func subscriptionsAreByFilter(_ probe: StoreProbe) async throws {
        // The last two filters look the same, but their bytes differ.
        let filters = try ["a/b", "A/b", "a/+", "$share/g/a/b", "caf\u{E9}", "cafe\u{301}"].map { try TopicFilter($0) }
        var wanted = filters.map { StoredSubscription($0, .subscribed(.one)) }
        try await probe.commit(wanted.map { .want($0) })
        try await compare("six filters", probe, wanted)
        wanted[0] = StoredSubscription(filters[0], .subscribed(.two))
        wanted[1] = StoredSubscription(filters[1], .unsubscribing)
        try await probe.commit(.want(wanted[0]), .want(wanted[1]))
        try await compare("a change of two filters", probe, wanted)
        wanted[1] = StoredSubscription(filters[1], .subscribed(.zero))
        try await probe.commit(.want(wanted[1]), .forgetSubscription(filters[4]))
        wanted.remove(at: 4)
        try await compare("the removal of one filter", probe, wanted)
    }

    private static func compare(_ what: String, _ probe: StoreProbe, _ wanted: [StoredSubscription]) async throws {
        let found = try await probe.subscriptions()
        try require("the count of subscriptions after \(what)", found.count, is: wanted.count)
        try require(Set(found) == Set(wanted), "the subscriptions after \(what) are \(brief(found))")
    }

    static func summaryCounts(_ probe: StoreProbe) async throws {
        try await probe.commit(
            .enqueue(StoreProbe.message(1, payload: [UInt8](repeating: 1, count: 1_000))),
            .enqueue(StoreProbe.message(2, payload: [])),
            .keep(StoreProbe.message(3, payload: [UInt8](repeating: 1, count: 30))))
        let full = StoreSummary(
            outgoingCount: 2, incomingCount: 1, payloadBytes: 1_030, lastMessageID: StoreProbe.id(3))
        try require("the summary", try await probe.summary(), is: full)
        try await probe.commit(.progress(StoreProbe.id(1), .sent(packetID: 1)), .rememberPacketID(1))
        try require("the summary after a message was sent", try await probe.summary(), is: full)
        try await probe.commit(.removeOutgoing(StoreProbe.id(1)))
        let less = StoreSummary(outgoingCount: 1, incomingCount: 1, payloadBytes: 30, lastMessageID: StoreProbe.id(3))
        try require("the summary after a removal", try await probe.summary(), is: less)
        try await probe.commit(.removeAll)
        let none = StoreSummary(outgoingCount: 0, incomingCount: 0, payloadBytes: 0, lastMessageID: StoreProbe.id(3))
        try require("the summary after removeAll", try await probe.summary(), is: none)
    }

    static func sessionIsKept(_ probe: StoreProbe) async throws {
        let first = StoreScope(clientID: "phone", broker: "one:1883")
        let second = StoreScope(clientID: "phone", broker: "two:1883")
        try await probe.commit(.rememberSession(first), .enqueue(StoreProbe.message(1)))
        guard let kept = try await probe.summary().session else {
            try await probe.commit(.rememberSession(second))
            return try require("the session of a store without sessions", try await probe.summary().session, is: nil)
        }
        try require("the session", kept, is: first)
        try await probe.commit(.rememberSession(second), .removeOutgoing(StoreProbe.id(1)), .forgetAllPacketIDs)
        try require("the second session", try await probe.summary().session, is: second)
        try await probe.commit(.removeAll)
        try require("the session after removeAll", try await probe.summary().session, is: nil)
    }

    static func scopesAreSeparate(_ probe: StoreProbe) async throws {
        // Two client ids look the same, but their bytes differ. The last two scopes would be equal if a store joined
        // the client id and the broker into one text.
        let probes = [
            probe.inScope(clientID: "a", broker: "one:1883"), probe.inScope(clientID: "a", broker: "two:1883"),
            probe.inScope(clientID: "b", broker: "one:1883"),
            probe.inScope(clientID: "caf\u{E9}", broker: "one:1883"),
            probe.inScope(clientID: "cafe\u{301}", broker: "one:1883"), probe.inScope(clientID: "a:b", broker: "c:1"),
            probe.inScope(clientID: "a", broker: "b:c:1"),
        ]
        for (index, scoped) in probes.enumerated() {
            try await scoped.commit(
                .enqueue(StoreProbe.message(1, topic: "out/\(index)")),
                .keep(StoreProbe.message(2, topic: "in/\(index)")),
                .rememberPacketID(UInt16(index + 1)),
                .want(StoredSubscription(try TopicFilter("in/\(index)"), .subscribed(.one))))
        }
        for (index, scoped) in probes.enumerated() { try await check(scoped, index) }
        let first = probes[0]
        try await first.commit(
            .progress(StoreProbe.id(1), .sent(packetID: 3)), .forgetAllPacketIDs, .removeIncoming(StoreProbe.id(2)))
        for (index, scoped) in probes.enumerated().dropFirst() { try await check(scoped, index) }
        try await first.commit(.removeAll)
        try require("the outgoing messages of an emptied scope", try await first.outgoingIDs(), is: [])
        for (index, scoped) in probes.enumerated().dropFirst() { try await check(scoped, index) }
    }

    private static func check(_ probe: StoreProbe, _ index: Int) async throws {
        let name = "in scope \(probe.scope.clientID) at \(probe.scope.broker)"
        let outgoing = try await probe.outgoing()
        try require("the outgoing messages \(name)", outgoing.map(\.message.topic), is: ["out/\(index)"])
        try require("the progress \(name)", outgoing.map(\.progress), is: [.queued])
        try require("the incoming messages \(name)", try await probe.incoming().map(\.topic), is: ["in/\(index)"])
        try require("packet ids \(name)", try await probe.packetIDs(), is: [UInt16(index + 1)])
        try require("filters \(name)", try await probe.subscriptions().map(\.filter.string), is: ["in/\(index)"])
        try require("the count of outgoing messages \(name)", try await probe.summary().outgoingCount, is: 1)
    }
}
