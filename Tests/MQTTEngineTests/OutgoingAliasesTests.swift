import MQTTCodec
import MQTTEngine
import Testing

@Suite
struct OutgoingAliasesTests {
    @Test func `repeated topics are sent as topic aliases, and the least recently used alias is replaced`() throws {
        let talk = Conversation { $0.outgoingTopicAliases = 2 }
        try talk.connect(properties: [.topicAliasMaximum(10)])
        for topic in ["a", "a", "b", "a", "c", "b"] { talk.publish(topic, qos: .atMostOnce, token: 1) }
        let sent = try talk.sent().compactMap { if case .publish(let publish) = $0 { publish } else { nil } }
        #expect(sent.map(\.topic) == ["a", "", "b", "", "c", "b"])
        #expect(sent.map(\.properties.topicAlias) == [1, 1, 2, 1, 2, 1])
    }

    @Test func `a topic with a fixed alias uses this alias, and other topics use the free aliases`() throws {
        let talk = Conversation {
            $0.outgoingTopicAliases = 3
            $0.fixedTopicAliases = ["five": 5, "two": 2, "eleven": 11]
        }
        try talk.connect(properties: [.topicAliasMaximum(5)])
        for topic in ["five", "a", "b", "c", "two", "eleven", "d", "five", "two", "b"] {
            talk.publish(topic, qos: .atMostOnce, token: 1)
        }
        let sent = try talk.sent().compactMap { if case .publish(let publish) = $0 { publish } else { nil } }
        // The server allows five aliases. Two of them are fixed, and "eleven" gets one of the other three.
        #expect(sent.map(\.topic) == ["five", "a", "b", "c", "two", "eleven", "d", "", "", "b"])
        #expect(sent.map(\.properties.topicAlias) == [5, 1, 3, 4, 2, 1, 3, 5, 2, 4])
    }

    @Test func `fixed topic aliases are used only if the server's topic alias maximum allows them`() throws {
        for (maximum, expected) in [(10, [5, 5]), (4, [nil, nil])] as [(UInt16, [UInt16?])] {
            let talk = Conversation {
                $0.outgoingTopicAliases = 0
                $0.fixedTopicAliases = ["t": 5]
            }
            try talk.connect(properties: [.topicAliasMaximum(maximum)])
            for topic in ["t", "t"] { talk.publish(topic, qos: .atMostOnce, token: 1) }
            let sent = try talk.sent().compactMap { if case .publish(let publish) = $0 { publish } else { nil } }
            #expect(sent.map(\.properties.topicAlias) == expected)
        }
    }

    @Test func `topics that differ only in Unicode normalization get different aliases`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.topicAliasMaximum(10)])
        for topic in ["caf\u{E9}", "cafe\u{301}"] { talk.publish(topic, qos: .atMostOnce, token: 1) }
        let sent = try talk.sent().compactMap { if case .publish(let publish) = $0 { publish } else { nil } }
        #expect(sent.map(\.properties.topicAlias) == [1, 2])
    }

    @Test func `no topic alias is sent if the server allows none`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atMostOnce, token: 1)
        talk.publish(qos: .atMostOnce, token: 1)
        #expect(try talk.sent() == [.message(), .message()])
    }

    @Test func `a resent message carries its full topic instead of an alias`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.topicAliasMaximum(4)])
        talk.publish(qos: .atLeastOnce, token: 1)
        talk.publish(qos: .atLeastOnce, token: 2)
        try talk.reconnect(isSessionPresent: true, properties: [.topicAliasMaximum(4)])
        #expect(
            try talk.sent() == [
                OutgoingTests.publish(1, .atLeastOnce, isDuplicate: true),
                OutgoingTests.publish(2, .atLeastOnce, isDuplicate: true),
            ])
    }

    /// [MQTT-3.2.2-15]
    @Test func `a topic alias is omitted if it makes the packet too large for the server`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.maximumPacketSize(50), .topicAliasMaximum(10)])
        let whole = Packet.message("t", .atMostOnce, [UInt8](repeating: 1, count: 44))
        talk.publish(qos: .atMostOnce, token: 1, size: 44)
        #expect(try talk.sent() == [whole])

        talk.publish(qos: .atMostOnce, token: 2)
        talk.publish(qos: .atMostOnce, token: 3, size: 44)
        talk.publish(qos: .atMostOnce, token: 4)
        let sent = try talk.sent()
        let publishes = sent.compactMap { if case .publish(let publish) = $0 { publish } else { nil } }
        #expect(publishes.map(\.topic) == ["t", "t", ""])
        #expect(sent.dropFirst().first == whole)
        #expect(publishes.first?.properties.topicAlias == publishes.last?.properties.topicAlias)
        #expect(talk.performed() == [])

        talk.publish(qos: .atMostOnce, token: 5, size: 45)
        guard case .failed(5, .notEncodable(let error))? = talk.performed().first else {
            Issue.record("not failed")
            return
        }
        #expect(error.violation == .packetTooLarge(size: 51, limit: 50))
        #expect(try talk.sent() == [])
    }

    /// [MQTT-4.7.3-1]: the message uses neither the alias of another topic nor an undefined alias.
    @Test(arguments: ["a", "a/#"])
    func `a message with an empty topic fails and is not sent with an alias`(before: String) throws {
        let talk = Conversation { $0.outgoingTopicAliases = 1 }
        try talk.connect(properties: [.topicAliasMaximum(10)])
        talk.publish(before, qos: .atMostOnce, token: 1)
        _ = try talk.sent()
        _ = talk.performed()
        talk.publish("", qos: .atMostOnce, token: 2)
        guard case .failed(2, .notEncodable(let error))? = talk.performed().first else {
            Issue.record("not failed")
            return
        }
        #expect(error.violation == .emptyTopicWithoutAlias)
        #expect(try talk.sent() == [])
    }
}
