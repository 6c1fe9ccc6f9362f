import CourierCore
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTTChuck

@Suite struct MQTTChuckRowTests {
    @Test func `a logger with default options records a PUBLISH with all its fields`() throws {
        // With the real clock, rows of the recording's date would be above the default age limit.
        let logger = MQTTChuckLogger(options: MQTTChuckOptions()) { Nanoseconds.since1970(Recording.opened) }
        let recording = Recording(logger, version: .v311)
        try recording.send(Recording.message("orders/7", "hello", id: 12, qos: .atLeastOnce), at: 1_500)
        let row = try #require(logger.rows().rows.first)
        #expect(row.number == 1)
        #expect(row.time == Recording.opened.addingTimeInterval(1.5))
        #expect(row.direction == .outgoing)
        #expect(row.type == .publish)
        #expect(row.packetID == 12)
        #expect(row.qos == .atLeastOnce)
        #expect(!row.isDuplicate)
        #expect(!row.isRetained)
        #expect(row.topic == "orders/7")
        #expect(row.payloadSize == 5)
        #expect(row.size == 19)
        #expect(row.preview == MQTTChuckPreview(kind: .text, text: "hello", isCut: false))
        #expect(row.connection.clientID == "phone-7")
        #expect(row.connection.ordinal == 1)
        #expect(row.connection.host == "broker.example.com")
        #expect(row.connection.protocolName == "3.1.1")
        #expect(!row.isError)
    }

    @Test(arguments: [MQTTCodec.ProtocolVersion.v31, .v311, .v5])
    func `the logger records valid packets of every type and reports no problem`(version: MQTTCodec.ProtocolVersion)
        throws
    {
        let logger = MQTTChuckLogger.test()
        try Recording(logger, version: version).everything()
        let rows = logger.rows().rows
        #expect(rows.compactMap(\.problem) == [])
        let expected = Set(PacketType.allCases).subtracting(version >= .v5 ? [] : [.auth])
        #expect(Set(rows.compactMap(\.type)) == expected)
        #expect(rows.map(\.number) == (1...UInt64(rows.count)).map { $0 })
        #expect(rows.filter(\.isError).map(\.type) == (version >= .v5 ? [.subAck, .disconnect] : [.subAck]))
    }

