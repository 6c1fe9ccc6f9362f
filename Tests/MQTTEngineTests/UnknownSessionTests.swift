import MQTTCodec
import MQTTEngine
import Testing

/// QoS 2 in a session that an earlier process began: the server may hold any packet id ([MQTT-4.3.3-2]).
@Suite
struct UnknownSessionTests {
    private typealias Out = OutgoingTests

    private static func talk(_ version: ProtocolVersion = .v5) throws -> Conversation {
        let talk = Conversation(version)
        try talk.connect(isSessionPresent: true)
        return talk
    }

    @Test(arguments: [ProtocolVersion.v311, .v5])
    func `what was left under an id is ended before a message goes under it`(_ version: ProtocolVersion) throws {
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

    @Test func `that nothing was left is an answer as well`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 7)
        _ = try talk.sent()
        try talk.receive(.pubRec(1))  // Of what was left, perhaps.
        #expect(try talk.sent() == [])
        try talk.receive(.pubComp(1, .packetIdentifierNotFound))
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        #expect(talk.failures().isEmpty && talk.inFlightCount == 1)
    }

    @Test func `a session that began with this engine, QoS 1 and requests need no question`() throws {
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
    @Test func `no message overtakes one that waits for its id`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1)
        try talk.receive(.pubComp(1))
        talk.publish(qos: .exactlyOnce, token: 2)
        _ = try talk.sent()
        try talk.receive(.pubRec(1), .pubComp(1))
        _ = try talk.sent()
        talk.publish(qos: .exactlyOnce, token: 3)  // Under the id of the first, which is known.
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(2), .pubComp(1))
        #expect(try talk.sent() == [Out.publish(2, .exactlyOnce), Out.publish(1, .exactlyOnce)])
    }

    @Test func `the next connection asks again, and what was never sent is not marked as a repetition`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1)
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce, isDuplicate: true)])
    }

    @Test func `when the session is lost there is nothing to ask`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(try talk.reconnectWithLostSession() == [.returned(1)])
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce)])
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(try talk.sent() == [Out.publish(2, .exactlyOnce)])
    }

    /// RabbitMQ, which speaks no QoS 2, ends the connection.
    @Test func `a server that never answers is asked on four connections, and then not any more`() throws {
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

    @Test func `one that has answered once is asked always`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1)
        try talk.receive(.pubComp(1), .pubRec(1), .pubComp(1))
        talk.publish(qos: .exactlyOnce, token: 2)
        talk.publish(qos: .exactlyOnce, token: 3)
        for _ in 1...9 { try talk.reconnect(isSessionPresent: true) }
        #expect(try talk.sent() == [Out.publish(1, .exactlyOnce, isDuplicate: true), .pubRel(2)])
    }

    @Test func `a message that ended meanwhile gives its place back`() throws {
        let talk = try Self.talk()
        talk.publish(qos: .exactlyOnce, token: 1, expiry: .seconds(1))
        _ = try talk.sent()
        talk.pass(.seconds(2))
        try talk.receive(.pubComp(1))
        #expect(try talk.sent() == [])
        #expect(talk.failures() == [1: .expired])
        #expect(talk.inFlightCount == 0)
    }

    @Test func `the server's quota counts from the question on`() throws {
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

    /// What is stored is of an id that is free: a process that goes on with it need not ask.
    @Test func `with a store a message is told as sent when its id is free, and goes when that is stored`() throws {
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

    @Test func `with a store what is not stored when the connection ends goes with the next one`() throws {
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
    func `of a session that the caller restored only what it brought is known`(_ count: Int) throws {
        let talk = Conversation { $0.awaitsStorage = true }
        talk.restore([.received(1, 5)].suffix(count))
        try talk.connect(isSessionPresent: true)
        #expect(try talk.sent() == [.pubRel(5)].suffix(count))
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(try talk.sent() == [.pubRel(1)])
    }

    @Test func `a client id of the same letters in other bytes has another session`() throws {
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

    @Test func `at another server nothing is known of the session`() throws {
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
