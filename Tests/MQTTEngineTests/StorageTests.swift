import MQTTCodec
import MQTTEngine
import Testing

/// A caller that keeps the session on disk: packets wait for its word, and a killed process goes on where it was.
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

    @Test func `a QoS 2 message is written when its packet id is stored, and PUBREL when PUBREC is`() throws {
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

    @Test func `PUBREL of another process whose id the server has forgotten ends with success`() throws {
        let talk = Self.durable()
        talk.restore([.received(7, 3)])
        try talk.connect(isSessionPresent: true)
        try talk.receive(.pubComp(3, .packetIdentifierNotFound))
        #expect(talk.performed() == [.acknowledged(7, .success, [])])
    }

    @Test func `QoS 1 waits for nothing`() throws {
        let talk = Self.durable()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 7)
        #expect(try talk.sent() == [Self.publish(1, .atLeastOnce)])
    }

    @Test func `what is stored twice, or of another message, writes nothing`() throws {
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

    @Test func `a held message holds quota, and the connection does not wait for its acknowledgement`() throws {
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

    @Test func `a connection that ends before the packet id is stored changes nothing`() throws {
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

    @Test func `PUBREL never waits behind messages that wait for the quota that it frees`() throws {
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

    @Test func `a lost session returns a held message, and the late storage of its old id writes nothing`() throws {
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

    @Test func `PUBCOMP follows when PUBREL is stored, and once`() throws {
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

    @Test func `a release that is stored after the connection ended is answered when PUBREL comes again`() throws {
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

    @Test func `PUBREL that comes again is not answered before the release is stored, on whichever connection`() throws
    {
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

    /// mosquitto begins with PUBLISH again when it is stopped between PUBREL and PUBCOMP.
    @Test func `an id that is used again before its release is stored is released twice`() throws {
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
        #expect(try talk.sent() == [])  // The first; the id may be on disk for the second.
        talk.storedRelease(9)
        #expect(try talk.sent() == [.pubComp(9)])
        try receive(isDuplicate: false)
    }

    @Test func `[MQTT-4.3.3-9] a refused id is released, and PUBCOMP for a later message under it waits for its own`()
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
        #expect(try talk.sent() == [])  // Those that were refused.
        talk.storedRelease(9)
        #expect(try talk.sent() == [.pubComp(9)])
    }

    @Test func `that an id means another message is told before that message`() throws {
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

    @Test func `[MQTT-4.4.0-1] what an earlier process left is sent again, in order, with its packet ids`() throws {
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

    @Test func `without the server's session what was left is returned, and what it had is reported`() throws {
        let talk = Self.durable()
        talk.restore([.sent(Self.message(1, .atLeastOnce), 5), .received(2, 3)])
        talk.open()
        _ = try talk.sent()
        try talk.receive(.connAck(ConnAck(isSessionPresent: false)))
        #expect(try talk.sent() == [])
        #expect(talk.performed() == [.connected(ConnAck()), .returned(1), .failed(2, .sessionLost)])
    }

    @Test func `a packet id that comes twice is taken over once`() throws {
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