    @Test func `a row resolves its topic alias even if the packet that defined the alias was dropped`() throws {
        var options = MQTTChuckOptions()
        options.logsMaxSize = 2
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger)
        try recording.send(Recording.message("first", properties: [.topicAlias(1)]))
        try recording.send(Recording.message("", properties: [.topicAlias(1)]))
        try recording.send(Recording.message("second", properties: [.topicAlias(1)]))
        #expect(logger.rows().rows.map(\.topic) == ["first", "second"])
        try recording.send(Recording.message("", properties: [.topicAlias(1), .contentType("a")]))
        try recording.receive(Recording.message("", properties: [.topicAlias(1)]))
        // The aliases of the broker are separate from the aliases of the client.
        #expect(logger.rows().rows.map(\.topic) == ["second", nil])
        #expect(logger.rows().rows.map(\.topicAlias) == [1, 1])
    }

    @Test func `the name of a reason code depends on its packet type`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger)
        try recording.receive(
            .connAck(ConnAck(reasonCode: .notAuthorized)),
            .subAck(SubAck(packetID: 1, reasonCodes: [.success, .grantedQoS2, .topicFilterInvalid])),
            .disconnect(Disconnect(reasonCode: .sessionTakenOver)))
        try recording.send(.disconnect(Disconnect()))
        let names = logger.rows().rows.map { $0.reasons.map(\.description) }
        #expect(
            names == [
                ["Not authorized (0x87)"],
                ["Granted QoS 0 (0x00)", "Granted QoS 2 (0x02)", "Topic Filter invalid (0x8F)"],
                ["Session taken over (0x8E)"], ["Normal disconnection (0x00)"],
            ])
        #expect(logger.rows().rows.map(\.isError) == [true, true, true, false])
    }

    @Test func `details of CONNECT show the host, client id and properties, but hide secrets`() throws {
        let logger = MQTTChuckLogger.test()
        try Recording(logger).everything()
        let details = try #require(logger.details(of: 1))
        let fields = Dictionary(details.fields.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(fields["host"] == "broker.example.com")
        #expect(fields["port"] == "8883")
        #expect(fields["scheme"] == "tls")
        #expect(fields["ALPN"] == "mqtt")
        #expect(fields["client id"] == "phone-7")
        #expect(fields["keep alive"] == "30 s")
        #expect(fields["clean start"] == "no")
        #expect(fields["user name"] == "ada")
        #expect(fields["password"] == "hidden")
        #expect(fields["will topic"] == "will/phone-7")
        #expect(fields["user property region"] == "eu")
        #expect(fields["user property x-auth-Token"] == "************")
        #expect(fields["authentication data"] == "<11 secret bytes>")
        #expect(details.explanation.contains("asks for a connection"))
    }

    @Test func `an exchange lists all its packets in order, with elapsed and round-trip times`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger, version: .v311)
        try recording.send(Recording.message("a", id: 5, qos: .exactlyOnce), at: 0)
        try recording.send(Recording.message("b", id: 6, qos: .atLeastOnce), at: 1)
        try recording.receive(.pubRec(Acknowledgement(packetID: 5)), .pubAck(Acknowledgement(packetID: 6)), at: 10)
        try recording.send(.pubRel(Acknowledgement(packetID: 5)), at: 11)
        try recording.receive(Recording.message("c", id: 5, qos: .atLeastOnce), at: 12)
        try recording.receive(.pubComp(Acknowledgement(packetID: 5)), at: 30)
        try recording.send(.pubAck(Acknowledgement(packetID: 5)), at: 42)
        let rows = logger.rows().rows
        #expect(rows.map(\.exchange) == [1, 2, 1, 2, 1, 6, 1, 6])
        #expect(rows.map(\.roundTrip) == [30, 9, nil, 9, nil, 30, 30, 30].map { $0.map { .milliseconds($0) } })
        #expect(rows.map(\.elapsed) == [nil, nil, 10, 9, 11, nil, 30, 30].map { $0.map { .milliseconds($0) } })
        for number in [1, 3, 5, 7] as [UInt64] {
            let details = try #require(logger.details(of: number))
            #expect(details.exchange.map(\.number) == [1, 3, 5, 7])
            #expect(details.exchange.map(\.type) == [.publish, .pubRec, .pubRel, .pubComp])
        }
    }

    @Test func `the round-trip time of every kind of exchange is measured`() throws {
        let logger = MQTTChuckLogger.test()
        try Recording(logger, version: .v311).everything()
        let rows = logger.rows().rows
        for type in [PacketType.connAck, .subAck, .pubAck, .pubComp, .pingResp, .unsubAck] {
            for row in rows.filter({ $0.type == type }) { #expect(row.roundTrip != nil, "\(row)") }
        }
        #expect(logger.metrics.latencies.map(\.kind) == MQTTChuckExchangeKind.allCases)
        #expect(logger.metrics.latencies.map(\.count) == [1, 1, 1, 1, 1, 1, 1, 1])
    }

    @Test
    func `a repeated PUBLISH belongs to the original exchange, and a PUBREL after a reconnect begins a new exchange`()
        throws
    {
        let logger = MQTTChuckLogger.test()
        let first = Recording(logger, id: 1)
        try first.send(Recording.message("a", id: 5, qos: .exactlyOnce), at: 0)
        try first.send(Recording.message("a", id: 5, qos: .exactlyOnce, isDuplicate: true), at: 5)
        #expect(logger.rows().rows.map(\.exchange) == [1, 1])
        let second = Recording(logger, id: 2)
        try second.send(.pubRel(Acknowledgement(packetID: 5)), at: 20)
        try second.receive(.pubComp(Acknowledgement(packetID: 5)), at: 21)
        let rows = logger.rows().rows
        #expect(rows.map(\.exchange) == [1, 1, 3, 3])
        #expect(rows.map(\.connection.ordinal) == [1, 1, 2, 2])
        #expect(logger.metrics.inFlightOutgoing == 0)  // The end of the first connection also ended its open exchanges.
    }

    @Test func `a payload is shown as JSON, text or hex unless a parser of the app returns a text`() throws {
        struct Topical: MQTTChuckPayloadParser {
            func text(of payload: Data, topic: String, contentType: String?) -> String? {
                topic == "proto" ? "\(payload.count) as \(contentType ?? "?")" : nil
            }
        }
        var options = MQTTChuckOptions()
        options.dataStringParser = { $0.first == 0xFF ? "mine" : nil }
        options.payloadParsers = [Topical()]
        options.previewMaxSize = 20
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger)
        func preview(_ topic: String, _ payload: [UInt8], _ properties: PacketProperties = []) throws
            -> MQTTChuckPreview?
        {
            try recording.send(.publish(Publish(topic: topic, payload: payload, properties: properties)))
            return logger.rows(before: .max, limit: 1).rows.first?.preview
        }
        let empty = try preview("t", [])
        #expect(empty == .empty)
        #expect(
            try preview("t", Array("{\"b\":1}".utf8))
                == MQTTChuckPreview(kind: .json, text: "{\n  \"b\" : 1\n}", isCut: false))
        #expect(try preview("t", Array("{\"b\":1".utf8))?.kind == .text)
        #expect(try preview("t", [1, 2, 0xFE]) == MQTTChuckPreview(kind: .hex, text: "0102FE", isCut: false))
        #expect(try preview("t", [0xFF, 0]) == MQTTChuckPreview(kind: .parsed, text: "mine", isCut: false))
        #expect(
            try preview("proto", [8, 1], [.contentType("p")])
                == MQTTChuckPreview(kind: .parsed, text: "2 as p", isCut: false))
        let long = try preview("t", Array("0123456789012345678€".utf8))
        #expect(long == MQTTChuckPreview(kind: .text, text: "0123456789012345678", isCut: true))
        #expect(try preview("t", [UInt8](repeating: 0x91, count: 11))?.text == String(repeating: "91", count: 10))
        let nested = Array(String(repeating: "[", count: 100_000).utf8)
        #expect(try preview("t", nested)?.kind == .text)
        // The details of the row show the whole payload.
        let number = logger.summary.nextRow - 2
        #expect(logger.details(of: number)?.row.preview.text == String(repeating: "91", count: 11))
    }

    @Test(arguments: [
        // Brackets inside strings are not levels, even after an escaped quotation mark.
        ("[\"\(String(repeating: "]", count: 1_000))\", \(nested(64))]", MQTTChuckPreview.Kind.text),
        ("[\"\(String(repeating: "}", count: 1_000))\\\\\", \(nested(64))]", .text),
        ("[\"\(String(repeating: "[", count: 1_000))\"]", .json),
        ("[\"\\\"\(String(repeating: "{", count: 1_000))\"]", .json),
        (nested(64), .json), (nested(65), .text),
    ])
    func `JSON with up to 64 levels is shown as JSON, and brackets in strings do not count as levels`(
        _ text: String, _ kind: MQTTChuckPreview.Kind
    ) throws {
        let logger = MQTTChuckLogger.test()
        try Recording(logger).send(Recording.message("t", text))
        #expect(logger.rows().rows.first?.preview.kind == kind)
    }

    /// JSON of `count` nested arrays.
    private static func nested(_ count: Int) -> String {
        String(repeating: "[", count: count) + String(repeating: "]", count: count)
    }

    @Test(arguments: [MQTTCodec.ProtocolVersion.v31, .v311, .v5])
    func `the inspector shows the DUP flag in the row of a QoS 0 message from the broker`(
        _ version: MQTTCodec.ProtocolVersion
    ) throws {
        let logger = MQTTChuckLogger.test()
        let properties: [UInt8] = version >= .v5 ? [0] : []
        let bytes = [0x38, UInt8(4 + properties.count), 0, 1, 0x61] + properties + [0x78]
        Recording(logger, version: version).observe(.incoming, bytes: bytes)
        let row = try #require(logger.rows().rows.first)
        #expect(row.problem == nil && !row.isError)
        #expect(row.topic == "a" && row.qos == .atMostOnce && row.preview.text == "x")
        #expect(row.isDuplicate)
        #expect(try logger.rows(matching: MQTTChuckQuery("dup:yes")).rows.count == 1)
        let details = try #require(logger.details(of: 1))
        #expect(details.fields.first { $0.name == "duplicate" }?.value == "yes")
    }

    @Test func `row details contain the bytes, the payload range and a hex dump`() throws {
        let logger = MQTTChuckLogger.test()
        let recording = Recording(logger, version: .v311)
        try recording.send(Recording.message("ab", "hello\u{1B}[2J"))
        let details = try #require(logger.details(of: 1))
        #expect(Array(details.bytes[details.payload]) == Array("hello\u{1B}[2J".utf8))
        #expect(
            details.hexDump == """
                000000  30 0D 00 02 61 62 68 65 6C 6C 6F 1B 5B 32 4A     0...abhello.[2J
                """)
        #expect(logger.details(of: 2) == nil)
        #expect(logger.details(of: 0) == nil)
    }
}
