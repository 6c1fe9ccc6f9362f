import MQTTCodec
import MQTTEngine
import Testing

/// QoS 2 in a session that an earlier process began: the server may hold any packet id ([MQTT-4.3.3-10]).
@Suite
struct UnknownSessionTests {
    private typealias Out = OutgoingTests

    private static func talk(_ version: ProtocolVersion = .v5) throws -> Conversation {
        let talk = Conversation(version)
        try talk.connect(isSessionPresent: true)
        return talk
    }

    @Test(arguments: [ProtocolVersion.v311, .v5])
    func `if an earlier process began the session, PUBREL is sent before the first use of each packet id`(
        _ version: ProtocolVersion
    )
        throws
    {
        let talk = try Self.talk(version)
        talk.publish(qos: .exactlyOnce, token: 7)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        try talk.receive(.pubRec(1))
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        #expect(talk.performed() == [.sent(7, 1), .receivedByServer(7), .acknowledged(7, .success, [])])
        talk.publish(qos: .exactlyOnce, token: 8)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)], "it is known now")
    }

    @Test func `if an earlier process began the session, PUBCOMP with packetIdentifierNotFound also frees a packet id`()
        throws
    {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 7)
        _ = try talk.sent()
        try talk.receive(.pubRec(1))  // This PUBREC may belong to a message of the earlier process.
        #expect(try talk.sent() == [])
        try talk.receive(.pubComp(1, .packetIdentifierNotFound))
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        #expect(talk.failures().isEmpty && talk.inFlightCount == 1)
    }

    @Test func `no PUBREL precedes a QoS 1 message, a SUBSCRIBE, or a QoS 2 message in a session of this process`()
        throws
    {
        let known = Conversation()
        try known.connect()
        try known.reconnect(isSessionPresent: true)
        known.publish(qos: .exactlyOnce, token: 1)
        #expect(try known.sent() == [Out.publish(1, .exactlyOnce)])
        let talk = try Self.talk()
        talk.publish(qos: .atLeastOnce, token: 1)
        #expect(try talk.sent() == [Out.publish(1, .atLeastOnce)])
        talk.subscribe("f", token: 2)
        #expect(try talk.sent().count == 1)
    }

    /// [MQTT-4.6.0-1]
    @Test func `messages that wait until PUBCOMP frees their packet ids are sent in their original order`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1)
        try talk.receive(.pubComp(1))
        talk.publish(qos: .exactlyOnce, token: 2)
        _ = try talk.sent()
        try talk.receive(.pubRec(1), .pubComp(1))
        _ = try talk.sent()
        talk.publish(qos: .exactlyOnce, token: 3)  // Uses the packet id of the first message, which is usable now.
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(2), .pubComp(1))
        #expect(try talk.sent() == [Out.publish(2, .exactlyOnce), Out.publish(1, .exactlyOnce)])
    }

    @Test func `if the connection is lost before PUBCOMP, PUBREL is sent again, and then the message without DUP`()
        throws
    {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1)
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce, isDuplicate: true)])
    }

    @Test func `after session loss, PUBREL is not sent before a QoS 2 message uses a packet id`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(try talk.reconnectWithLostSession() == [.returned(1)])
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(try talk.sent() == [Out.publish(2, .exactlyOnce)])
    }

    /// RabbitMQ does not support QoS 2, and closes the connection.
    @Test func `after four connections without any PUBCOMP, messages are sent without an earlier PUBREL`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1)
        talk.publish(qos: .exactlyOnce, token: 2)
        for _ in 1...4 {
            #expect(try talk.sent() == [.pubRel(1), .pubRel(2)])
            try talk.reconnect(isSessionPresent: true)
        }
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce), Out.publish(2, .exactlyOnce)])
        talk.publish(qos: .exactlyOnce, token: 3)
        #expect(try talk.sent() == [Out.publish(3, .exactlyOnce)])
    }

    @Test func `if the server answered one PUBREL, every later connection repeats the unanswered PUBRELs`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1)
        try talk.receive(.pubComp(1), .pubRec(1), .pubComp(1))
        talk.publish(qos: .exactlyOnce, token: 2)
        talk.publish(qos: .exactlyOnce, token: 3)
        for _ in 1...9 { try talk.reconnect(isSessionPresent: true) }
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce, isDuplicate: true), .pubRel(2)])
    }

    @Test func `a message fails if it expires while it waits until PUBCOMP frees its packet id`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1, expiry: .seconds(1))
        _ = try talk.sent()
        talk.pass(.seconds(2))
        try talk.receive(.pubComp(1))
        #expect(try talk.sent() == [])
        #expect(talk.failures() == [1: .expired])
        #expect(talk.inFlightCount == 0)
    }

    @Test func `a message that waits until PUBCOMP frees its packet id counts against the receive maximum`() throws {
        let talk = Conversation()
        try talk.connect(isSessionPresent: true, properties: [.receiveMaximum(1)])
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(talk.publishCapacity == 0)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1), .pubRec(1))
        #expect(talk.publishCapacity == 0)
        try talk.receive(.pubComp(1))
        #expect(talk.publishCapacity == 1)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce), .pubRel(1)])
    }

    /// A stored message always has a cleared packet id. A later process can resend the message with this id at once.
    @Test func `if a store is used, a message is stored after PUBCOMP frees its packet id, and is sent afterwards`()
        throws
    {
        let talk = Conversation { $0.awaitsStorage = true }
        try talk.connect(isSessionPresent: true)
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(try talk.sent() == [.pubRel(1)])
        #expect(talk.performed() == [])
        try talk.receive(.pubComp(1))
        #expect(try talk.sent() == [])
        #expect(talk.performed() == [.sent(1, 1)])
        talk.stored(1, 1)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
    }

    @Test func `if a message is stored only after a reconnect, the message is sent on the new connection`() throws {
        let talk = Conversation { $0.awaitsStorage = true }
        try talk.connect(isSessionPresent: true)
        talk.publish(qos: .exactlyOnce, token: 1)
        try talk.receive(.pubComp(1))
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [])
        talk.stored(1, 1)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce, isDuplicate: true)])
    }

    @Test(arguments: [0, 1])
    func `after restore(), PUBREL precedes the first message with a packet id that was not restored`(_ count: Int)
        throws
    {
        let talk = Conversation { $0.awaitsStorage = true }
        talk.restore([.received(1, 5)].suffix(count))
        try talk.connect(isSessionPresent: true)
        #expect(try talk.sent() == [.pubRel(5)].suffix(count))
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(try talk.sent() == [.pubRel(1)])
    }

    @Test func `client ids that differ only in Unicode normalization have separate sessions`() throws {
        let talk = Conversation { $0.connect.clientID = "caf\u{E9}" }
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 1)
        try talk.receive(.pubRec(1))
        talk.close()
        _ = try talk.sent()
        _ = talk.performed()
        talk.reconfigure(isSameServer: true) { $0.connect.clientID = "cafe\u{301}" }
        #expect(talk.failures() == [1: .sessionLost])
        try talk.connect(isSessionPresent: true)
        #expect(try talk.sent() == [], "no PUBREL into a session that is not this one's")
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(try talk.sent() == [.pubRel(1)])
    }

    @Test func `after each change of server, PUBREL is sent again before a QoS 2 message uses a packet id`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.close()
        _ = try talk.sent()
        talk.reconfigure(isSameServer: false)
        try talk.connect(isSessionPresent: true)
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.reconnect(isSessionPresent: true)
        _ = try talk.sent()
        talk.close()
        talk.reconfigure(isSameServer: false)
        try talk.connect(isSessionPresent: true)
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(try talk.sent() == [.pubRel(1), .pubRel(2)])
    }
}
