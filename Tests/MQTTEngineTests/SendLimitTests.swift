import MQTTCodec
import MQTTEngine
import Testing

/// The caller's limit for unacknowledged messages, and the report of the unacknowledged messages.
@Suite
struct SendLimitTests {
    private typealias Out = OutgoingTests

    /// Publishes messages with the tokens and packet ids 1 to `count`, and discards the sent packets and actions.
    private static func talk(_ qos: PacketQoS, count: UInt64) throws -> Conversation {
        let talk = Conversation()
        try talk.connect()
        for token in 1...count { talk.publish(qos: qos, token: Token(rawValue: token)) }
        _ = try talk.sent()
        _ = talk.performed()
        return talk
    }

    @Test(arguments: [PacketQoS.atLeastOnce, .exactlyOnce])
    func `the send limit lowers the publish capacity, and an acknowledgement raises it`(_ qos: PacketQoS) throws {
        let talk = Conversation()
        try talk.connect(properties: [.receiveMaximum(10)])
        #expect(talk.publishCapacity == 10)
        talk.setSendLimit(2)
        #expect(talk.publishCapacity == 2)
        for token in [1, 2, 3] as [Token] { talk.publish(qos: qos, token: token) }
        #expect(talk.performed() == [.sent(1, 1), .sent(2, 2), .failed(3, .quotaExceeded)])
        try talk.receive(qos == .atLeastOnce ? .pubAck(1) : .pubRec(1))
        #expect(talk.publishCapacity == 1)
        talk.setSendLimit(nil)
        #expect(talk.publishCapacity == (qos == .atLeastOnce ? 9 : 8), "a QoS 2 message holds quota until PUBCOMP")
        talk.setSendLimit(-1)
        #expect(talk.publishCapacity == 0)
        talk.publish(qos: .atMostOnce, token: 4)
        #expect(try talk.sent().last == .message(), "QoS 0 has no limit")
    }

    @Test func `if more messages are unacknowledged than the send limit allows, the publish capacity is 0`() throws {
        let talk = try Self.talk(.atLeastOnce, count: 3)
        talk.setSendLimit(1)
        #expect(talk.publishCapacity == 0)
        try talk.receive(.pubAck(1), .pubAck(2))
        #expect(talk.publishCapacity == 0)
        try talk.receive(.pubAck(3))
        #expect(talk.publishCapacity == 1)
    }

    @Test(arguments: [PacketQoS.atLeastOnce, .exactlyOnce])
    func `if the send limit is 1, a reconnect resends messages one at a time and in order`(_ qos: PacketQoS) throws {
        let talk = try Self.talk(qos, count: 3)
        talk.setSendLimit(0)
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [])
        #expect(talk.publishCapacity == 0)
        #expect(talk.unacknowledgedPublishes.count == 0)
        talk.setSendLimit(1)
        for id in [1, 2, 3] as [PacketID] {
            #expect(try talk.sent().last == Out.publish(id, qos, isDuplicate: true))
            #expect(talk.unacknowledgedPublishes.count == 1)
            #expect(talk.publishCapacity == 0)
            // At QoS 2, PUBREC is enough for the next PUBLISH.
            try talk.receive(qos == .atLeastOnce ? .pubAck(id) : .pubRec(id))
        }
        if qos == .exactlyOnce { try talk.receive(.pubComp(1), .pubComp(2), .pubComp(3)) }
        #expect(talk.inFlightCount == 0)
        #expect(talk.publishCapacity == 1)
    }

    @Test func `if the send limit is 0, a reconnect sends PUBREL but no PUBLISH`() throws {
        let talk = try Self.talk(.exactlyOnce, count: 2)
        talk.publish(qos: .atLeastOnce, token: 3)
        try talk.receive(.pubRec(1))
        talk.setSendLimit(0)
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        #expect(try talk.sent() == [])
        #expect(talk.performed() == [.acknowledged(1, .success, [])])
        talk.setSendLimit(nil)
        #expect(
            try talk.sent() == [
                Out.publish(2, .exactlyOnce, isDuplicate: true), Out.publish(3, .atLeastOnce, isDuplicate: true),
            ])
    }

    @Test func `even if the send limit is 0, PUBREL is sent as soon as the store has stored PUBREC`() throws {
        let talk = Conversation { $0.awaitsStorage = true }
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 1)
        talk.publish(qos: .exactlyOnce, token: 2)
        talk.stored(1, 1)
        talk.stored(2, 2)
        try talk.receive(.pubRec(1))
        talk.setSendLimit(0)
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [])
        talk.stored(1, 1)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        talk.setSendLimit(1)
        #expect(try talk.sent() == [Out.publish(2, .exactlyOnce, isDuplicate: true)])
    }

    @Test func `a message that is too large to resend does not count against the send limit`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 1, size: 100)
        talk.publish(qos: .atLeastOnce, token: 2)
        talk.setSendLimit(1)
        try talk.reconnect(isSessionPresent: true, properties: [.maximumPacketSize(50)])
        #expect(try talk.sent() == [Out.publish(2, .atLeastOnce, isDuplicate: true)])
    }

    @Test func `unacknowledgedPublishes has the count and the last send times, and the token only of a single message`()
        throws
    {
        let talk = Conversation()
        try talk.connect()
        #expect(talk.unacknowledgedPublishes == UnacknowledgedPublishes())
        let first = talk.now
        talk.publish(qos: .atLeastOnce, token: 1)
        #expect(talk.unacknowledgedPublishes == UnacknowledgedPublishes(count: 1, only: 1, lastSentAt: first))
        talk.pass(.seconds(1))
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(talk.unacknowledgedPublishes == UnacknowledgedPublishes(count: 2, lastSentAt: talk.now))
        try talk.receive(.pubAck(1))
        #expect(talk.unacknowledgedPublishes.only == 2)
        talk.pass(.seconds(1))
        talk.publish(qos: .atMostOnce, token: 3)
        #expect(talk.unacknowledgedPublishes.lastQoS0SentAt == talk.now)
        #expect(talk.unacknowledgedPublishes.lastSentAt == first.advanced(by: .seconds(1)))
        talk.subscribe("f", token: 4)
        #expect(talk.unacknowledgedPublishes.only == nil, "the SUBSCRIBE may end the connection")
        try talk.receive(.subAck(SubAck(packetID: 1, reasonCodes: [.success])))
        #expect(talk.unacknowledgedPublishes.only == 2)
        try talk.receive(.pubRec(2))
        #expect(talk.unacknowledgedPublishes.count == 0)
        talk.publish(qos: .atLeastOnce, token: 5)
        #expect(talk.unacknowledgedPublishes.only == nil, "the PUBREL has no answer")
    }

    @Test func `unacknowledgedPublishes stays available after a disconnect until the next connection opens`() throws {
        let talk = try Self.talk(.atLeastOnce, count: 1)
        let expected = UnacknowledgedPublishes(count: 1, only: 1, lastSentAt: talk.now)
        try talk.receive(.disconnect(Disconnect(reasonCode: .packetTooLarge)))
        #expect(talk.unacknowledgedPublishes == expected)
        talk.close()
        #expect(talk.unacknowledgedPublishes == expected)
        talk.open()
        #expect(talk.unacknowledgedPublishes == UnacknowledgedPublishes())
    }
}

