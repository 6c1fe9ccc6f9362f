import CourierCore
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTTChuck

@Suite struct MQTTChuckRedactionTests {
    /// All data that can be read from a logger, as one text.
    private func everything(of logger: MQTTChuckLogger) throws -> String {
        var text = ""
        for format in MQTTChuckExportFormat.allCases {
            let data = logger.exported(format)
            text += String(decoding: data, as: UTF8.self)
            // The packets in these lines are Base64, so they are decoded before the search for secrets.
            for line in data.split(separator: UInt8(ascii: "\n")) where format == .jsonLines {
                guard let packet = try JSONDecoder().decode(RecordedLine.self, from: Data(line)).packet else {
                    continue
                }
                text += String(decoding: packet.bytes, as: UTF8.self)
            }
        }
        for row in logger.rows(limit: .max).rows {
            let details = try #require(logger.details(of: row.number))
            text += "\(row)\(details)" + String(decoding: details.bytes, as: UTF8.self)
            dump(details, to: &text)
        }
        text += "\(logger.connections)\(logger.metrics)\(logger.metrics.prometheusText)"
        for session in logger.recordedSessions() {
            text += session.steps.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        }
        dump(logger, to: &text)
        return text
    }

    @Test(arguments: [MQTTCodec.ProtocolVersion.v31, .v311, .v5])
    func `no export, row or description holds a password, a token or authentication data`(
        version: MQTTCodec.ProtocolVersion
    ) throws {
        let logger = MQTTChuckLogger.test()
        try Recording(logger, version: version).everything()
        let text = try everything(of: logger)
        for secret in ["hunter2-secret", "tok-secret-1", "auth-secret"] { #expect(!text.contains(secret)) }
        #expect(text.contains("phone-7"))
        #expect(text.contains("orders/1"))
        if version == .v5 { #expect(text.contains("x-auth-Token")) }
    }

    @Test func `the value of a user property with a secret name is hidden in all packets`() throws {
        var options = MQTTChuckOptions()
        options.redaction.userPropertyNames = ["Session"]
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger)
        let secret: PacketProperties = [
            .userProperty(name: "my-sESSION-id", value: "find-me"), .userProperty(name: "plain", value: "shown-value"),
        ]
        try recording.send(
            .connect(
                Connect(
                    version: .v5, clientID: "phone-7",
                    will: Connect.Will(topic: "w", payload: [1], properties: secret), properties: secret)))
        try recording.receive(.connAck(ConnAck(properties: secret)))
        try recording.send(
            .publish(Publish(topic: "t", payload: [1, 2], properties: secret)),
            .subscribe(
                Subscribe(packetID: 1, subscriptions: [Subscription("a", qos: .atMostOnce)], properties: secret)),
            .pubAck(Acknowledgement(packetID: 9, reasonCode: .unspecifiedError, properties: secret)),
            .unsubscribe(Unsubscribe(packetID: 2, filters: ["a"], properties: secret)),
            .disconnect(Disconnect(properties: secret)))
        try recording.receive(
            .subAck(SubAck(packetID: 1, reasonCodes: [.success], properties: secret)),
            .unsubAck(UnsubAck(packetID: 2, reasonCodes: [.success], properties: secret)),
            .pubRec(Acknowledgement(packetID: 9, reasonCode: .unspecifiedError, properties: secret)))
        let rows = logger.rows().rows
        #expect(rows.count == 10)
        #expect(rows.compactMap(\.problem) == [])
        for row in rows {
            #expect(row.properties.map(\.value) == ["*******", "shown-value"], "\(row.typeName)")
        }
        #expect(!(try everything(of: logger)).contains("find-me"))
    }

    @Test func `a topic rule hides payloads, even if a topic alias is used, and hides topics if hidesTopic is true`()
        throws
    {
        var options = MQTTChuckOptions()
        options.redaction.topics = [
            .init(try TopicFilter("patients/#")), .init(try TopicFilter("+/top-secret"), hidesTopic: true),
        ]
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger)
        try recording.send(
            Recording.message(
                "patients/7", "find-me", properties: [.topicAlias(1), .correlationData(Array("find-me".utf8))]),
            Recording.message("", "find-me", properties: [.topicAlias(1), .userProperty(name: "n", value: "find-me")]),
            Recording.message("weather", "sunny"),
            Recording.message("the/top-secret", "find-me", properties: [.topicAlias(2)]),
            Recording.message("", "find-me", properties: [.topicAlias(2), .responseTopic("other/top-secret")]),
            .subscribe(
                Subscribe(
                    packetID: 1,
                    subscriptions: [
                        Subscription("the/top-secret", qos: .atMostOnce), Subscription("w", qos: .atMostOnce),
                    ])),
            .unsubscribe(Unsubscribe(packetID: 2, filters: ["$share/g/the/top-secret"])))
        let third = Recording(logger, id: 2, version: .v311)
        try third.receive(Recording.message("patients/8", "find-me"))
        try third.send(
            .connect(
                Connect(
                    version: .v311, clientID: "c",
                    will: Connect.Will(topic: "patients/9", payload: Array("find-me".utf8)))))
        let rows = logger.rows().rows
        #expect(rows.compactMap(\.problem) == [])
        #expect(
            rows.map(\.topic) == [
                "patients/7", "patients/7", "weather", "**************", "**************", "**************, w",
                String(repeating: "*", count: 23), "patients/8", nil,
            ])
        #expect(rows[2].preview.text == "sunny")
        #expect(rows[0].preview.text == "*******")
        let text = try everything(of: logger)
        #expect(!text.contains("find-me"))
        #expect(!text.contains("the/top-secret"))
        #expect(!text.contains("other/top-secret"))
    }

    @Test func `a message with an unknown topic alias is hidden if the logger has topic rules`() throws {
        var options = MQTTChuckOptions()
        options.redaction.topics = [.init(try TopicFilter("patients/#"))]
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger)
        try recording.send(Recording.message("patients/7", "x", properties: [.topicAlias(1)]))
        // More topics than the logger can remember.
        let long = String(repeating: "t", count: 60_000)
        for alias in 2...19 as ClosedRange<UInt16> {
            try recording.send(Recording.message(long, properties: [.topicAlias(alias)]))
        }
        logger.clear()
        try recording.send(Recording.message("", "find-me", properties: [.topicAlias(1)]))
        #expect(!(try everything(of: logger)).contains("find-me"))

        let open = MQTTChuckLogger.test()
        try Recording(open).send(Recording.message("", "find-me", properties: [.topicAlias(1)]))
        #expect((try everything(of: open)).contains("find-me"))
        let importing = MQTTChuckLogger.test(options)
        try importing.importJSONLines(open.exported(.jsonLines))
        #expect(importing.rows().rows.map(\.preview.text) == ["*******"])
        #expect(!(try everything(of: importing)).contains("find-me"))
    }

    @Test func `an unreadable packet that may contain a secret is overwritten`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        // A CONNECT with a broken protocol name, an AUTH with an invalid property, and an incomplete packet.
        recording.observe(.outgoing, bytes: [0x10, 14] + Array("xxfind-me-here".utf8))
        recording.observe(.outgoing, bytes: [0xF0, 9, 0x18] + Array("find-me!".utf8))
        recording.observe(.outgoing, bytes: [0xC0, 0, 0x10, 0x7F] + Array("find-me".utf8))
        recording.observe(.outgoing, bytes: [0x00, 7] + Array("find-me".utf8))
        #expect(logger.rows().rows.map(\.isError) == [true, true, false, true, true])
        #expect(!(try everything(of: logger)).contains("find-me"))
    }

    @Test func `the user name is hidden if hidesUserName is set`() throws {
        var options = MQTTChuckOptions()
        options.redaction.hidesUserName = true
        let logger = MQTTChuckLogger.test(options)
        try Recording(logger).send(.connect(Connect(version: .v5, clientID: "c", username: "find-me")))
        #expect(logger.details(of: 1)?.fields.contains(MQTTChuckField("user name", "*******")) == true)
        #expect(!(try everything(of: logger)).contains("find-me"))
    }

    @Test func `secrets in an imported file are overwritten`() throws {
        var open = MQTTChuckOptions()
        open.redaction.userPropertyNames = []
        let first = MQTTChuckLogger.test(open)
        try Recording(first).everything()
        #expect((try everything(of: first)).contains("tok-secret-1"))
        let second = MQTTChuckLogger.test()
        try second.importJSONLines(first.exported(.jsonLines))
        #expect(!(try everything(of: second)).contains("tok-secret-1"))
    }

    @Test(arguments: [false, true])
    func `topic rules apply to imported messages, even if a message has only a topic alias`(hidesTopic: Bool) throws {
        let first = MQTTChuckLogger.test()
        let recording = Recording(first)
        try recording.send(
            Recording.message("patients/7", "find-me", properties: [.topicAlias(1)]),
            Recording.message("", "find-me", properties: [.topicAlias(1)]))
        var options = MQTTChuckOptions()
        options.redaction.topics = [.init(try TopicFilter("patients/#"), hidesTopic: hidesTopic)]
        // An export with the message that has the topic, and an export without that message.
        for part in ["", "row:>1"] {
            let second = MQTTChuckLogger.test(options)
            try second.importJSONLines(first.exported(.jsonLines, matching: MQTTChuckQuery(part)))
            let text = try everything(of: second)
            #expect(!text.contains("find-me"))
            #expect(text.contains("patients/7") == !hidesTopic)
            let topic = hidesTopic ? "**********" : "patients/7"
            #expect(second.rows().rows.allSatisfy { $0.topic == topic && $0.preview.text == "*******" })
        }
    }
}
