import MQTTCodec
import MQTTEngine
import Testing

/// A session that continues on a server with lower limits than when its messages were first sent.
@Suite
struct NarrowerServerTests {
    private static let refusals: [(Property, PacketReasonCode)] = [
        (.maximumQoS(.atLeastOnce), .qosNotSupported), (.retainAvailable(false), .retainNotSupported),
    ]

    private static func message(_ token: Token) -> OutgoingMessage {
        OutgoingMessage(topic: "t", payload: [1], qos: .exactlyOnce, isRetained: true, token: token)
    }

    /// [MQTT-3.2.2-11], [MQTT-3.2.2-14]
    @Test(arguments: refusals)
    func `if the new CONNACK does not allow an in-flight message, the message fails and is not sent again`(
        announced: Property, code: PacketReasonCode
    ) throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(Self.message(1))
        talk.publish(qos: .atLeastOnce, token: 2)
        let connAck = ConnAck(isSessionPresent: true, properties: [announced])
        _ = try talk.sent()
        talk.close()
        _ = talk.performed()
        talk.open()
        _ = try talk.sent()
        try talk.receive(.connAck(connAck))
        #expect(talk.performed() == [.connected(connAck), .failed(1, .notSupportedByServer(code))])
        // A server without QoS 2 may not support PUBREL.
        let release: [Packet] = code == .qosNotSupported ? [] : [.pubRel(1)]
        #expect(try talk.sent() == release + [OutgoingTests.publish(2, .atLeastOnce, isDuplicate: true)])
        #expect(talk.inFlightCount == 2)
    }

    /// [MQTT-2.2.1-3]
    @Test
    func `if a reconnect forbids a QoS 2 message in flight, the packet id stays reserved until PUBREL and PUBCOMP`()
        throws
    {
        let talk = Conversation()
        try talk.connect()
        talk.publish(Self.message(1))
        try talk.reconnect(isSessionPresent: true, properties: [.maximumQoS(.atLeastOnce)])
        #expect(try talk.sent().isEmpty)
        try talk.reconnect(isSessionPresent: true, properties: [.retainAvailable(false)])
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(try talk.sent() == [.pubRel(1), OutgoingTests.publish(2, .exactlyOnce)])
        try talk.receive(.pubRec(1))  // A late PUBREC for the message that was given up.
        #expect(try talk.sent().isEmpty)
        try talk.receive(.pubComp(1))
        #expect(talk.inFlightCount == 1)
        talk.publish(qos: .exactlyOnce, token: 3)
        #expect(try talk.sent() == [OutgoingTests.publish(1, .exactlyOnce)])
    }

    /// [MQTT-4.3.3-6]
    @Test(arguments: [false, true])
    func `if a reconnect forbids a message in the store, PUBREL is sent only after stored() is called`(
        isStoredLate: Bool
    )
        throws
    {
        let talk = Conversation { $0.awaitsStorage = true }
        talk.restore([.sent(Self.message(1), 1)])
        talk.open()
        _ = try talk.sent()
        try talk.receive(.connAck(ConnAck(isSessionPresent: true, properties: [.retainAvailable(false)])))
        let failure = EngineAction.failed(1, .notSupportedByServer(.retainNotSupported))
        #expect(talk.performed().suffix(2) == [.givenUp(1, 1), failure])
        #expect(!talk.awaitsAnswers)
        if isStoredLate {
            try talk.reconnect(isSessionPresent: true)
            talk.stored(2, 1)  // The packet id of another message.
        }
        #expect(try talk.sent().isEmpty)
        talk.stored(1, 1)
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        #expect(talk.inFlightCount == 0)
    }

    @Test func `a message that already failed is not reported as failed again when the session is lost`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.publish(Self.message(1))
        try talk.reconnect(isSessionPresent: true, properties: [.retainAvailable(false)])
        talk.close()
        _ = talk.performed()
        talk.open()
        try talk.receive(.connAck(ConnAck(isSessionPresent: false)))
        #expect(talk.failures().isEmpty)
        #expect(talk.inFlightCount == 0)
    }

    /// [MQTT-3.2.2-11], [MQTT-3.2.2-14]
    @Test(arguments: refusals)
    func `a restored message fails and uses no send quota if CONNACK does not allow the message`(
        announced: Property, code: PacketReasonCode
    ) throws {
        let talk = Conversation()
        talk.restore([.sent(Self.message(1), 1), .sent(Self.message(2), 2)])
        talk.open()
        _ = try talk.sent()
        try talk.receive(.connAck(ConnAck(isSessionPresent: true, properties: [announced, .receiveMaximum(1)])))
        talk.publish(qos: .atLeastOnce, token: 3)
        #expect(talk.failures() == [1: .notSupportedByServer(code), 2: .notSupportedByServer(code)])
        #expect(try talk.sent().last == OutgoingTests.publish(3, .atLeastOnce))
        #expect(talk.inFlightCount == 3)
    }

    /// [MQTT-4.3.3-5]
    @Test(arguments: refusals.map(\.0))
    func `a message that received PUBREC continues with PUBREL even if the new CONNACK forbids the message`(
        announced: Property
    )
        throws
    {
        let talk = Conversation()
        try talk.connect()
        talk.publish(Self.message(1))
        try talk.receive(.pubRec(1))
        try talk.reconnect(isSessionPresent: true, properties: [announced])
        #expect(try talk.sent() == [.pubRel(1)])
        try talk.receive(.pubComp(1))
        #expect(talk.performed() == [.acknowledged(1, .success, [])])
    }
}
