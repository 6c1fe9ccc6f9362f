import CourierCore
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTTChuck

@Suite struct MQTTChuckExportTests {
    @Test(arguments: [MQTTCodec.ProtocolVersion.v31, .v311, .v5])
    func `importing a JSON Lines export restores the same rows, and a new export has the same bytes`(
        version: MQTTCodec.ProtocolVersion
    )
        throws
    {
        let logger = MQTTChuckLogger.test()
        try Recording(logger, version: version).everything()
        let lines = logger.exported(.jsonLines)
        let copy = MQTTChuckLogger.test()
        #expect(try copy.importJSONLines(lines) == logger.summary.rowCount)
        #expect(copy.rows().rows == logger.rows().rows)
        #expect(copy.exported(.jsonLines) == lines)
        #expect(copy.exported(.text) == logger.exported(.text))
        #expect(copy.metrics.traffic == logger.metrics.traffic)
        for row in logger.rows().rows { #expect(copy.details(of: row.number) == logger.details(of: row.number)) }
    }

    @Test func `imported rows have topic and round-trip time even if the first packet was not exported`() throws {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 3
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger)
        try recording.send(Recording.message("topic", id: 1, qos: .atLeastOnce, properties: [.topicAlias(4)]), at: 0)
        try recording.send(Recording.message("", properties: [.topicAlias(4)]), at: 5)
        try recording.send(.pingReq, at: 6)
        try recording.receive(.pubAck(Acknowledgement(packetID: 1)), at: 25)
        let copy = MQTTChuckLogger.test()
        try copy.importJSONLines(logger.exported(.jsonLines))
        let rows = copy.rows().rows
        #expect(rows == logger.rows().rows)
        #expect(rows.map(\.number) == [2, 3, 4])
        #expect(rows[0].topic == "topic")
        #expect(rows[2].roundTrip == .milliseconds(25))
        #expect(rows[2].exchange == 1)
    }

    @Test func `a topic alias used 6000 times resolves to its topic on all rows after an import`() throws {
        // So many uses would fill the memory for topics if each use needed memory.
        let count = 6_000
        let topic = String(repeating: "t", count: 200)
        let alias: PacketProperties = [.topicAlias(1)]
        let logger = MQTTChuckLogger.test()
        try Recording(logger).observe(
            .incoming,
            [Recording.message(topic, properties: alias)]
                + (0..<count).map { _ in try Recording.message("", properties: alias) })
        let copy = MQTTChuckLogger.test()
        try copy.importJSONLines(logger.exported(.jsonLines))
        let rows = copy.rows(limit: .max).rows
        #expect(rows.count == count + 1)
        #expect(rows.allSatisfy { $0.topic == topic })

        // The topic is also known if a rule hides the topic in each message.
        var options = MQTTChuckOptions()
        options.redaction.topics = [.init(try TopicFilter("t/#"), hidesTopic: true)]
        let hiding = MQTTChuckLogger.test(options)
        let hidden = "t/" + topic
        try Recording(hiding).observe(
            .incoming,
            [Recording.message(hidden, properties: alias), Recording.message("", properties: alias)]
                + (0..<count).map { _ in try Recording.message(hidden, properties: alias) })
        #expect(hiding.rows(from: 2, limit: 1).rows.first?.topic == String(repeating: "*", count: hidden.utf8.count))
    }

