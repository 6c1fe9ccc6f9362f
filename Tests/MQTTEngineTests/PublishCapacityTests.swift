import MQTTCodec
import MQTTEngine
import Testing

/// The engine has no queue: it reports how many messages it accepts, and refuses more.
@Suite
struct PublishCapacityTests {
    @Test(arguments: [PacketQoS.atLeastOnce, .exactlyOnce])
    func `a message published without a connection fails and is not sent later`(_ qos: PacketQoS) throws {
        let talk = Conversation()
        talk.publish(qos: qos, token: 1)
        talk.open()
        talk.publish(qos: qos, token: 2)  // Before CONNACK.
        #expect(talk.publishCapacity == 0)
        #expect(talk.performed() == [.failed(1, .notConnected), .failed(2, .notConnected)])
        #expect(talk.keptByteCount == 0)
        _ = try talk.sent()
        try talk.receive(.connAck(ConnAck()))
        #expect(try talk.sent() == [])
        talk.disconnect()
        talk.publish(qos: qos, token: 3)
        #expect(talk.performed().last == .failed(3, .notConnected))
        #expect(talk.publishCapacity == 0)
    }

    /// [MQTT-3.3.4-7]
    @Test func `the publish capacity starts at the receive maximum and rises when an exchange completes`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.receiveMaximum(2)])
        #expect(talk.publishCapacity == 2)
        talk.publish(qos: .exactlyOnce, token: 1)
        #expect(talk.publishCapacity == 1)
        talk.publish(qos: .exactlyOnce, token: 2)
        #expect(talk.publishCapacity == 0)
        talk.publish(qos: .atLeastOnce, token: 3)
        #expect(talk.performed() == [.sent(1, 1), .sent(2, 2), .failed(3, .quotaExceeded)])
        #expect(try talk.sent().count == 2)
        try talk.receive(.pubRec(1))
        #expect(talk.publishCapacity == 0)
        try talk.receive(.pubComp(1))
        #expect(talk.publishCapacity == 1)
        try talk.receive(.pubRec(2, .quotaExceeded))
        #expect(talk.publishCapacity == 2)
    }

    @Test(arguments: [(ProtocolVersion.v5, 7), (.v311, 9)])
    func `the configuration limits the publish capacity if the server sets no limit`(
        _ version: ProtocolVersion, limit: Int
    ) throws {
        let talk = Conversation(version) {
            $0.maximumInFlight = 7
            $0.maximumInFlightBeforeVersion5 = 9
        }
        try talk.connect()
        #expect(talk.publishCapacity == limit)
    }

    @Test func `a QoS 0 message uses no publish capacity, and is sent even if the capacity is 0`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.receiveMaximum(1)])
        talk.publish(qos: .atLeastOnce, token: 1)
        let kept = talk.keptByteCount
        #expect(kept > 0)
        talk.publish(qos: .atMostOnce, token: 2)
        #expect(try talk.sent() == [OutgoingTests.publish(1, .atLeastOnce), .message()])
        #expect(talk.performed() == [.sent(1, 1)])
        #expect(talk.keptByteCount == kept)
    }

    @Test func `a message that cannot be sent uses no publish capacity`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.receiveMaximum(1), .maximumPacketSize(50)])
        talk.publish(qos: .atLeastOnce, token: 1, size: 60)
        talk.publish(qos: .exactlyOnce, token: 2, expiry: .zero)
        #expect(talk.failures().count == 2)
        #expect(talk.publishCapacity == 1)
        #expect(talk.keptByteCount == 0)
    }
}
