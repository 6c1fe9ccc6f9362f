import MQTTCodec
import MQTTEngine
import Testing

@Suite
struct MessageBatchTests {
    private static let properties: PacketProperties = [
        .contentType("text/plain"), .userProperty(name: "trace", value: "7f3a"),
    ]

    @Test func `a batch is published in order, with what each message carries`() throws {
        let talk = Conversation()
        try talk.connect()
        var batch = MessageBatch()
        for number in 0..<300 {
            batch.append(
                OutgoingHeader(
                    qos: PacketQoS(rawValue: UInt8(number % 3)) ?? .atMostOnce, isRetained: number % 2 == 0,
                    token: Token(rawValue: UInt64(number))), topic: "t/\(number)",
                payload: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number).span.bytes,
                properties: number % 5 == 0 ? Self.properties : [])
        }
        talk.publish(batch)
        batch.removeAll()
        talk.publish(batch)  // Nothing is left in it.
        let sent = try talk.sent().compactMap { if case .publish(let publish) = $0 { publish } else { nil } }
        #expect(sent.count == 300)
        for (number, publish) in sent.enumerated() {
            #expect(publish.topic == "t/\(number)")
            #expect(publish.payload == [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number))
            #expect(publish.delivery.qos.rawValue == UInt8(number % 3))
            #expect(publish.isRetained == (number % 2 == 0))
            #expect(publish.properties == (number % 5 == 0 ? Self.properties : []))
        }
    }

    @Test func `a message whose properties cannot be written fails alone`() throws {
        let talk = Conversation()
        try talk.connect()
        var batch = MessageBatch()
        let good = OutgoingMessage(topic: "good", payload: [1], qos: .atLeastOnce, token: 1)
        var bad = OutgoingMessage(topic: "bad", payload: [2], qos: .atLeastOnce, token: 2)
        bad.properties = [.topicAlias(1)]
        batch.append(bad)
        batch.append(good)
        batch.append(bad)
        talk.publish(batch)
        let performed = talk.performed()
        guard case .failed(2, .notEncodable(let error))? = performed.first else {
            Issue.record("\(performed)")
            return
        }
        #expect(error.violation == .duplicateProperty(.topicAlias))
        #expect(performed == [.failed(2, .notEncodable(error)), .sent(1, 1), .failed(2, .notEncodable(error))])
        #expect(try talk.sent() == [.message("good", .atLeastOnce(1, isDuplicate: false))])
    }

    @Test func `what is sent again has its properties and the time that remains`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(
            OutgoingMessage(
                topic: "t", payload: [1], qos: .exactlyOnce, properties: Self.properties,
                expiry: talk.now.advanced(by: .seconds(60)), token: 1))
        var properties = Self.properties
        properties.append(.messageExpiryInterval(60))
        #expect(try talk.sent() == [.message("t", .exactlyOnce(1, isDuplicate: false), properties: properties)])
        talk.pass(.seconds(20))
        try talk.reconnect(isSessionPresent: true)
        properties = Self.properties
        properties.append(.messageExpiryInterval(40))
        #expect(try talk.sent() == [.message("t", .exactlyOnce(1, isDuplicate: true), properties: properties)])
    }

    @Test func `one call brings a bounded list of actions, and the rest waits for the next`() throws {
        var engine = ClientEngine(EngineConfiguration(connect: Connect(version: .v311, clientID: "c")))
        var buffer = PacketBuffer()
        var actions = ActionList()
        let now = ContinuousClock.now
        engine.transportOpened(now: now, into: &buffer, &actions)
        var incoming = PacketBuffer()
        let encoder = PacketEncoder(version: .v311, sender: .server)
        try encoder.encode(.connAck(ConnAck()), into: &incoming)
        let count = 3 * ClientEngine.actionsPerCall
        for number in 0..<count { try encoder.encode(.message("\(number)"), into: &incoming) }
        let bytes = incoming.withBytes { $0.withUnsafeBytes { Array($0) } }
        var consumed = 0
        var topics: [String] = []
        while consumed < bytes.count {
            let rest = Array(bytes[consumed...])
            consumed += engine.received(rest.span.bytes, now: now, into: &buffer, &actions)
            #expect(actions.count <= ClientEngine.actionsPerCall)
            topics += actions.messages.map { String(decoding: rest[$0.view.topic], as: UTF8.self) }
            try #require(!actions.isEmpty)
            actions.removeAll()
        }
        #expect(topics == (0..<count).map(String.init))
    }
}
