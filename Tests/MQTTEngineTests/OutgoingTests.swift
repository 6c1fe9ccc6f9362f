import MQTTCodec
import MQTTEngine
import Testing

@Suite
struct OutgoingTests {
    static func publish(_ id: PacketID, _ qos: PacketQoS, isDuplicate: Bool = false) throws -> Packet {
        .message("t", try #require(Delivery(qos: qos, packetID: id, isDuplicate: isDuplicate)))
    }

    @Test func `a QoS 0 message is sent at once and no result is reported`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atMostOnce, token: 1)
        #expect(try talk.sent() == [.message()])
        #expect(talk.performed() == [])
    }

    /// [MQTT-4.3.2-1]
    @Test func `PUBACK completes a QoS 1 message and reports its reason code`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 7)
        #expect(try talk.sent() == [Self.publish(1, .atLeastOnce)])
        #expect(talk.performed() == [.sent(7, 1)])
        try talk.receive(.pubAck(1, .noMatchingSubscribers))
        #expect(talk.performed() == [.acknowledged(7, .noMatchingSubscribers, [])])
        #expect(talk.inFlightCount == 0)
    }

    /// [MQTT-4.3.3-1]
    @Test func `a QoS 2 message exchanges PUBLISH, PUBREC, PUBREL and PUBCOMP in this order`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 7)
        #expect(try talk.sent() == [Self.publish(1, .exactlyOnce)])
        try talk.receive(.pubRec(1))
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        #expect(talk.performed() == [.sent(7, 1), .receivedByServer(7), .acknowledged(7, .success, [])])
    }

    /// [MQTT-4.3.3-4]
    @Test func `a PUBREC with a failure code completes a QoS 2 message, and no PUBREL is sent`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 7)
        _ = try talk.sent()
        try talk.receive(.pubRec(1, .notAuthorized))
        #expect(try talk.sent() == [])
        #expect(talk.performed().last == .acknowledged(7, .notAuthorized, []))
        #expect(talk.inFlightCount == 0)
    }

    @Test func `trim() keeps messages in flight, and packet ids restart at 1 only if no message is in flight`()
        throws
    {
        let talk = Conversation()
        try talk.connect()
        for token in [1, 2, 3] as [Token] { talk.publish(qos: .exactlyOnce, token: token) }
        for id in [1, 2] as [PacketID] {
            try talk.receive(.pubRec(id))
            try talk.receive(.pubComp(id))
        }
        talk.trim()
        _ = try talk.sent()
        _ = talk.performed()
        talk.publish(qos: .atLeastOnce, token: 4)
        #expect(talk.performed() == [.sent(4, 1)])
        try talk.reconnect(isSessionPresent: true)
        #expect(
            try talk.sent() == [
                Self.publish(3, .exactlyOnce, isDuplicate: true), Self.publish(1, .atLeastOnce, isDuplicate: true),
            ])
        try talk.receive(.pubRec(3))
        try talk.receive(.pubAck(1))
        talk.trim()
        try talk.receive(.pubComp(3))
        #expect(talk.inFlightCount == 0)
        _ = talk.performed()

        talk.trim()
        talk.publish(qos: .atLeastOnce, token: 5)
        talk.publish(qos: .exactlyOnce, token: 6)
        #expect(talk.performed() == [.sent(5, 1), .sent(6, 2)])
        try talk.receive(.pubAck(1))
        #expect(talk.performed() == [.acknowledged(5, .success, [])])
    }

    @Test func `the properties of PUBACK are reported with the acknowledgement`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 7)
        try talk.receive(
            .pubAck(Acknowledgement(packetID: 1, reasonCode: .quotaExceeded, properties: [.reasonString("full")])))
        #expect(talk.performed().last == .acknowledged(7, .quotaExceeded, [.reasonString("full")]))
    }

    @Test func `PUBACK completes a QoS 2 message, and each connection reports qosDowngraded only once`() throws {
        let talk = Conversation(.v311)
        try talk.connect()
        for token in [7, 8] as [Token] { talk.publish(qos: .exactlyOnce, token: token) }
        _ = talk.performed()
        try talk.receive(.pubAck(1))
        #expect(talk.performed() == [.qosDowngraded, .acknowledged(7, .success, [])])
        try talk.receive(.pubAck(2))
        #expect(talk.performed() == [.acknowledged(8, .success, [])])
        try talk.reconnect(isSessionPresent: true)
        talk.publish(qos: .exactlyOnce, token: 9)
        #expect(talk.performed().last == .sent(9, 1))
        try talk.receive(.pubAck(1))
        #expect(talk.performed() == [.qosDowngraded, .acknowledged(9, .success, [])])
    }

    @Test func `an acknowledgement of an unknown packet id is ignored, but a wrong type closes the connection`()
        throws
    {
        let talk = Conversation()
        try talk.connect()
        try talk.receive(.pubAck(9), .pubComp(9), .pubRec(9))
        #expect(try talk.sent() == [.pubRel(9, .packetIdentifierNotFound)])
        #expect(talk.performed() == [])
        talk.publish(qos: .atLeastOnce, token: 1)
        _ = talk.performed()
        try talk.receive(.pubComp(1))
        #expect(talk.performed().last == .close(.protocolError(.wrongAcknowledgement(.pubComp, 1))))
    }

    /// [MQTT-2.2.1-3]
    @Test func `a packet id is reused only after its exchange has ended`() throws {
        let talk = Conversation { $0.maximumInFlight = 70_000 }
        try talk.connect()
        for token in 1...65_535 { talk.publish(qos: .atLeastOnce, token: Token(rawValue: UInt64(token))) }
        let ids = try talk.sent().compactMap {
            if case .publish(let publish) = $0 { publish.delivery.packetID } else { nil }
        }
        #expect(Set(ids).count == 65_535)
        _ = talk.performed()
        talk.publish(qos: .atLeastOnce, token: 70_000)
        #expect(try talk.sent() == [])
        #expect(talk.performed() == [.failed(70_000, .quotaExceeded)])
        try talk.receive(.pubAck(500))
        talk.publish(qos: .atLeastOnce, token: 70_000)
        #expect(try talk.sent() == [Self.publish(500, .atLeastOnce)])
    }

    @Test func `a message that violates a server limit or topic rule fails with the reason`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.maximumQoS(.atMostOnce), .retainAvailable(false), .maximumPacketSize(50)])
        talk.publish(qos: .atLeastOnce, token: 1)
        talk.publish(OutgoingMessage(topic: "t", payload: [], qos: .atMostOnce, isRetained: true, token: 2))
        talk.publish(qos: .atMostOnce, token: 3, size: 60)
        talk.publish("a/#", qos: .atMostOnce, token: 4)
        let failures = talk.failures()
        #expect(failures[1] == .notSupportedByServer(.qosNotSupported))  // [MQTT-3.2.2-11]
        #expect(failures[2] == .notSupportedByServer(.retainNotSupported))  // [MQTT-3.2.2-14]
        guard case .notEncodable(let tooLarge)? = failures[3], case .notEncodable(let wildcard)? = failures[4] else {
            Issue.record("\(failures)")
            return
        }
        #expect(tooLarge.violation == .packetTooLarge(size: 66, limit: 50))  // [MQTT-3.2.2-15]
        #expect(wildcard.violation == .wildcardInTopicName)
        #expect(try talk.sent() == [])
        #expect(talk.inFlightCount == 0)
    }

    @Test func `an expired message fails, and other messages are sent with their remaining expiry interval`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 1, expiry: .zero)
        talk.publish(qos: .atLeastOnce, token: 2, expiry: .milliseconds(50_500))
        #expect(talk.performed() == [.failed(1, .expired), .sent(2, 1)])
        #expect(
            try talk.sent() == [
                .message("t", .atLeastOnce(1, isDuplicate: false), properties: [.messageExpiryInterval(51)])
            ])
    }

    /// [MQTT-4.4.0-1]
    @Test(arguments: [PacketQoS.atLeastOnce, .exactlyOnce])
    func `a message that expires in flight is sent again with an expiry of 1 second`(qos: PacketQoS) throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: qos, token: 1, expiry: .seconds(5))
        let first = try talk.sent().compactMap { if case .publish(let publish) = $0 { publish } else { nil } }
        #expect(first.map(\.properties.messageExpiryInterval) == [5])
        for passed in [Duration.seconds(5), .seconds(60)] {  // Up to the end of the expiry interval, and far beyond.
            talk.pass(passed)
            try talk.reconnect(isSessionPresent: true)
            let again = try talk.sent().compactMap { if case .publish(let publish) = $0 { publish } else { nil } }
            #expect(again.map(\.delivery.isDuplicate) == [true])
            #expect(again.map(\.properties.messageExpiryInterval) == [1])
        }
    }

    @Test func `a message in flight needs no timer while there is no connection`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 1, expiry: .seconds(5))
        talk.close()
        _ = talk.performed()
        #expect(talk.deadline == nil)
        talk.pass(.seconds(10))
        talk.fireTimer()
        #expect(talk.performed() == [])
        #expect(talk.inFlightCount == 1)
    }

    @Test func `an expired QoS 0 message fails and is not sent`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atMostOnce, token: 1, expiry: .zero)
        #expect(talk.performed() == [.failed(1, .expired)])
        #expect(try talk.sent() == [])
    }

    // Resuming a session.

    /// [MQTT-4.4.0-1]
    @Test
    func `a reconnect sends PUBREL for messages that received PUBREC, and then resends other messages with DUP`()
        throws
    {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 1)
        talk.publish(qos: .exactlyOnce, token: 2)
        talk.publish(qos: .exactlyOnce, token: 3)
        try talk.receive(.pubRec(2))
        try talk.reconnect(isSessionPresent: true)
        #expect(
            try talk.sent() == [
                .pubRel(2), Self.publish(1, .atLeastOnce, isDuplicate: true),
                Self.publish(3, .exactlyOnce, isDuplicate: true),
            ])
        #expect(talk.performed() == [])
        try talk.receive(.pubComp(2), .pubAck(1))
        #expect(talk.performed() == [.acknowledged(2, .success, []), .acknowledged(1, .success, [])])
    }

    /// [MQTT-4.6.0-4]
    @Test func `a reconnect resends PUBRELs in the order of the PUBRECs, and then PUBLISH packets in publish order`()
        throws
    {
        let talk = Conversation()
        try talk.connect()
        for token in 1...5 { talk.publish(qos: .exactlyOnce, token: Token(rawValue: UInt64(token))) }
        try talk.receive(.pubRec(4), .pubRec(1), .pubRec(3))
        for _ in 0..<2 {
            try talk.reconnect(isSessionPresent: true)
            let publishes = try [2, 5].map { try Self.publish($0, .exactlyOnce, isDuplicate: true) }
            #expect(try talk.sent() == [.pubRel(4), .pubRel(1), .pubRel(3)] + publishes)
        }
        try talk.receive(.pubRec(5), .pubRec(2))
        _ = try talk.sent()
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [4, 1, 3, 5, 2].map { .pubRel($0) })
    }

    /// [MQTT-4.3.3-5]: the first PUBCOMP was lost with the connection. An unknown packet id is then no error (3.7.2.1).
    @Test func `after a resent PUBREL, PUBCOMP with packetIdentifierNotFound completes the message`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 7)
        try talk.receive(.pubRec(1))
        try talk.reconnect(isSessionPresent: true)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1, .packetIdentifierNotFound))
        #expect(talk.performed() == [.acknowledged(7, .success, [])])
        #expect(talk.inFlightCount == 0)
    }

    @Test func `resent messages respect a smaller receive maximum of the new connection`() throws {
        let talk = Conversation()
        try talk.connect()
        for token in 1...3 { talk.publish(qos: .atLeastOnce, token: Token(rawValue: UInt64(token))) }
        try talk.reconnect(isSessionPresent: true, properties: [.receiveMaximum(1)])
        talk.publish(qos: .atLeastOnce, token: 4)
        #expect(talk.performed() == [.failed(4, .quotaExceeded)])
        #expect(try talk.sent() == [Self.publish(1, .atLeastOnce, isDuplicate: true)])
        try talk.receive(.pubAck(1))
        #expect(try talk.sent() == [Self.publish(2, .atLeastOnce, isDuplicate: true)])
        try talk.receive(.pubAck(2))
        #expect(try talk.sent() == [Self.publish(3, .atLeastOnce, isDuplicate: true)])
        #expect(talk.publishCapacity == 0)
        try talk.receive(.pubAck(3))
        #expect(talk.publishCapacity == 1)
        talk.publish(qos: .atLeastOnce, token: 4)
        #expect(try talk.sent() == [Self.publish(1, .atLeastOnce)])
        #expect(talk.performed().suffix(2) == [.acknowledged(3, .success, []), .sent(4, 1)])
    }

    /// The PUBLISH was sent on an earlier connection, so it used no quota of this connection ([MQTT-3.3.4-7]).
    @Test func `PUBCOMP for a resent PUBREL frees no send quota on the new connection`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(qos: .exactlyOnce, token: 1)
        try talk.receive(.pubRec(1))
        try talk.reconnect(isSessionPresent: true, properties: [.receiveMaximum(2)])
        for token in 2...5 { talk.publish(qos: .exactlyOnce, token: Token(rawValue: UInt64(token))) }
        #expect(try talk.sent().count == 3)  // PUBREL and two messages
        try talk.receive(.pubComp(1))
        #expect(talk.publishCapacity == 0)
        #expect(
            talk.performed() == [
                .sent(2, 2), .sent(3, 3), .failed(4, .quotaExceeded), .failed(5, .quotaExceeded),
                .acknowledged(1, .success, []),
            ])
    }

    @Test(arguments: [EngineConfiguration.SessionLossPolicy.resend, .fail, .drop])
    func `if the session is lost, sessionLossPolicy decides what happens to messages in flight`(
        policy: EngineConfiguration.SessionLossPolicy
    ) throws {
        let talk = Conversation { $0.sessionLossPolicy = policy }
        try talk.connect()
        talk.publish("a", qos: .atLeastOnce, token: 1)
        talk.publish("b", qos: .exactlyOnce, token: 2)
        talk.publish("c", qos: .exactlyOnce, token: 3)
        try talk.receive(.pubRec(2))
        let actions = try talk.reconnectWithLostSession()
        #expect(try talk.sent() == [])
        #expect(talk.inFlightCount == 0 && talk.keptByteCount == 0)
        switch policy {
        case .resend: #expect(actions == [.returned(1), .returned(3), .failed(2, .sessionLost)])
        case .fail:
            #expect(actions == [.failed(1, .sessionLost), .failed(3, .sessionLost), .failed(2, .sessionLost)])
        case .drop: #expect(actions == [.failed(1, .dropped), .failed(3, .dropped), .failed(2, .dropped)])
        }
    }

    @Test func `the acknowledgement timeout error names the oldest packet that the server has not answered`() throws {
        func end(after exchange: (Conversation) throws -> Void) throws -> EngineAction? {
            let talk = Conversation { $0.connect.keepAlive = 0 }
            try talk.connect()
            try exchange(talk)
            talk.pass(.seconds(60))
            talk.fireTimer()
            return talk.performed().last
        }
        func timeout(of type: PacketType, _ id: PacketID) -> EngineAction {
            .close(.acknowledgementTimeout(OverduePacket(type, id, timeout: .seconds(60))))
        }
        let publish = try end {
            $0.publish(qos: .exactlyOnce, token: 1)
            $0.pass(.seconds(1))
            $0.publish(qos: .atLeastOnce, token: 2)
        }
        #expect(publish == timeout(of: .publish, 1))
        let release = try end {
            $0.publish(qos: .exactlyOnce, token: 1)
            try $0.receive(.pubRec(1))
        }
        #expect(release == timeout(of: .pubRel, 1))
        let subscribe = try end {
            $0.publish(qos: .atLeastOnce, token: 1)
            $0.pass(.seconds(1))
            $0.subscribe("a", token: 2)
            try $0.receive(.pubAck(1))
        }
        #expect(subscribe == timeout(of: .subscribe, 2))
        let unsubscribe = try end { $0.unsubscribe("a", token: 1) }
        #expect(unsubscribe == timeout(of: .unsubscribe, 1))
    }

    @Test func `the connection closes if an acknowledgement is late, and a resent message gets a new timeout`() throws {
        let talk = Conversation { $0.connect.keepAlive = 0 }
        try talk.connect()
        talk.publish(qos: .atLeastOnce, token: 1)
        talk.pass(.seconds(59))
        talk.publish(qos: .atLeastOnce, token: 2)
        try talk.receive(.pubAck(1))
        talk.pass(.seconds(1))
        talk.fireTimer()
        #expect(talk.deadline == talk.now.advanced(by: .seconds(59)))
        talk.pass(.seconds(59))
        _ = talk.performed()
        talk.fireTimer()
        #expect(
            talk.performed() == [.close(.acknowledgementTimeout(OverduePacket(.publish, 2, timeout: .seconds(60))))])
        try talk.reconnect(isSessionPresent: true)
        #expect(talk.deadline == talk.now.advanced(by: .seconds(60)))
        try talk.receive(.pubAck(2))
        talk.pass(.seconds(60))
        talk.fireTimer()
        #expect(talk.deadline == nil)
    }
}
