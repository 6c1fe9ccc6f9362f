import MQTTCodec
import MQTTEngine
import Testing

/// Messages that are larger than `maximumPacketSize`. Before MQTT 5, the engine skips them.
@Suite
struct SkippingTests {
    static let limit = 64
    static let deliveries: [Delivery] = [
        .atMostOnce, .atLeastOnce(5, isDuplicate: false), .exactlyOnce(5, isDuplicate: false),
    ]

    /// Returns a connected conversation in MQTT 3.1.1, or in `version`.
    private static func conversation(
        _ version: ProtocolVersion = .v311, _ change: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> Conversation {
        let talk = Conversation(version) {
            $0.maximumPacketSize = limit
            change(&$0)
        }
        try talk.connect()
        return talk
    }

    /// The payload of a large message. Each byte could be the start of PINGRESP.
    private static let payload = [UInt8](repeating: 0xD0, count: 300)

    private static func large(_ delivery: Delivery, topic: String = "large") -> Packet {
        .message(topic, delivery, payload)
    }

    private static func bytes(_ packets: Packet..., version: ProtocolVersion = .v311) throws -> [UInt8] {
        var buffer = PacketBuffer()
        let encoder = PacketEncoder(version: version, sender: .server)
        for packet in packets { try encoder.encode(packet, into: &buffer) }
        return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
    }

    /// The names of the actions, with the topics of messages.
    private static func names(_ talk: Conversation) -> [String] {
        talk.performed().map { action in
            switch action {
            case .message: "message"
            case .skipped(let message):
                "skipped \(String(decoding: message.topic, as: UTF8.self)) \(message.qos.rawValue) "
                    + "\(message.payloadSize)"
            case .incomingReleased(let id): "released \(id)"
            case .incomingReplaced(let id): "replaced \(id)"
            case .close(let reason): "close \(reason)"
            default: "\(action)"
            }
        }
    }

    @Test(arguments: [ProtocolVersion.v31, .v311], deliveries)
    func `for every split of the bytes, a large message is acknowledged and reported before the next message`(
        _ version: ProtocolVersion, _ delivery: Delivery
    ) throws {
        let small = Packet.message("small", .atLeastOnce(9, isDuplicate: false))
        let bytes = try Self.bytes(small, Self.large(delivery), small, version: version)
        let answers: [Packet] =
            switch delivery {
            case .atMostOnce: []
            case .atLeastOnce(let id, _): [.pubAck(id)]
            case .exactlyOnce(let id, _): [.pubRec(id)]
            }
        let pieces = (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] } + [bytes.map { [$0] }]
        for pieces in pieces {
            let talk = try Self.conversation(version)
            var mostUnread = 0
            let unread = talk.receive(pieces: pieces) { mostUnread = max(mostUnread, $0) }
            #expect(unread.isEmpty && mostUnread < Self.limit)
            #expect(Self.names(talk) == ["message", "skipped large \(delivery.qos.rawValue) 300", "message"])
            #expect(try talk.sent() == [.pubAck(9)] + answers + [.pubAck(9)])
            #expect(talk.topics == ["small", "small"])
            #expect(talk.isConnected && talk.unacknowledgedCount == (delivery.qos == .exactlyOnce ? 1 : 0))
        }
    }

    @Test func `the report of a skipped large message contains the sizes of the packet and of the payload`() throws {
        let talk = try Self.conversation()
        let bytes = try Self.bytes(Self.large(.atMostOnce))
        talk.receive(bytes)
        guard case .skipped(let message)? = talk.performed().first else {
            Issue.record("nothing was reported")
            return
        }
        #expect(message.packetSize == bytes.count && message.payloadSize == 300)
        #expect(message.topic == Array("large".utf8) && message.qos == .atMostOnce)
    }

