import MQTTCodec
import MQTTEngine
import Testing

/// QoS 2 messages that wait for a slow store keep their order and their send quota across reconnects.
@Suite
struct StorageOrderTests {
    private typealias Out = OutgoingTests

    /// Publishes QoS 2 messages with the tokens 1 to `count` to a server with this `receiveMaximum`.
    private static func talk(publishing count: UInt64, receiveMaximum: UInt16 = .max) throws -> Conversation {
        let talk = Conversation { $0.awaitsStorage = true }
        try talk.connect(properties: [.receiveMaximum(receiveMaximum)])
        for token in 1...count { talk.publish(qos: .exactlyOnce, token: Token(rawValue: token)) }
        return talk
    }

    /// Completes the exchange of `token` with PUBREC, `stored()` and PUBCOMP, and returns the packets that were sent.
    private static func finish(_ token: Token, _ id: PacketID, _ talk: Conversation) throws -> [Packet] {
        try talk.receive(.pubRec(id))
        talk.stored(token, id)
        try talk.receive(.pubComp(id))
        return try talk.sent()
    }

    /// [MQTT-4.6.0-1]
    @Test(arguments: [1, 3])
    func `messages are sent in order, even if one message is still being stored during several reconnects`(
        _ reconnects: Int
    ) throws {
        let talk = try Self.talk(publishing: 1, receiveMaximum: 1)
        for _ in 1...reconnects {
            try talk.reconnect(isSessionPresent: true, properties: [.receiveMaximum(1)])
        }
        #expect(talk.publishCapacity == 0, "the message that is being stored has the only turn")
        talk.stored(1, 1)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        #expect(talk.publishCapacity == 0)
        #expect(try Self.finish(1, 1, talk) == [.pubRel(1)])
        #expect(talk.publishCapacity == 1, "one turn was given back, and not more")
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(talk.performed().last == .sent(2, 1))
        talk.stored(2, 1)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        #expect(talk.publishCapacity == 0)
    }

    /// [MQTT-3.3.4-7]
    @Test func `after a reconnect, stored messages are sent in order and within the smaller receive maximum`() throws {
        let talk = try Self.talk(publishing: 3)
        try talk.reconnect(isSessionPresent: true, properties: [.receiveMaximum(1)])
        for id in 1...3 as ClosedRange<UInt16> {
            talk.stored(Token(rawValue: UInt64(id)), try #require(PacketID(rawValue: id)))
        }
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        #expect(try Self.finish(1, 1, talk) == [.pubRel(1), Out.publish(2, .exactlyOnce)])
        #expect(try Self.finish(2, 2, talk) == [.pubRel(2), Out.publish(3, .exactlyOnce)])
    }

    /// [MQTT-3.3.1-1]
    @Test func `a message stored while offline is sent without DUP, and only a later reconnect resends it with DUP`()
        throws
    {
        let talk = try Self.talk(publishing: 2)
        talk.close()
        talk.stored(1, 1)
        try talk.connect(isSessionPresent: true)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        talk.stored(2, 2)
        #expect(try talk.sent() == [Out.publish(2, .exactlyOnce)])
        try talk.reconnect(isSessionPresent: true)
        #expect(
            try talk.sent() == [
                Out.publish(1, .exactlyOnce, isDuplicate: true), Out.publish(2, .exactlyOnce, isDuplicate: true),
            ])
    }

    @Test func `a PUBREL that waits for the store uses no send quota`() throws {
        let talk = try Self.talk(publishing: 1, receiveMaximum: 1)
        talk.stored(1, 1)
        try talk.receive(.pubRec(1))
        try talk.reconnect(isSessionPresent: true, properties: [.receiveMaximum(1)])
        #expect(talk.publishCapacity == 1)
        talk.publish(qos: .exactlyOnce, token: 2)
        talk.stored(1, 1)
        talk.stored(2, 2)
        #expect(try talk.sent() == [.pubRel(1), Out.publish(2, .exactlyOnce)])
    }

    @Test func `a stored message that is too large for the new connection frees its send quota`() throws {
        let talk = Conversation { $0.awaitsStorage = true }
        try talk.connect(properties: [.receiveMaximum(1)])
        talk.publish(qos: .exactlyOnce, token: 1, size: 100)
        try talk.reconnect(isSessionPresent: true, properties: [.receiveMaximum(1), .maximumPacketSize(50)])
        talk.stored(1, 1)
        let actions = talk.performed()
        guard case .failed(1, .notEncodable)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(talk.performed() == [.sent(2, 1)])
        talk.stored(2, 1)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
    }

    @Test(arguments: [true, false])
    func `a message that expires before its packet id is stored fails with the error expired`(_ isStoredOffline: Bool)
        throws
    {
        let talk = Conversation { $0.awaitsStorage = true }
        try talk.connect(properties: [.receiveMaximum(1)])
        talk.publish(qos: .exactlyOnce, token: 1, expiry: .seconds(5))
        talk.close()
        talk.now += .seconds(10)
        if isStoredOffline { talk.stored(1, 1) }
        _ = talk.performed()
        talk.open()
        try talk.receive(.connAck(ConnAck(isSessionPresent: true, properties: [.receiveMaximum(1)])))
        if !isStoredOffline { talk.stored(1, 1) }
        #expect(talk.performed().contains(.failed(1, .expired)))
        talk.publish(qos: .exactlyOnce, token: 2)
        talk.stored(2, 1)
        #expect(try talk.sent().contains(Out.publish(1, .exactlyOnce)))
    }
}
