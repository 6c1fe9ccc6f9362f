import MQTTCodec
import MQTTEngine
import Testing

@Suite
struct IncomingTests {
    static let qos1 = Delivery.atLeastOnce(5, isDuplicate: false)
    static let qos2 = Delivery.exactlyOnce(5, isDuplicate: false)

    @Test func `a received message has the positions of topic and payload in the read bytes`() throws {
        let talk = Conversation()
        try talk.connect()
        var incoming = PacketBuffer()
        let encoder = PacketEncoder(version: .v5, sender: .server)
        try encoder.encode(.pingResp, into: &incoming)
        try encoder.encode(.message("room/7", .atMostOnce, [4, 2], properties: [.topicAlias(3)]), into: &incoming)
        try encoder.encode(.message("", .atMostOnce, [4, 3], properties: [.topicAlias(3)]), into: &incoming)
        let bytes = incoming.withBytes { $0.withUnsafeBytes { Array($0) } }
        talk.receive(bytes)
        let messages = talk.performed().compactMap { if case .message(let message) = $0 { message } else { nil } }
        #expect(messages.map { Array(bytes[$0.view.payload]) } == [[4, 2], [4, 3]])
        let topics = messages.map { talk.topic(of: $0, in: bytes) }
        #expect(topics == [Array("room/7".utf8), Array("room/7".utf8)])
    }

    @Test func `QoS 1 messages from the same read are acknowledged in the order received`() throws {
        let talk = Conversation()
        try talk.connect()
        try talk.receive(
            .message("a", .atLeastOnce(9, isDuplicate: false)), .message("b", .atLeastOnce(2, isDuplicate: true)))
        #expect(try talk.sent() == [.pubAck(9), .pubAck(2)])
        #expect(talk.performed().count == 2)
    }

    /// [MQTT-4.3.2-5]
    @Test(arguments: [ProtocolVersion.v311, .v5])
    func `after PUBACK, a message with the same packet id is a new message, with or without DUP`(
        version: ProtocolVersion
    ) throws {
        let talk = Conversation(version)
        try talk.connect()
        for isDuplicate in [false, true, false] {
            try talk.receive(.message("t", .atLeastOnce(5, isDuplicate: isDuplicate)))
            #expect(talk.performed().count == 1)
            #expect(try talk.sent() == [.pubAck(5)])
        }
    }

    /// [MQTT-4.3.3-13]
    @Test func `the exchange of a received QoS 2 message continues after the message has expired`() throws {
        let talk = Conversation()
        try talk.connect()
        try talk.receive(.message("t", Self.qos2, properties: [.messageExpiryInterval(1)]))
        #expect(talk.performed().count == 1)
        #expect(try talk.sent() == [.pubRec(5)])
        talk.pass(.seconds(2))
        try talk.receive(.pubRel(5))
        #expect(talk.performed() == [.incomingReleased(5)])
        #expect(try talk.sent() == [.pubComp(5)])
    }

    /// [MQTT-4.3.3-10]
    @Test func `a QoS 2 message is delivered only once before PUBREL, even after a reconnect`() throws {
        let talk = Conversation()
        try talk.connect()
        try talk.receive(.message("t", Self.qos2))
        #expect(talk.performed().count == 1)
        #expect(try talk.sent() == [.pubRec(5)])
        try talk.reconnect(isSessionPresent: true)
        try talk.receive(.message("t", .exactlyOnce(5, isDuplicate: true)))
        #expect(talk.performed() == [])
        #expect(try talk.sent() == [.pubRec(5)])
        try talk.receive(.pubRel(5))
        #expect(talk.performed() == [.incomingReleased(5)])
        #expect(try talk.sent() == [.pubComp(5)])
        try talk.receive(.message("t", Self.qos2))
        #expect(talk.performed().count == 1)
    }

    /// [MQTT-3.3.1-1]: the server lost the session, and the CONNACK that reported it was lost, too.
    @Test func `after a reconnect, a message without DUP is delivered even if its packet id is still in use`() throws {
        let talk = Conversation()
        try talk.connect()
        try talk.receive(.message("t", Self.qos2))
        #expect(talk.performed().count == 1)
        try talk.reconnect(isSessionPresent: true)
        try talk.receive(.message("t", Self.qos2))
        #expect(talk.performed().count == 1)
        try talk.receive(.message("t", .exactlyOnce(5, isDuplicate: true)))
        #expect(talk.performed() == [])
    }