    /// [MQTT-4.3.3-10]
    @Test func `a large QoS 2 message that the server repeats before PUBREL is reported only once`() throws {
        let talk = try Self.conversation()
        try talk.receive(Self.large(.exactlyOnce(5, isDuplicate: false)))
        #expect(Self.names(talk) == ["skipped large 2 300"])
        #expect(try talk.sent() == [.pubRec(5)])
        try talk.receive(Self.large(.exactlyOnce(5, isDuplicate: true)))
        try talk.reconnect(isSessionPresent: true)
        try talk.receive(Self.large(.exactlyOnce(5, isDuplicate: true)))
        #expect(Self.names(talk) == [])
        #expect(try talk.sent() == [.pubRec(5)])
        try talk.receive(.pubRel(5))
        #expect(Self.names(talk) == ["released 5"])
        #expect(try talk.sent() == [.pubComp(5)])
        try talk.receive(Self.large(.exactlyOnce(5, isDuplicate: false)))
        #expect(Self.names(talk) == ["skipped large 2 300"])
    }

    @Test func `after a reconnect, a large DUP message with another topic replaces the old message of this packet id`()
        throws
    {
        let talk = try Self.conversation { $0.awaitsStorage = true }
        try talk.receive(Self.large(.exactlyOnce(5, isDuplicate: false)))
        try talk.reconnect(isSessionPresent: true)
        try talk.receive(Self.large(.exactlyOnce(5, isDuplicate: true), topic: "other"))
        #expect(Self.names(talk) == ["replaced 5", "skipped other 2 300"])
        #expect(try talk.sent() == [.pubRec(5)])
    }

    @Test func `if a store is used, PUBCOMP for a large message is sent only after storedRelease() is called`() throws {
        let talk = try Self.conversation {
            $0.awaitsStorage = true
            $0.acknowledgements = .onCommand
        }
        try talk.receive(Self.large(.exactlyOnce(5, isDuplicate: false)), .pubRel(5))
        #expect(Self.names(talk) == ["skipped large 2 300", "released 5"])
        #expect(try talk.sent() == [.pubRec(5)])
        talk.storedRelease(5)
        #expect(try talk.sent() == [.pubComp(5)])
    }

    /// [MQTT-4.6.0-2], [MQTT-4.6.0-3]
    @Test func `the acknowledgement of a large message waits for the acknowledgements of earlier messages`() throws {
        let talk = try Self.conversation { $0.acknowledgements = .onCommand }
        try talk.receive(
            .message("a", .atLeastOnce(1, isDuplicate: false)), Self.large(.atLeastOnce(2, isDuplicate: false)),
            Self.large(.exactlyOnce(3, isDuplicate: false)), .message("b", .atLeastOnce(4, isDuplicate: false)))
        let handles = talk.handles()
        #expect(try talk.sent() == [])
        #expect(talk.acknowledge(handles.first ?? nil))
        #expect(try talk.sent() == [.pubAck(1), .pubAck(2), .pubRec(3)])
        #expect(talk.acknowledge(handles.last ?? nil))
        #expect(try talk.sent() == [.pubAck(4)])
        #expect(talk.unacknowledgedCount == 1)
    }

