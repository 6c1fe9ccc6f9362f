import MQTTCodec
import MQTTEngine
import Testing

/// A caller that stores the session on disk: packets wait until it confirms the storage, and a restarted process
/// continues the session.
@Suite
struct StorageTests {
    private static func durable() -> Conversation {
        Conversation {
            $0.awaitsStorage = true
            $0.acknowledgements = .onCommand
        }
    }

    private static func message(_ token: Token, _ qos: PacketQoS) -> OutgoingMessage {
        OutgoingMessage(topic: "t", payload: [1], qos: qos, token: token)
    }

    private static func publish(_ id: PacketID, _ qos: PacketQoS, isDuplicate: Bool = false) throws -> Packet {
        try OutgoingTests.publish(id, qos, isDuplicate: isDuplicate)
    }

    // MARK: Outgoing

    @Test func `a QoS 2 PUBLISH waits until its packet id is stored, and PUBREL until PUBREC is stored`() throws {
        let talk = Self.durable()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 7)
        #expect(try talk.sent() == [])
        #expect(talk.performed() == [.sent(7, 1)])
        talk.stored(7, 1)
        #expect(try talk.sent() == [Self.publish(1, .exactlyOnce)])
        try talk.receive(.pubRec(1), .pubRec(1))
        #expect(try talk.sent() == [])
        #expect(talk.performed() == [.receivedByServer(7)])
        talk.stored(7, 1)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        #expect(talk.performed() == [.acknowledged(7, .success, [])])
    }

    @Test func `PUBCOMP with packetIdentifierNotFound completes a message that an earlier process sent`() throws {
        let talk = Self.durable()
        talk.restore([.received(7, 3)])
        try talk.connect(isSessionPresent: true)
        try talk.receive(.pubComp(3, .packetIdentifierNotFound))
        #expect(talk.performed() == [.acknowledged(7, .success, [])])
    }

    @Test func `a QoS 1 message is sent without waiting for the store`() throws {
        let talk = Self.durable()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 7)
        #expect(try talk.sent() == [Self.publish(1, .atLeastOnce)])
    }

    @Test func `a message is sent once, and only after stored() is called with the correct token and packet id`() throws
    {
        let talk = Self.durable()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 7)
        talk.stored(8, 1)
        talk.stored(7, 2)
        #expect(try talk.sent() == [])
        talk.stored(7, 1)
        talk.stored(7, 1)
        #expect(try talk.sent() == [Self.publish(1, .exactlyOnce)])
    }

    @Test func `a message that waits for the store uses send quota and starts no acknowledgement timeout`() throws {
        let talk = Self.durable()
        try talk.connect(properties: [.receiveMaximum(1)])
        talk.publish(qos: .exactlyOnce, token: 1)
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(talk.performed() == [.sent(1, 1), .failed(2, .quotaExceeded)])
        talk.pass(.seconds(61))
        talk.fireTimer()
        #expect(talk.performed() == [.pingSent])
        talk.stored(1, 1)
        try talk.receive(.pubRec(1))
        talk.stored(1, 1)
        try talk.receive(.pubComp(1))
        #expect(talk.performed() == [.receivedByServer(1), .acknowledged(1, .success, [])])
        #expect(talk.publishCapacity == 1)
    }

    @Test func `if a packet id is stored after a reconnect, the message is sent on the new connection`() throws {
        let talk = Self.durable()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 7)
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [])
        talk.stored(7, 1)
        guard case .publish(let publish)? = try talk.sent().first else {
            Issue.record("nothing was written")
            return
        }
        #expect(publish.delivery.packetID == 1)
    }

    @Test func `PUBREL is sent even while other messages wait for send quota`() throws {
        let talk = Self.durable()
        try talk.connect(properties: [.receiveMaximum(2)])
        for token in 1...2 as ClosedRange<UInt64> { talk.publish(qos: .exactlyOnce, token: Token(rawValue: token)) }
        talk.stored(1, 1)
        talk.stored(2, 2)
        try talk.reconnect(isSessionPresent: true, properties: [.receiveMaximum(1)])
        #expect(try talk.sent() == [Self.publish(1, .exactlyOnce, isDuplicate: true)])
        try talk.receive(.pubRec(1))
        talk.stored(1, 1)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        #expect(try talk.sent() == [Self.publish(2, .exactlyOnce, isDuplicate: true)])
    }

    @Test
    func `if the session is lost while a message is being stored, the message is returned, and stored() is ignored`()
        throws
    {
        let talk = Self.durable()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 7)
        #expect(try talk.reconnectWithLostSession() == [.returned(7)])
        talk.stored(7, 1)
        #expect(try talk.sent() == [])
        talk.publish(qos: .exactlyOnce, token: 7)
        #expect(talk.performed() == [.sent(7, 1)])
        talk.stored(7, 1)
        #expect(try talk.sent() == [Self.publish(1, .exactlyOnce)])
    }

    // MARK: Incoming

    @Test func `PUBCOMP is sent once, after PUBREL is stored`() throws {
        let talk = Self.durable()
        try talk.connect()
        try talk.receive(Self.publish(9, .exactlyOnce))
        guard case .message(let message)? = talk.performed().first else {
            Issue.record("no message")
            return
        }
        #expect(try talk.sent() == [])
        #expect(talk.acknowledge(message.handle))
        #expect(try talk.sent() == [.pubRec(9)])
        try talk.receive(.pubRel(9), .pubRel(9))
        #expect(try talk.sent() == [])
        #expect(talk.performed() == [.incomingReleased(9)])
        talk.storedRelease(9)
        talk.storedRelease(9)
        #expect(try talk.sent() == [.pubComp(9)])
    }

    @Test func `if PUBREL is stored after a reconnect, PUBCOMP is sent only when the server repeats PUBREL`() throws {
        let talk = Self.durable()
        try talk.connect()
        try talk.receive(Self.publish(9, .exactlyOnce))
        guard case .message(let message)? = talk.performed().first else {
            Issue.record("no message")
            return
        }
        _ = talk.acknowledge(message.handle)
        try talk.receive(.pubRel(9))
        try talk.reconnect(isSessionPresent: true)
        talk.storedRelease(9)
        #expect(try talk.sent() == [])
        try talk.receive(.pubRel(9))
        #expect(
            try talk.sent() == [.pubComp(Acknowledgement(packetID: 9, reasonCode: .packetIdentifierNotFound))])
    }

    @Test func `if PUBREL is repeated on a new connection, PUBCOMP is sent only after PUBREL is stored`() throws {
        let talk = Self.durable()
        try talk.connect()
        try talk.receive(Self.publish(9, .exactlyOnce))
        guard case .message(let message)? = talk.performed().first else {
            Issue.record("no message")
            return
        }
        _ = talk.acknowledge(message.handle)
        try talk.receive(.pubRel(9))
        try talk.reconnect(isSessionPresent: true)
        _ = talk.performed()
        try talk.receive(.pubRel(9))
        #expect(try talk.sent() == [])
        #expect(talk.performed() == [])
        talk.storedRelease(9)
        #expect(try talk.sent() == [.pubComp(9)])
    }

    /// If mosquitto is stopped between PUBREL and PUBCOMP, it later sends PUBLISH again.
    @Test func `if a packet id is reused before PUBREL is stored, PUBCOMP is sent after both PUBRELs are stored`()
        throws
    {
        let talk = Self.durable()
        func receive(isDuplicate: Bool) throws {
            try talk.receive(Self.publish(9, .exactlyOnce, isDuplicate: isDuplicate))
            guard case .message(let message)? = talk.performed().last else {
                Issue.record("no message")
                return
            }
            _ = talk.acknowledge(message.handle)
            #expect(try talk.sent() == [.pubRec(9)])
        }
        try talk.connect()
        try receive(isDuplicate: false)
        try talk.receive(.pubRel(9))
        #expect(talk.performed() == [.incomingReleased(9)])
        try talk.reconnect(isSessionPresent: true)
        try receive(isDuplicate: true)
        try talk.receive(.pubRel(9))
        #expect(talk.performed() == [.incomingReleased(9)])
        talk.storedRelease(9)
        #expect(try talk.sent() == [])  // The first call. The store may already contain the id for the second message.
        talk.storedRelease(9)
        #expect(try talk.sent() == [.pubComp(9)])
        try receive(isDuplicate: false)
    }

    /// [MQTT-4.3.3-9]
    @Test
    func `storedRelease() calls for refused messages cause no PUBCOMP of a later message with the same packet id`()
        throws
    {
        let talk = Self.durable()
        try talk.connect()
        for _ in 1...2 {
            try talk.receive(Self.publish(9, .exactlyOnce))
            #expect(talk.acknowledge(talk.handles().first ?? nil, .notAuthorized))
            #expect(try talk.sent() == [.pubRec(9, .notAuthorized)])
            #expect(talk.performed() == [.incomingReleased(9)])
        }
        try talk.receive(Self.publish(9, .exactlyOnce))
        #expect(talk.acknowledge(talk.handles().first ?? nil))
        try talk.receive(.pubRel(9))
        #expect(try talk.sent() == [.pubRec(9)])
        #expect(talk.performed() == [.incomingReleased(9)])
        talk.storedRelease(9)
        talk.storedRelease(9)
        #expect(try talk.sent() == [])  // The calls for the refused messages.
        talk.storedRelease(9)
        #expect(try talk.sent() == [.pubComp(9)])
    }

    @Test func `incomingReplaced is reported before a new message that reuses the packet id of an old message`() throws
    {
        let talk = Self.durable()
        try talk.connect()
        try talk.receive(.message("t", .exactlyOnce(9, isDuplicate: false), [1]))
        guard case .message(let message)? = talk.performed().first else {
            Issue.record("no message")
            return
        }
        _ = talk.acknowledge(message.handle)
        for (payload, isDuplicate) in [([2], true), ([2], false)] as [([UInt8], Bool)] {
            try talk.reconnect(isSessionPresent: true)
            _ = talk.performed()
            try talk.receive(.message("t", .exactlyOnce(9, isDuplicate: isDuplicate), payload))
            let actions = talk.performed()
            #expect(actions.first == .incomingReplaced(9))
            guard case .message? = actions.last, actions.count == 2 else {
                Issue.record("\(actions)")
                return
            }
        }
    }

    // MARK: After a crash

    /// [MQTT-4.4.0-1]
    @Test func `after a restart, unfinished messages are sent again in order with their packet ids`() throws {
        let talk = Self.durable()
        talk.restore([
            .sent(Self.message(1, .atLeastOnce), 5), .received(2, 3), .sent(Self.message(3, .exactlyOnce), 1),
        ])
        talk.open()
        _ = try talk.sent()
        try talk.receive(.connAck(ConnAck(isSessionPresent: true)))
        talk.publish(qos: .atLeastOnce, token: 4)
        #expect(
            try talk.sent() == [
                .pubRel(3), Self.publish(5, .atLeastOnce, isDuplicate: true),
                Self.publish(1, .exactlyOnce, isDuplicate: true), Self.publish(2, .atLeastOnce),
            ])
        try talk.receive(.pubAck(5), .pubComp(3), .pubAck(2))
        #expect(talk.inFlightCount == 1)
    }

    @Test func `after session loss, restored messages that received PUBREC fail, and all other messages are returned`()
        throws
    {
        let talk = Self.durable()
        talk.restore([.sent(Self.message(1, .atLeastOnce), 5), .received(2, 3)])
        talk.open()
        _ = try talk.sent()
        try talk.receive(.connAck(ConnAck(isSessionPresent: false)))
        #expect(try talk.sent() == [])
        #expect(talk.performed() == [.connected(ConnAck()), .returned(1), .failed(2, .sessionLost)])
    }

    @Test func `if two restored messages have the same packet id, the second message fails with the error dropped`()
        throws
    {
        let talk = Self.durable()
        talk.restore([.sent(Self.message(1, .atLeastOnce), 5), .sent(Self.message(2, .atLeastOnce), 5)])
        #expect(talk.failures() == [2: .dropped])
        #expect(talk.inFlightCount == 1)
    }

    @Test func `[MQTT-4.3.3-10] a QoS 2 message that an earlier process received is not delivered again`() throws {
        let talk = Self.durable()
        talk.restore([], incoming: [9])
        try talk.connect(isSessionPresent: true)
        try talk.receive(Self.publish(9, .exactlyOnce, isDuplicate: true))
        #expect(talk.performed() == [])
        #expect(try talk.sent() == [.pubRec(9)])
        try talk.receive(.pubRel(9))
        talk.storedRelease(9)
        #expect(try talk.sent() == [.pubComp(9)])
    }
}
