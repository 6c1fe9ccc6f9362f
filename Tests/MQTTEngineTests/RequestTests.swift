import MQTTCodec
import MQTTEngine
import Testing

@Suite
struct RequestTests {
    @Test func `SUBACK and UNSUBACK complete their requests with a result for each filter`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.subscribe("a", "b", token: 1)
        talk.unsubscribe("c", token: 2)
        #expect(
            try talk.sent() == [
                .subscribe(
                    Subscribe(
                        packetID: 1,
                        subscriptions: [Subscription("a", qos: .atLeastOnce), Subscription("b", qos: .atLeastOnce)])),
                .unsubscribe(Unsubscribe(packetID: 2, filters: ["c"])),
            ])
        let subAck = SubAck(packetID: 1, reasonCodes: [.grantedQoS1, .notAuthorized])
        let unsubAck = UnsubAck(packetID: 2, reasonCodes: [.noSubscriptionExisted])
        try talk.receive(.subAck(subAck), .unsubAck(unsubAck))
        #expect(talk.performed() == [.subscribed(1, subAck), .unsubscribed(2, unsubAck)])
        #expect(talk.inFlightCount == 0)
    }

    /// [MQTT-3.8.4-6]
    @Test func `a SUBACK with the wrong number of reason codes closes the connection`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.subscribe("a", "b", token: 1)
        try talk.receive(.subAck(SubAck(packetID: 1, reasonCodes: [.success])))
        #expect(
            talk.performed() == [
                .failed(1, .connectionLost), .close(.protocolError(.wrongResultCount(.subAck, expected: 2, actual: 1))),
            ])
    }

    @Test func `[MQTT-3.11.3-2] an UNSUBACK of MQTT 5 without a reason code ends the connection`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.unsubscribe("a", token: 1)
        _ = try talk.sent()
        talk.receive([0xB0, 3, 0, 1, 0])
        let actions = talk.performed()
        #expect(actions.first == .failed(1, .connectionLost))
        guard case .close(.malformedPacket(let error))? = actions.last else {
            Issue.record("\(actions)")
            return
        }
        #expect(error.violation == .noEntries && error.packet == .unsubAck)
        #expect(try talk.sent() == [.disconnect(Disconnect(reasonCode: .protocolError))])
    }

    @Test func `an UNSUBACK of MQTT 3.1.1 has no reason codes and ends the request`() throws {
        let talk = Conversation(.v311)
        try talk.connect()
        talk.unsubscribe("a", token: 1)
        talk.receive([0xB0, 2, 0, 1])
        #expect(talk.performed() == [.unsubscribed(1, UnsubAck(packetID: 1))])
    }

    @Test func `subscribe and unsubscribe fail without a connection and when the connection closes`() throws {
        let talk = Conversation()
        talk.subscribe("a", token: 1)
        #expect(talk.performed() == [.failed(1, .notConnected)])
        try talk.connect()
        talk.subscribe("a", token: 2)
        talk.unsubscribe("b", token: 3)
        talk.publish(qos: .atLeastOnce, token: 4)
        _ = talk.performed()
        talk.close()
        #expect(
            talk.performed() == [.failed(2, .connectionLost), .failed(3, .connectionLost), .close(.transportClosed)])
        #expect(talk.inFlightCount == 1)
    }

    @Test func `an invalid topic filter fails and uses no packet id`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.subscribe("a#", token: 1)
        guard case .failed(1, .notEncodable(let error))? = talk.performed().first else {
            Issue.record("not failed")
            return
        }
        #expect(error.violation == .misplacedMultiLevelWildcard)
        #expect(talk.inFlightCount == 0)
        #expect(try talk.sent() == [])
    }

    @Test func `publish and subscribe fail with quotaExceeded while all packet ids are in use`() throws {
        let talk = Conversation { $0.maximumInFlight = 65_535 }
        try talk.connect()
        talk.subscribe("a", token: 1)
        for token in 2...65_535 as ClosedRange<UInt64> {
            talk.publish(qos: .atLeastOnce, token: Token(rawValue: token))
        }
        _ = try talk.sent()
        _ = talk.performed()
        #expect(talk.publishCapacity == 0)
        talk.publish(qos: .atLeastOnce, token: 70_000)
        talk.subscribe("b", token: 70_001)
        #expect(talk.performed() == [.failed(70_000, .quotaExceeded), .failed(70_001, .quotaExceeded)])
        try talk.receive(.subAck(SubAck(packetID: 1, reasonCodes: [.grantedQoS1])))
        #expect(talk.publishCapacity == 1)
        talk.publish(qos: .atLeastOnce, token: 70_000)
        #expect(try talk.sent() == [OutgoingTests.publish(1, .atLeastOnce)])
    }

    /// The server acknowledges a message of the previous connection before the message is sent again. Only PUBREC is
    /// followed by PUBREL ([MQTT-4.3.3-4]).
    @Test func `an UNSUBSCRIBE that reuses the packet id of an acknowledged message sends no PUBREL`() throws {
        let talk = Conversation()
        try talk.connect()
        for token in 1...3 as ClosedRange<UInt64> { talk.publish(qos: .atLeastOnce, token: Token(rawValue: token)) }
        try talk.reconnect(isSessionPresent: true, properties: [.receiveMaximum(1)])
        #expect(try talk.sent() == [OutgoingTests.publish(1, .atLeastOnce, isDuplicate: true)])
        try talk.receive(.pubAck(3))
        #expect(talk.performed() == [.acknowledged(3, .success, [])])
        talk.unsubscribe("a", token: 4)
        #expect(try talk.sent() == [.unsubscribe(Unsubscribe(packetID: 3, filters: ["a"]))])
        try talk.receive(.pubAck(1))
        #expect(try talk.sent() == [OutgoingTests.publish(2, .atLeastOnce, isDuplicate: true)])
        let unsubAck = UnsubAck(packetID: 3, reasonCodes: [.success])
        try talk.receive(.unsubAck(unsubAck), .pubAck(2))
        #expect(
            talk.performed() == [
                .acknowledged(1, .success, []), .unsubscribed(4, unsubAck), .acknowledged(2, .success, []),
            ])
        #expect(talk.inFlightCount == 0)
    }
}