    /// [MQTT-4.3.3-10]
    @Test func `after a reconnect, a DUP message with another topic or payload is delivered as a new message`() throws {
        func message(_ payload: [UInt8], topic: String = "t", isDuplicate: Bool = true) -> Packet {
            .message(topic, .exactlyOnce(5, isDuplicate: isDuplicate), payload)
        }
        func bytes(_ numbers: Double...) -> [UInt8] {
            numbers.flatMap { withUnsafeBytes(of: $0.bitPattern.littleEndian, Array.init) }
        }
        let long = String(repeating: "x", count: 1_000)
        let texts = [
            ("a", "b"), ("", "a"), ("a", "aa"), ("12345678", "12345679"), ("sensor 7 is 20", "sensor 8 is 20"),
            (long, long + "x"), (long + "1", long + "2"), ("1" + long, "2" + long),
        ]
        let pairs = texts.map { (Array($0.0.utf8), Array($0.1.utf8)) } + [(bytes(1, 2), bytes(-1, -2))]
        for (old, new) in pairs {
            let talk = Conversation()
            try talk.connect()
            try talk.receive(message(old, isDuplicate: false))
            #expect(talk.performed().count == 1)
            // Each CONNACK reports a session, so only the content of the messages shows whether the server lost it.
            try talk.reconnect(isSessionPresent: true)
            try talk.receive(message(old))
            #expect(talk.performed() == [])
            try talk.reconnect(isSessionPresent: true)
            try talk.receive(message(new))
            #expect(talk.performed().count == 1)
            try talk.reconnect(isSessionPresent: true)
            try talk.receive(message(new))
            #expect(talk.performed() == [])
            try talk.reconnect(isSessionPresent: true)
            try talk.receive(message(new, topic: "u"))
            #expect(talk.performed().count == 1)
        }
    }

    /// [MQTT-4.3.3-10]: a server that lost the session starts at packet id 1 again, and uses all lower ids first.
    @Test(arguments: [2_000, 65_000] as [UInt16])
    func `a QoS 2 duplicate is recognized after thousands of messages with other packet ids`(first: UInt16) throws {
        func message(_ id: PacketID, _ byte: UInt8, isDuplicate: Bool = false) -> Packet {
            .message("t", .exactlyOnce(id, isDuplicate: isDuplicate), [byte])
        }
        let held = (first..<first + 20).compactMap { PacketID(rawValue: $0) }
        let talk = Conversation()
        try talk.connect()
        for id in held { try talk.receive(message(id, 1)) }
        try talk.reconnect(isSessionPresent: true)
        for id in (1..<first).compactMap({ PacketID(rawValue: $0) }) {
            try talk.receive(message(id, 2), .pubRel(id))
        }
        #expect(talk.performed().count { if case .message = $0 { true } else { false } } == Int(first) - 1)
        try talk.reconnect(isSessionPresent: true)
        for id in held.prefix(10) { try talk.receive(message(id, 1, isDuplicate: true)) }
        #expect(talk.performed() == [])
        for id in held.suffix(10) { try talk.receive(message(id, 3, isDuplicate: true)) }
        #expect(talk.performed().count == 10)
    }