/// Messages that the caller gives up because the server closes the connection after them.
@Suite
struct GivingUpTests {
    private typealias Out = OutgoingTests

    @Test func `giveUp() ends a QoS 1 message only while disconnected, and then frees the message's packet id`() throws
    {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 1)
        talk.publish(qos: .atLeastOnce, token: 2)
        #expect(!talk.giveUp(1), "its PUBACK may be on the way")
        talk.close()
        _ = talk.performed()
        #expect(talk.giveUp(1))
        #expect(!talk.giveUp(1))
        #expect(talk.performed() == [])
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [Out.publish(2, .atLeastOnce, isDuplicate: true)])
        talk.publish(qos: .exactlyOnce, token: 3)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
    }

    /// [MQTT-2.2.1-3]
    @Test func `if giveUp() ends a QoS 2 message, the packet id stays reserved until the session ends`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 1)
        talk.close()
        #expect(talk.giveUp(1))
        #expect(talk.inFlightCount == 0 && talk.keptByteCount == 0 && !talk.awaitsAnswers)
        for _ in 0..<2 {
            try talk.reconnect(isSessionPresent: true)
            #expect(try talk.sent() == [])
            talk.publish(qos: .exactlyOnce, token: 2)
            let packets = try talk.sent()
            guard case .publish(let publish)? = packets.first else { return #expect(Bool(false), "no PUBLISH") }
            #expect(publish.delivery.packetID == 2)
            // Late acknowledgements have no effect.
            try talk.receive(.pubRec(1), .pubAck(1), .pubComp(1))
            #expect(try talk.sent() == [])
            #expect(talk.isConnected)
            try talk.receive(.pubRec(2), .pubComp(2))
            _ = try talk.sent()
        }
        #expect(try talk.reconnectWithLostSession() == [], "its end was reported by the caller")
        talk.publish(qos: .exactlyOnce, token: 3)
        talk.publish(qos: .exactlyOnce, token: 4)
        #expect(talk.performed().contains(.sent(4, 1)))
    }

    @Test func `giveUp() removes a message that is not sent because the send limit is 0`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 1)
        talk.publish(qos: .atLeastOnce, token: 2)
        talk.setSendLimit(0)
        try talk.reconnect(isSessionPresent: true)
        #expect(talk.giveUp(1))
        talk.setSendLimit(1)
        #expect(try talk.sent() == [Out.publish(2, .atLeastOnce, isDuplicate: true)])
        try talk.receive(.pubAck(2))
        #expect(talk.publishCapacity == 1)
    }

    @Test func `giveUp() of a message that was never sent frees the packet id and the send quota`() throws {
        let talk = Conversation { $0.awaitsStorage = true }
        try talk.connect(properties: [.receiveMaximum(1)])
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(talk.publishCapacity == 0)
        #expect(talk.giveUp(1))
        #expect(talk.publishCapacity == 1)
        talk.stored(1, 1)
        #expect(try talk.sent() == [])
        talk.publish(qos: .atLeastOnce, token: 2)
        #expect(try talk.sent() == [Out.publish(1, .atLeastOnce)])
    }

    /// [MQTT-4.3.3-6]
    @Test func `giveUp() refuses a message that received PUBREC and a message with an unknown token`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 1)
        try talk.receive(.pubRec(1))
        talk.close()
        #expect(!talk.giveUp(1))
        #expect(!talk.giveUp(9))
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [.pubRel(1)])
    }

    @Test func `after a restart, the packet id of a QoS 2 message that giveUp() ended stays reserved`() throws {
        let talk = Conversation { $0.awaitsStorage = true }
        talk.restore([.givenUp(1), .givenUp(1), .received(7, 2)])
        #expect(talk.performed() == [])
        #expect(talk.inFlightCount == 1)
        try talk.connect(isSessionPresent: true)
        #expect(try talk.sent() == [.pubRel(2)])
        talk.publish(qos: .atLeastOnce, token: 8)
        #expect(try talk.sent() == [Out.publish(3, .atLeastOnce)])
    }
}
