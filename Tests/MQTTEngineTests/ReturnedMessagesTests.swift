import MQTTCodec
import MQTTEngine
import Testing

/// Messages that the caller publishes again because the server lost the session.
@Suite
struct ReturnedMessagesTests {
    private typealias Out = OutgoingTests

    @Test func `after session loss, messages are returned in publish order, not in packet id order`() throws {
        let talk = Conversation()
        try talk.connect()
        for token in 1...3 as ClosedRange<UInt64> { talk.publish(qos: .atLeastOnce, token: Token(rawValue: token)) }
        try talk.receive(.pubAck(2), .pubAck(1))
        talk.publish(qos: .exactlyOnce, token: 4)  // Uses packet id 2, which became free first.
        talk.publish(qos: .atLeastOnce, token: 5)  // Uses packet id 1.
        #expect(talk.performed().suffix(2) == [.sent(4, 2), .sent(5, 1)])
        #expect(try talk.reconnectWithLostSession() == [.returned(3), .returned(4), .returned(5)])
        #expect(try talk.sent() == [])
        #expect(talk.inFlightCount == 0 && talk.keptByteCount == 0)
    }

    @Test func `a returned message that is published again is sent without DUP`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(try talk.reconnectWithLostSession() == [.returned(1)])
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        #expect(talk.performed() == [.sent(1, 1)])
    }

    @Test func `unacknowledged messages of a lost session use no send quota on the new connection`() throws {
        let talk = Conversation()
        try talk.connect()
        for token in 1...3 as ClosedRange<UInt64> { talk.publish(qos: .atLeastOnce, token: Token(rawValue: token)) }
        _ = try talk.reconnectWithLostSession(properties: [.receiveMaximum(2)])
        #expect(talk.publishCapacity == 2)
    }

    @Test func `if the session is lost, messages that wait for send quota are also returned to the caller`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 1)
        talk.publish(qos: .exactlyOnce, token: 2)
        try talk.reconnect(isSessionPresent: true, properties: [.receiveMaximum(1)])
        #expect(try talk.sent() == [Out.publish(1, .atLeastOnce, isDuplicate: true)])
        #expect(try talk.reconnectWithLostSession() == [.returned(1), .returned(2)])
    }

    @Test func `if the session is lost, a message that waits until PUBCOMP frees its packet id is returned`() throws {
        let talk = Conversation()
        try talk.connect(isSessionPresent: true)
        talk.publish(qos: .exactlyOnce, token: 1)
        talk.publish(qos: .atLeastOnce, token: 2)
        #expect(try talk.sent() == [.pubRel(1), Out.publish(2, .atLeastOnce)])
        #expect(try talk.reconnectWithLostSession() == [.returned(1), .returned(2)])
        #expect(talk.inFlightCount == 0)
    }

    /// [MQTT-4.3.3-6]
    @Test func `if a store is used, session loss fails messages that received PUBREC and returns all other messages`()
        throws
    {
        let talk = Conversation { $0.awaitsStorage = true }
        try talk.connect()
        for token in 1...4 as ClosedRange<UInt64> { talk.publish(qos: .exactlyOnce, token: Token(rawValue: token)) }
        for (token, id) in [(1, 1), (2, 2), (3, 3)] as [(Token, PacketID)] { talk.stored(token, id) }
        try talk.receive(.pubRec(1), .pubRec(2))
        // PUBREL of message 1 is written, and PUBREL of message 2 waits. Message 3 waits for PUBREC. The PUBLISH of
        // message 4 waits.
        talk.stored(1, 1)
        #expect(
            try talk.reconnectWithLostSession() == [
                .returned(3), .returned(4), .failed(1, .sessionLost), .failed(2, .sessionLost),
            ])
        for (token, id) in [(2, 2), (4, 4)] as [(Token, PacketID)] { talk.stored(token, id) }
        #expect(try talk.sent() == [])
        #expect(talk.inFlightCount == 0 && talk.keptByteCount == 0)
    }

    @Test func `if the client id changes, all messages in flight are returned, but no subscribe request`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 1)
        talk.subscribe("f", token: 2)
        talk.publish(qos: .exactlyOnce, token: 3)
        _ = try talk.sent()
        _ = talk.performed()
        talk.close()
        #expect(talk.performed() == [.failed(2, .connectionLost), .close(.transportClosed)])
        talk.reconfigure(isSameServer: true) { $0.connect.clientID = "d" }
        #expect(talk.performed() == [.returned(1), .returned(3)])
        #expect(talk.inFlightCount == 0)
    }

    @Test func `a message that must not be resent fails when the connection closes, and is not returned afterwards`()
        throws
    {
        let talk = Conversation()
        try talk.connect()
        talk.publish(OutgoingMessage(topic: "t", payload: [1], qos: .atLeastOnce, isRetried: false, token: 1))
        talk.close()
        #expect(talk.failures() == [1: .connectionLost])
        try talk.connect(isSessionPresent: false)
        #expect(talk.performed() == [])
    }
}