    /// [MQTT-4.3.3-10]
    @Test func `a QoS 2 duplicate is recognized even if thousands of packet ids wait for PUBREL`() throws {
        func packetID(_ id: UInt16) throws -> PacketID { try #require(PacketID(rawValue: id)) }
        func message(_ id: UInt16, _ byte: UInt8, isDuplicate: Bool = false) throws -> Packet {
            .message("t", .exactlyOnce(try packetID(id), isDuplicate: isDuplicate), [byte])
        }
        let early: ClosedRange<UInt16> = 1...1_000
        let later: ClosedRange<UInt16> = 1_001...5_000
        let talk = Conversation()
        try talk.connect()
        for id in early { try talk.receive(message(id, 1)) }
        for id in later.prefix(1_100) { try talk.receive(message(id, 1)) }
        for id in early { try talk.receive(.pubRel(packetID(id))) }
        for id in later.dropFirst(1_100) { try talk.receive(message(id, 1)) }
        for id in early { try talk.receive(message(id, 2)) }
        _ = talk.performed()
        try talk.reconnect(isSessionPresent: true)
        for id in early.prefix(500) { try talk.receive(message(id, 2, isDuplicate: true)) }
        for id in later.prefix(2_000) { try talk.receive(message(id, 1, isDuplicate: true)) }
        #expect(talk.performed() == [])
        for id in early.suffix(500) { try talk.receive(message(id, 1, isDuplicate: true)) }
        for id in later.suffix(2_000) { try talk.receive(message(id, 2, isDuplicate: true)) }
        #expect(talk.performed().count == 2_500)
    }

    @Test func `a duplicate is recognized even if the original arrived with a topic alias`() throws {
        let talk = Conversation { $0.incomingTopicAliases = 4 }
        try talk.connect()
        try talk.receive(.message("t", .atMostOnce, properties: [.topicAlias(2)]))
        try talk.receive(.message("", Self.qos2, properties: [.topicAlias(2)]))
        #expect(talk.performed().count == 2)
        try talk.reconnect(isSessionPresent: true)
        try talk.receive(.message("t", .exactlyOnce(5, isDuplicate: true)))
        #expect(talk.performed() == [])
    }

    @Test func `PUBREL with an unknown packet id is answered with PUBCOMP`() throws {
        for version in [ProtocolVersion.v311, .v5] {
            let talk = Conversation(version)
            try talk.connect()
            try talk.receive(.pubRel(5))
            #expect(try talk.sent() == [.pubComp(5, version == .v5 ? .packetIdentifierNotFound : .success)])
        }
    }

    @Test func `if the session is lost, a QoS 2 message with a known packet id is delivered as a new message`() throws {
        let talk = Conversation()
        try talk.connect()
        try talk.receive(.message("t", Self.qos2))
        _ = talk.performed()
        try talk.reconnect(isSessionPresent: false)
        try talk.receive(.message("t", Self.qos2))
        #expect(talk.performed().count == 1)
    }

    // Acknowledgements by the app.

    /// [MQTT-4.6.0-2]
    @Test func `acknowledgements from the app are sent in the order in which the messages were received`() throws {
        let talk = Conversation { $0.acknowledgements = .onCommand }
        try talk.connect()
        try talk.receive(
            .message("a", .atLeastOnce(1, isDuplicate: false)), .message("b", .exactlyOnce(2, isDuplicate: false)),
            .message("c", .atLeastOnce(3, isDuplicate: false)))
        let handles = talk.handles()
        #expect(try talk.sent() == [])
        #expect(talk.acknowledge(handles[2]))
        #expect(talk.acknowledge(handles[1], .quotaExceeded))
        #expect(try talk.sent() == [])
        #expect(talk.acknowledge(handles[0]))
        #expect(try talk.sent() == [.pubAck(1), .pubRec(2, .quotaExceeded), .pubAck(3)])
        #expect(!talk.acknowledge(handles[0]))
        #expect(talk.unacknowledgedCount == 0)
    }

    @Test func `after a reconnect, an unacknowledged QoS 1 message is delivered again, and its old handle is invalid`()
        throws
    {
        let talk = Conversation { $0.acknowledgements = .onCommand }
        try talk.connect()
        try talk.receive(.message("a", .atLeastOnce(1, isDuplicate: false)))
        let old = talk.handles()[0]
        try talk.reconnect(isSessionPresent: true)
        try talk.receive(.message("a", .atLeastOnce(1, isDuplicate: true)))
        let new = talk.handles()[0]
        #expect(!talk.acknowledge(old))
        #expect(try talk.sent() == [])
        #expect(talk.acknowledge(new))
        #expect(try talk.sent() == [.pubAck(1)])
    }

    @Test func `after a reconnect, an unacknowledged QoS 2 message is not delivered again, but can be acknowledged`()
        throws
    {
        let talk = Conversation { $0.acknowledgements = .onCommand }
        try talk.connect()
        try talk.receive(.message("a", Self.qos2))
        let handle = talk.handles()[0]
        try talk.reconnect(isSessionPresent: true)
        try talk.receive(.message("a", .exactlyOnce(5, isDuplicate: true)))
        #expect(talk.performed() == [])
        #expect(try talk.sent() == [])
        #expect(talk.acknowledge(handle))
        #expect(try talk.sent() == [.pubRec(5)])
    }

    @Test func `if a QoS 2 message is acknowledged while offline, PUBREC is sent when the server repeats the message`()
        throws
    {
        let talk = Conversation { $0.acknowledgements = .onCommand }
        try talk.connect()
        try talk.receive(.message("a", Self.qos2))
        let handle = talk.handles()[0]
        talk.close()
        #expect(talk.acknowledge(handle))
        talk.open()
        _ = try talk.sent()
        try talk.receive(.connAck(ConnAck(isSessionPresent: true)), .message("a", .exactlyOnce(5, isDuplicate: true)))
        #expect(try talk.sent() == [.pubRec(5)])
        #expect(talk.handles().isEmpty)
    }

    /// [MQTT-4.3.3-10]
    @Test(arguments: [(.v311, .notAuthorized), (.v5, .serverBusy)] as [(ProtocolVersion, PacketReasonCode)])
    func `if PUBREC cannot carry a failure code, the packet id stays in use until PUBREL`(
        version: ProtocolVersion, code: PacketReasonCode
    ) throws {
        let talk = Conversation(version) { $0.acknowledgements = .onCommand }
        try talk.connect()
        try talk.receive(.message("t", Self.qos2))
        #expect(talk.acknowledge(talk.handles().first ?? nil, code))
        #expect(try talk.sent() == [.pubRec(5)])
        #expect(talk.performed() == [])
        try talk.reconnect(isSessionPresent: true)
        try talk.receive(.message("t", .exactlyOnce(5, isDuplicate: true)))
        #expect(talk.performed() == [])
        #expect(try talk.sent() == [.pubRec(5)])
        try talk.receive(.pubRel(5))
        #expect(talk.performed() == [.incomingReleased(5)])
        #expect(try talk.sent() == [.pubComp(5)])
    }

    /// [MQTT-4.3.3-9]
    @Test func `a PUBREC with a failure code releases the packet id for a new message`() throws {
        let talk = Conversation { $0.acknowledgements = .onCommand }
        try talk.connect()
        for _ in 1...2 {
            try talk.receive(.message("t", Self.qos2))
            #expect(talk.acknowledge(talk.handles().first ?? nil, .notAuthorized))
            #expect(try talk.sent() == [.pubRec(5, .notAuthorized)])
            #expect(talk.performed() == [.incomingReleased(5)])
            #expect(talk.unacknowledgedCount == 0)
        }
    }

    // Limits.

    @Test func `[MQTT-3.3.4-9] a server that exceeds our receive maximum is disconnected with 0x93`() throws {
        let talk = Conversation {
            $0.acknowledgements = .onCommand
            $0.receiveMaximum = 2
        }
        try talk.connect()
        try talk.receive(
            .message("a", .atLeastOnce(1, isDuplicate: false)), .message("b", .exactlyOnce(2, isDuplicate: false)))
        #expect(talk.performed().count == 2)
        try talk.receive(.message("c", .atLeastOnce(3, isDuplicate: false)))
        #expect(talk.performed() == [.close(.protocolError(.receiveMaximumExceeded))])
        #expect(try talk.sent() == [.disconnect(Disconnect(reasonCode: .receiveMaximumExceeded))])
    }

    @Test(arguments: [EngineConfiguration.AcknowledgementMode.automatic, .onCommand])
    func `a QoS 2 message above the receive maximum is delivered when the server sends the message again`(
        _ mode: EngineConfiguration.AcknowledgementMode
    ) throws {
        let talk = Conversation {
            $0.acknowledgements = mode
            $0.receiveMaximum = 2
        }
        try talk.connect()
        func message(_ id: PacketID, isDuplicate: Bool = false) -> Packet {
            .message("t", .exactlyOnce(id, isDuplicate: isDuplicate))
        }
        try talk.receive(message(1), message(2), message(3))
        #expect(try !talk.sent().contains(.pubRec(3)))
        try talk.reconnect(isSessionPresent: true)
        _ = try talk.sent()
        let before = talk.topics.count
        try talk.receive(message(3, isDuplicate: true))
        #expect(talk.topics.count == before + 1)
        if mode == .onCommand { #expect(talk.acknowledge(talk.handles().last ?? nil)) }
        #expect(try talk.sent() == [.pubRec(3)])
    }

    /// [MQTT-4.6.0-3]
    @Test func `a PUBREC for a duplicate is sent after the acknowledgements of earlier messages`() throws {
        let talk = Conversation { $0.acknowledgements = .onCommand }
        talk.restore([], incoming: [2])
        try talk.connect(isSessionPresent: true)
        try talk.receive(
            .message("t", .exactlyOnce(1, isDuplicate: true)), .message("t", .exactlyOnce(2, isDuplicate: true)))
        #expect(try talk.sent() == [])
        #expect(talk.acknowledge(talk.handles().first ?? nil))
        #expect(try talk.sent() == [.pubRec(1), .pubRec(2)])
    }

    /// [MQTT-4.3.3-10]
    @Test func `10000 duplicates that arrive after an unacknowledged message are answered with one PUBREC`() throws {
        let talk = Conversation { $0.acknowledgements = .onCommand }
        let again = Packet.message("t", .exactlyOnce(1, isDuplicate: true))
        try talk.connect()
        try talk.receive(.message("t", .exactlyOnce(1, isDuplicate: false)))
        #expect(talk.acknowledge(talk.handles().first ?? nil))
        #expect(try talk.sent() == [.pubRec(1)])
        try talk.receive(.message("u", .atLeastOnce(2, isDuplicate: false)))
        let handle = talk.handles().first ?? nil
        for _ in 0..<10_000 { try talk.receive(again) }
        #expect(try talk.sent() == [])
        #expect(talk.acknowledge(handle))
        #expect(try talk.sent() == [.pubAck(2), .pubRec(1)])
        try talk.receive(again)
        #expect(try talk.sent() == [.pubRec(1)])
        // A PUBREC that was not sent before the connection closed is sent when the next connection repeats the message.
        try talk.receive(.message("u", .atLeastOnce(2, isDuplicate: false)), again)
        try talk.reconnect(isSessionPresent: true)
        try talk.receive(again)
        #expect(try talk.sent() == [.pubRec(1)])
    }

    @Test func `after PUBREL, a message no longer counts against the receive maximum`() throws {
        let talk = Conversation { $0.receiveMaximum = 1 }
        try talk.connect()
        for id in 1...5 {
            let packetID = try #require(PacketID(rawValue: UInt16(id)))
            try talk.receive(.message("a", .exactlyOnce(packetID, isDuplicate: false)))
            try talk.receive(.pubRel(packetID))
        }
        #expect(talk.isConnected)
    }

    @Test func `a packet above the client's maximum packet size closes the connection when its header arrives`() throws
    {
        let talk = Conversation { $0.maximumPacketSize = 100 }
        try talk.connect()
        talk.receive([0x30, 0x80, 0x01])
        #expect(try talk.sent() == [.disconnect(Disconnect(reasonCode: .packetTooLarge))])
        guard case .close(.malformedPacket)? = talk.performed().last else {
            Issue.record("not closed")
            return
        }
    }

    /// [MQTT-3.3.2-10]
    @Test func `a topic alias above the maximum or an unknown topic alias closes the connection`() throws {
        let talk = Conversation { $0.incomingTopicAliases = 2 }
        try talk.connect()
        try talk.receive(.message("a", properties: [.topicAlias(3)]))
        #expect(talk.performed() == [.close(.protocolError(.topicAliasTooHigh(3)))])
        #expect(try talk.sent() == [.disconnect(Disconnect(reasonCode: .topicAliasInvalid))])
        talk.close()
        try talk.connect()
        try talk.receive(.message("", properties: [.topicAlias(2)]))
        #expect(talk.performed() == [.close(.protocolError(.unknownTopicAlias(2)))])
    }

    /// [MQTT-3.3.2-10]
    @Test func `messages from the same read have the right topics if a topic alias is redefined in between`() throws {
        let talk = Conversation()
        try talk.connect()
        func message(_ topic: String, _ text: UInt8) -> Packet {
            .publish(Publish(topic: topic, payload: [text], properties: [.topicAlias(1)]))
        }
        try talk.receive(message("a", 1), message("", 2), message("b", 3), message("", 4), message("a", 5))
        #expect(talk.topics == ["a", "a", "b", "b", "a"])
    }

    @Test func `a topic alias of an earlier connection is unknown on the next connection`() throws {
        let talk = Conversation()
        try talk.connect()
        try talk.receive(.message("a", properties: [.topicAlias(1)]))
        try talk.reconnect(isSessionPresent: true)
        try talk.receive(.message("", properties: [.topicAlias(1)]))
        #expect(talk.performed().last == .close(.protocolError(.unknownTopicAlias(1))))
    }
}
