import CourierCore
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTTChuck

@Suite struct MQTTChuckQueryTests {
    private static let utc = TimeZone(secondsFromGMT: 0) ?? .current

    private func session() throws -> MQTTChuckLogger {
        let logger = MQTTChuckLogger.test()
        let phone = Recording(logger, id: 1, client: "Phone-7")
        try phone.send(.connect(Connect(version: .v5, clientID: "Phone-7")), at: 0)  // 1
        try phone.receive(.connAck(ConnAck()), at: 40)  // 2
        try phone.send(Recording.message("orders/7", "Ham and EGGS", id: 12, qos: .atLeastOnce), at: 1_000)  // 3
        try phone.receive(.pubAck(Acknowledgement(packetID: 12, reasonCode: .quotaExceeded)), at: 1_100)  // 4
        try phone.receive(Recording.message("orders/8/x", "tea", properties: [.topicAlias(1)]), at: 2_000)  // 5
        try phone.receive(Recording.message("", "more tea", properties: [.topicAlias(1)]), at: 3_000)  // 6
        let desk = Recording(logger, id: 2, client: "desk", version: .v311)
        try desk.send(
            .subscribe(Subscribe(packetID: 3, subscriptions: [Subscription("orders/7", qos: .atMostOnce)])),
            at: 3_600_000)  // 7
        try desk.receive(.subAck(SubAck(packetID: 3, reasonCodes: [.grantedQoS2])), at: 3_600_020)  // 8
        try desk.receive(
            .publish(
                Publish(topic: "alarm", payload: Array(String(repeating: "z", count: 2_000).utf8), isRetained: true)),
            at: 80_000_000)  // 9
        try desk.send(
            Recording.message("big", "q", id: 4, qos: .exactlyOnce, isDuplicate: true), at: 80_001_000)  // 10
        return logger
    }