    @Test func `an import adds rows after the existing rows, with separate connections and exchanges`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        try recording.send(Recording.message("mine", id: 1, qos: .atLeastOnce))
        let file = logger.exported(.jsonLines)
        #expect(try logger.importJSONLines(file) == 1)
        try recording.receive(.pubAck(Acknowledgement(packetID: 1)), at: 2)
        let rows = logger.rows().rows
        #expect(rows.map(\.number) == [1, 2, 3])
        #expect(rows[1].connection.id != rows[0].connection.id)
        #expect(rows.map(\.exchange) == [1, 2, 1])
    }

    @Test func `an export with a query contains only the matching rows`() throws {
        let logger = MQTTChuckLogger.test()
        try Recording(logger).everything()
        let query = try MQTTChuckQuery("type:pingreq,pingresp")
        #expect(
            String(decoding: logger.exported(.text, matching: query), as: UTF8.self).split(separator: "\n").count == 2)
        #expect(
            String(decoding: logger.exported(.jsonLines, matching: query), as: UTF8.self).split(separator: "\n").count
                == 3)
    }

    @Test func `a text export has one line per packet and escapes control characters`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        try recording.send(
            Recording.message(
                "a\u{1B}[31mb", "two\nlines\u{7}", id: 3, qos: .atLeastOnce,
                properties: [.userProperty(name: "n\n", value: "\u{9B}v\u{202E}")]),
            at: 1_234)
        try recording.receive(.pubAck(Acknowledgement(packetID: 3, reasonCode: .quotaExceeded)), at: 1_240)
        let text = String(decoding: logger.exported(.text), as: UTF8.self)
        #expect(
            text == """
                #1 2026-01-31T12:00:01.234000000Z -> phone-7@broker.example.com:8883/1 PUBLISH id 3 QoS 1 \
                a\\u{1b}[31mb \
                [n : \\u{9b}v\\u{202e}] \(logger.rows().rows[0].size) bytes | 74776F0A6C696E657307
                #2 2026-01-31T12:00:01.240000000Z <- phone-7@broker.example.com:8883/1 PUBACK id 3 \
                Quota exceeded (0x97) 5 bytes after 6.000 ms

                """)
    }

    @Test(arguments: [
        ("{}\nnonsense", 2), ("{\"packet\":{}}", 1), ("[1]", 1),
        (
            #"{"connection":{"id":1,"ordinal":1,"clientId":"c","host":"h","port":1,"alpn":[],"protocol":"6","#
                + #""opened":"2026-01-31T12:00:00.000000000Z"}}"#,
            1
        ),
        (
            #"{"packet":{"number":1,"time":"2026-01-31T12:00:00.000000000Z","direction":"in","connection":9,"type":"","#
                + #""size":2,"bytes":"0AA="}}"#,
            1
        ),
    ])
    func `an import error reports the number of the invalid line`(text: String, line: Int) {
        let error = #expect(throws: MQTTChuckImportError.self) {
            try MQTTChuckLogger.test().importJSONLines(Data(text.utf8))
        }
        #expect(error?.line == line)
    }

    @Test func `a recorded session contains all packets and delays, and its credentials can be replaced`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger, version: .v311)
        try recording.everything()
        let session = try #require(logger.recordedSessions().first)
        #expect(session.isComplete)
        let rows = logger.rows().rows
        #expect(session.steps.count == rows.count)
        #expect(session.steps.map(\.direction) == rows.map(\.direction))
        #expect(session.steps.first?.delay == .zero)
        #expect(session.steps.dropFirst().allSatisfy { $0.delay == .milliseconds(10) })
        let sent = session.steps(.outgoing)
        #expect(
            sent.reduce(Duration.zero) { $0 + $1.delay }
                == .nanoseconds(
                    (rows.last { $0.direction == .outgoing }?.timeNanoseconds ?? 0) - rows[0].timeNanoseconds))
        let replaced = session.replacingCredentials(username: "eve", password: "other")
        let expected = try Recording.encode(
            [
                .connect(
                    Connect(
                        version: .v311, clientID: "phone-7", isCleanStart: false, keepAlive: 30, username: "eve",
                        password: SecretBytes("other"),
                        will: Connect.Will(topic: "will/phone-7", payload: Array("gone".utf8), qos: .atLeastOnce)))
            ], .v311, .outgoing)
        #expect(replaced.steps[0].bytes == expected)
        #expect(replaced.steps.dropFirst() == session.steps.dropFirst())
        logger.clear()
        try recording.receive(.pingResp)
        #expect(logger.recordedSessions().first?.isComplete == false)
    }

    @Test func `a time is written and parsed with nanosecond precision`() {
        for nanoseconds in [
            0, 1, -1, 951_782_400_000_000_001, 1_709_164_799_999_999_999, -86_400_000_000_000,
            4_102_444_800_000_000_000,
        ] as [Int64] {
            #expect(WrittenTime.nanoseconds(WrittenTime.text(nanoseconds)) == nanoseconds)
        }
        #expect(WrittenTime.text(951_782_400_000_000_001) == "2000-02-29T00:00:00.000000001Z")
        #expect(WrittenTime.nanoseconds("2026-02-30T00:00:00.000000000Z") == nil)
        #expect(WrittenTime.nanoseconds("yesterday") == nil)
    }
}