    @Test func `a large message whose end is lost with the connection is neither acknowledged nor reported`() throws {
        let talk = try Self.conversation()
        let bytes = try Self.bytes(Self.large(.atLeastOnce(5, isDuplicate: false)))
        talk.receive(Array(bytes.dropLast()))
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [])
        try talk.receive(.message("small"))
        #expect(Self.names(talk) == ["message"])
        talk.receive(bytes)
        #expect(Self.names(talk) == ["skipped large 1 300"])
    }

    @Test func `after disconnect(), the remaining bytes of a large message are ignored`() throws {
        let talk = try Self.conversation()
        let bytes = try Self.bytes(Self.large(.atLeastOnce(5, isDuplicate: false)), .message("small"))
        talk.receive(Array(bytes[..<100]))
        talk.disconnect()
        _ = try talk.sent()
        _ = talk.performed()
        talk.receive(Array(bytes[100...]))
        #expect(Self.names(talk) == [])
        #expect(try talk.sent() == [])
    }

    @Test func `the ping timeout starts again with each byte of a large message`() throws {
        let talk = try Self.conversation()
        let bytes = try Self.bytes(Self.large(.atMostOnce))
        talk.receive(Array(bytes[..<50]))
        talk.pass(.seconds(60))
        talk.fireTimer()
        #expect(talk.performed() == [.pingSent])
        for byte in bytes[50..<60] {
            talk.pass(.seconds(9))
            talk.receive([byte])
            talk.fireTimer()
        }
        #expect(talk.isConnected)
        talk.pass(.seconds(10))
        talk.fireTimer()
        #expect(talk.performed().last == .close(.pingTimeout))
    }

    @Test func `the acknowledgement timeout starts again with each byte of a large message`() throws {
        let talk = try Self.conversation { $0.connect.keepAlive = 0 }
        let bytes = try Self.bytes(Self.large(.atMostOnce), .pubAck(1), .message())
        talk.publish(qos: .atLeastOnce, token: 1)
        talk.receive(Array(bytes[..<50]))
        for byte in bytes[50..<60] {
            talk.pass(.seconds(59))
            talk.receive([byte])
            talk.fireTimer()
        }
        #expect(talk.isConnected && talk.performed() == [.sent(1, 1)])
        talk.receive(Array(bytes[60...]))
        #expect(Self.names(talk).count == 3)
        talk.publish(qos: .atLeastOnce, token: 2)
        talk.pass(.seconds(61))
        talk.fireTimer()
        #expect(
            talk.performed().last == .close(.acknowledgementTimeout(OverduePacket(.publish, 1, timeout: .seconds(60)))))
    }

    // Packets that still end the connection.

    private static func expectEnd(
        _ bytes: [UInt8], _ violation: Violation, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let talk = try conversation()
        talk.receive(bytes)
        guard case .close(.malformedPacket(let error))? = talk.performed().last else {
            Issue.record("the connection is open", sourceLocation: sourceLocation)
            return
        }
        #expect(error.violation == violation, sourceLocation: sourceLocation)
    }

    @Test func `a large packet that is no PUBLISH, has a long topic or has a malformed head ends the connection`()
        throws
    {
        let subAck = try Self.bytes(
            .subAck(SubAck(packetID: 1, reasonCodes: [PacketReasonCode](repeating: .success, count: 100))))
        try Self.expectEnd(subAck, .packetTooLarge(size: subAck.count, limit: Self.limit))
        let longTopic = try Self.bytes(Self.large(.atMostOnce, topic: String(repeating: "t", count: 65)))
        try Self.expectEnd(longTopic, .packetTooLarge(size: longTopic.count, limit: Self.limit))

        let good = try Self.bytes(Self.large(.atLeastOnce(5, isDuplicate: false)))
        func changed(_ offset: Int, _ byte: UInt8) -> [UInt8] {
            var bytes = good
            bytes[offset] = byte
            return bytes
        }
        try Self.expectEnd(changed(0, 0x36), .invalidQoS)
        try Self.expectEnd(changed(4, 0), .emptyTopic)
        try Self.expectEnd(changed(5, UInt8(ascii: "#")), .wildcardInTopicName)
        try Self.expectEnd(changed(5, 0xFF), .malformedUTF8)
        try Self.expectEnd(changed(11, 0), .packetIDZero)
    }

    @Test func `in MQTT 5, a large message ends the connection with reason code 0x95`() throws {
        let talk = try Self.conversation(.v5)
        try talk.receive(Self.large(.atLeastOnce(5, isDuplicate: false)))
        #expect(!talk.isConnected)
        #expect(try talk.sent() == [.disconnect(Disconnect(reasonCode: .packetTooLarge))])
        #expect(Self.names(talk).map { $0.prefix(5) } == ["close"])
    }

    @Test func `a large message before CONNACK ends the connection`() throws {
        let talk = Conversation(.v311) { $0.maximumPacketSize = Self.limit }
        talk.open()
        _ = try talk.sent()
        try talk.receive(Self.large(.atMostOnce))
        #expect(Self.names(talk).map { $0.prefix(5) } == ["close"])
    }
}