    @Test(
        arguments: [
            ("", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), ("type:publish", [3, 5, 6, 9, 10]),
            ("TYPE:Publish,PUBACK", [3, 4, 5, 6, 9, 10]),
            ("-type:publish", [1, 2, 4, 7, 8]), ("dir:in", [2, 4, 5, 6, 8, 9]), ("dir:out", [1, 3, 7, 10]),
            ("topic:orders/#", [3, 5, 6, 7]), ("topic:orders/+", [3, 7]), ("topic:orders/8/x", [5, 6]),
            ("topic:#", [3, 5, 6, 7, 9, 10]),
            ("qos:0", [5, 6, 9]), ("qos:>0", [3, 10]), ("qos:>=2", [10]), ("qos:<1", [5, 6, 9]),
            ("qos:<=1", [3, 5, 6, 9]),
            ("client:PHONE", [1, 2, 3, 4, 5, 6]), ("-client:phone", [7, 8, 9, 10]), ("conn:2", [7, 8, 9, 10]),
            ("id:12", [3, 4]),
            ("id:3", [7, 8]), ("row:>8", [9, 10]), ("size:>1k", [9]), ("size:<=5", [2, 4, 8]), ("errors", [4]),
            ("-errors dir:in type:puback", []), ("took:>50ms", [3, 4]), ("took:<0.1s", nil),
            ("took:<=40ms", [1, 2, 7, 8]), ("-took:>0ms", [5, 6, 9, 10]), ("took:<1s dir:out", [1, 3, 7]),
            ("reason:0x97", [4]), ("reason:151", [4]), ("reason:2", [8]), ("retain:yes", [9]),
            ("retain:no qos:0", [5, 6]),
            ("dup:yes", [10]), ("after:13:00", [7, 8]), ("before:13:00", [1, 2, 3, 4, 5, 6, 9, 10]),
            ("after:12:00:01.1 before:12:00:03", [4, 5]), ("after:2026-02-01T00:00", [9, 10]),
            ("after:2026-01-31T12:00:02 before:2026-02-01T08:00:00", [5, 6, 7, 8]), ("eggs", [3]),
            ("\"ham and eggs\"", [3]),
            ("-tea dir:in", [2, 4, 8, 9]), ("\"quota exceeded\"", [4]), ("orders/8", [5, 6]),
            ("type:publish -topic:orders/# -alarm", [10]),
            ("http://x", []), ("\"type:publish\"", []), ("\"errors\"", []), ("\"a \\\" b\"", []),
            ("size:>0m", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ] as [(String, [UInt64]?)])
    func `a query returns exactly the rows that match its terms`(text: String, expected: [UInt64]?) throws {
        guard let expected else {
            #expect(throws: MQTTChuckQueryError.self) { try MQTTChuckQuery(text) }
            return
        }
        let query = try MQTTChuckQuery(text, timeZone: Self.utc)
        #expect(try session().rows(matching: query).rows.map(\.number) == expected)
    }

    @Test(
        arguments: [
            ("trace:4bf92f35", [2, 3, 5]), ("trace:4BF92F3577B34DA6A3CE929D0E0E4736", [2, 3, 5]),
            ("trace:4", [2, 3, 4, 5]),
            ("trace:00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", [2, 3, 5]), ("trace:f067aa", []),
            ("type:publish -trace:4", [1, 6, 7]), ("dir:in trace:4bf92f35", [3]),
        ] as [(String, [UInt64])])
    func `a query by trace id finds messages of all clients, including truncated messages`(
        text: String, expected: [UInt64]
    ) throws {
        var options = MQTTChuckOptions()
        options.packetMaxSize = 1_000
        let logger = MQTTChuckLogger.test(options)
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        func traced(_ text: String, _ value: String) throws -> Packet {
            try Recording.message("t", text, properties: [.userProperty(name: "traceparent", value: value)])
        }
        let phone = Recording(logger, id: 1, client: "phone")
        let desk = Recording(logger, id: 2, client: "desk")
        try phone.send(Recording.message("t", "4bf92f3577b34da6a3ce929d0e0e4736"), at: 0)  // 1
        try phone.send(traced("x", parent), at: 1)  // 2
        try desk.receive(traced("x", parent), at: 2)  // 3
        try desk.send(traced("x", "00-4af92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), at: 3)  // 4
        try desk.send(traced(String(repeating: "x", count: 2_000), parent), at: 4)  // 5
        try desk.send(traced("x", "00-4bf92f35-00f067aa0ba902b7-01"), at: 5)  // 6
        try desk.send(
            Recording.message(
                "t", properties: [.userProperty(name: "traceparent", value: parent.uppercased())]), at: 6)  // 7
        #expect(try logger.rows(matching: MQTTChuckQuery(text)).rows.map(\.number) == expected)
        let contexts = logger.rows().rows.map { $0.traceContext?.traceparent }
        #expect(contexts[1] == parent && contexts[4] == parent && contexts[0] == nil && contexts[5] == nil)
        let fields = try #require(logger.details(of: 2)).fields
        #expect(fields.contains(MQTTChuckField("trace id", "4bf92f3577b34da6a3ce929d0e0e4736")))
    }

    @Test(arguments: [
        ("2026-03-29T12:00", 1_774_778_400), ("2026-03-29T01:30", 1_774_744_200), ("2026-03-30T00:00", 1_774_821_600),
        ("2026-03-29T24:00", 1_774_821_600), ("2026-10-25T12:00", 1_792_926_000),
        ("2026-10-25T23:59:60", 1_792_969_200),
    ])
    func `date and time in a query are local, also on days when the clocks change`(text: String, seconds: Int) throws {
        let timeZone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let logger = MQTTChuckLogger.test()
        let phone = Recording(logger)
        let moment = (seconds - Int(Recording.opened.timeIntervalSince1970)) * 1_000
        try phone.send(Recording.message("t", "a second before"), at: moment - 1_000)  // 1
        try phone.send(Recording.message("t", "then"), at: moment)  // 2
        try phone.send(Recording.message("t", "250 ms later"), at: moment + 250)  // 3
        func numbers(_ query: String) throws -> [UInt64] {
            try logger.rows(matching: MQTTChuckQuery(query, timeZone: timeZone)).rows.map(\.number)
        }
        #expect(try numbers("after:\(text)") == [2, 3])
        #expect(try numbers("before:\(text)") == [1])
        if text.hasSuffix("T12:00") { #expect(try numbers("after:\(text):00.250") == [3]) }
    }

    @Test func `a query by round-trip time finds all packets of an exchange, in pages and in exports`() throws {
        let logger = MQTTChuckLogger.test()
        let phone = Recording(logger)
        for number in 1...400 {  // Rows 1 to 400: exchanges that stay open while others go on.
            try phone.send(
                Recording.message("slow", id: PacketID(rawValue: UInt16(number)), qos: .exactlyOnce), at: number)
        }
        let id = try #require(PacketID(rawValue: 7))
        try phone.receive(.pubRec(Acknowledgement(packetID: id)), at: 1_000)  // 401
        try phone.send(.pubRel(Acknowledgement(packetID: id)), at: 1_001)  // 402
        for number in 0..<300 { try phone.receive(Recording.message("t/\(number)"), at: 1_002) }  // 403 to 702
        try phone.receive(.pubComp(Acknowledgement(packetID: id)), at: 5_007)  // 703
        let query = try MQTTChuckQuery("took:=5000ms")
        let expected: [UInt64] = [7, 401, 402, 703]
        #expect(logger.rows(matching: query).rows.map(\.number) == expected)
        #expect(logger.rows(before: .max, matching: query).rows.map(\.number) == expected)
        #expect(logger.rows(from: 402, matching: query).rows.map(\.number) == [402, 703])
        let lines = String(decoding: logger.exported(.text, matching: query), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 4)
        // An exchange that is still open has no round-trip time yet.
        #expect(try logger.rows(matching: MQTTChuckQuery("took:>0us type:publish")).rows.map(\.number) == [7])
    }

    @Test(arguments: [
        ("type:publish,pub", 14), ("dir:up", 5), ("qos:3", 5), ("qos:>x", 6), ("topic:a/#/b", 7), ("id:70000", 4),
        ("foo:1", 1),
        ("dir:in  -foo:1", 10), ("\"open", 1), ("dir:in -", 8), ("after:25:00", 7), ("after:2026-13-01T10:00", 7),
        ("took:5", 6),
        ("type:", 6), ("retain:maybe", 8), ("size:9999999999999999m", 6), ("id:-1", 4), ("é dir:up", 7),
        ("trace:xyz", 7), ("-trace:123456789012345678901234567890123", 8), ("trace:", 7),
    ])
    func `an invalid query throws an error with the column of the mistake`(text: String, column: Int) throws {
        let error = #expect(throws: MQTTChuckQueryError.self) { try MQTTChuckQuery(text) }
        #expect(error?.column == column, "\(error?.pointer ?? "")")
        #expect(error?.message.isEmpty == false)
    }

    @Test func `the pointer of a query error marks the mistake with a caret and explains the correct form`() {
        let error = #expect(throws: MQTTChuckQueryError.self) { try MQTTChuckQuery("qos:1 dir:up") }
        #expect(
            error?.pointer
                == "qos:1 dir:up\n          ^ write dir:in for packets from the broker, dir:out for packets to it")
    }

    @Test func `a query that combines all terms of the query help is valid`() throws {
        let words = MQTTChuckQuery.help.prefix { $0 != "–" }.replacing("dir:in|out", with: "dir:in")
        #expect(throws: Never.self) { try MQTTChuckQuery(String(words)) }
    }

    @Test func `a text search matches the text that the app's payload parser returns`() throws {
        var options = MQTTChuckOptions()
        options.dataStringParser = { $0 == Data([1, 2]) ? "Apple" : nil }
        let logger = MQTTChuckLogger.test(options)
        try Recording(logger).send(
            .publish(Publish(topic: "t", payload: [1, 2])), .publish(Publish(topic: "t", payload: [3])))
        #expect(logger.rows(matching: try MQTTChuckQuery("apple")).rows.map(\.number) == [1])
    }
}
