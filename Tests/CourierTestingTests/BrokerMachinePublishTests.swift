import CourierTesting
import MQTTCodec
import Testing

@Suite struct `Broker, messages from and to clients` {
    private let one = Delivery.atLeastOnce(1, isDuplicate: false)
    private let two = Delivery.exactlyOnce(1, isDuplicate: false)

    /// A broker with a publisher on connection 1 and a subscriber to everything on connection 2.
    private func pair(
        _ version: ProtocolVersion = .v5, qos: PacketQoS = .exactlyOnce, properties: PacketProperties = [],
        _ adjust: (inout BrokerConfiguration) -> Void = { _ in }
    ) -> BrokerScript {
        var broker = BrokerScript(adjust)
        broker.connect(1, "publisher", version)
        broker.connect(2, "subscriber", version, properties: properties)
        broker.subscribe(2, Subscription("#", qos: qos))
        return broker
    }

    @Test(arguments: ProtocolVersion.allCases)
    func `a QoS 0 message is forwarded once and is not acknowledged`(version: ProtocolVersion) {  // [MQTT-4.3.1-1]
        var broker = pair(version)
        #expect(broker.publish(1, "t", "hello") == [.publish(2, "t", "hello")])
    }

    /// [MQTT-4.3.2-4]
    @Test(arguments: ProtocolVersion.allCases)
    func `the broker acknowledges a QoS 1 message, and the subscriber acknowledges the forwarded message`(
        version: ProtocolVersion
    ) {
        var broker = pair(version)
        #expect(
            broker.publish(1, "t", "x", .atLeastOnce(7, isDuplicate: false)) == [
                .publish(2, "t", "x", one), .pubAck(1, 7),
            ])
        #expect(broker.machine.sessionState(of: "subscriber")?.outgoingIDs == [1])
        #expect(broker.receive(.pubAck(1), from: 2).isEmpty)
        #expect(broker.machine.sessionState(of: "subscriber")?.outgoingIDs == [])
    }

    @Test(arguments: ProtocolVersion.allCases)
    func `the broker completes the QoS 2 exchange with the publisher and with the subscriber`(version: ProtocolVersion)
    {  // [MQTT-4.3.3-8]
        var broker = pair(version)
        #expect(
            broker.publish(1, "t", "x", .exactlyOnce(7, isDuplicate: false)) == [
                .publish(2, "t", "x", two), .pubRec(1, 7),
            ])
        #expect(broker.machine.sessionState(of: "publisher")?.incomingIDs == [7])
        #expect(broker.receive(.pubRel(7), from: 1) == [.pubComp(1, 7)])
        #expect(broker.machine.sessionState(of: "publisher")?.incomingIDs == [])
        #expect(broker.receive(.pubRec(1), from: 2) == [.pubRel(2, 1)])
        #expect(broker.receive(.pubRec(1), from: 2) == [.pubRel(2, 1)], "again, because PUBREL may have been lost")
        #expect(broker.receive(.pubComp(1), from: 2).isEmpty)
        #expect(broker.machine.sessionState(of: "subscriber")?.outgoingIDs == [])
    }

    @Test func `a QoS 2 message that is sent again before PUBREL is delivered once`() {  // [MQTT-4.3.3-10]
        var broker = pair()
        broker.connect(3, "third", isClean: false, properties: [.sessionExpiryInterval(.max)])
        #expect(broker.publish(3, "t", "x", two).count == 2)
        #expect(broker.publish(3, "t", "x", .exactlyOnce(1, isDuplicate: true)) == [.pubRec(3, 1)])
        broker.lose(3)
        broker.connect(4, "third", isClean: false, properties: [.sessionExpiryInterval(.max)])
        #expect(broker.publish(4, "t", "x", .exactlyOnce(1, isDuplicate: true)) == [.pubRec(4, 1)])
        broker.receive(.pubRel(1), from: 4)
        #expect(broker.publish(4, "t", "x", two).count == 2, "the id is free again")  // [MQTT-4.3.3-12]
    }

    @Test func `an acknowledgement of an unknown packet id does not end the connection`() {
        var broker = pair()
        #expect(broker.receive(.pubAck(9), from: 1).isEmpty)
        #expect(broker.receive(.pubComp(9), from: 1).isEmpty)
        #expect(broker.receive(.pubRec(9), from: 1) == [.pubRel(1, 9, .packetIdentifierNotFound)])
        #expect(broker.receive(.pubRel(9), from: 1) == [.pubComp(1, 9, .packetIdentifierNotFound)])
        broker.connect(3, "old", .v311)
        #expect(broker.receive(.pubRec(9), from: 3) == [.pubRel(3, 9)])
        #expect(broker.receive(.pubRel(9), from: 3) == [.pubComp(3, 9)])
    }

    @Test func `an acknowledgement of the wrong packet type ends the connection`() {
        for (delivery, answer) in [(one, Packet.pubRec(1)), (one, .pubComp(1)), (two, .pubAck(1)), (two, .pubComp(1))] {
            var broker = pair()
            broker.publish(1, "t", "x", delivery)
            #expect(broker.receive(answer, from: 2) == .violation(2, .protocolError))
        }
    }

    @Test func `after PUBACK or PUBREC with an error code, the next queued message is sent`() {  // [MQTT-4.4.0-2]
        var broker = pair(properties: [.receiveMaximum(1)])
        broker.publish(1, "t", "1", one)
        broker.publish(1, "t", "2", two)
        broker.publish(1, "t", "3", .exactlyOnce(2, isDuplicate: false))
        #expect(broker.receive(.pubAck(1, .quotaExceeded), from: 2).compactMap(\.publish).count == 1)
        #expect(broker.receive(.pubRec(2, .quotaExceeded), from: 2).compactMap(\.publish).count == 1)
        #expect(broker.machine.sessionState(of: "subscriber")?.outgoingIDs == [3])
    }

    @Test func `a message is forwarded with the lower of the published QoS and the granted QoS`() {  // [MQTT-3.8.4-8]
        var broker = pair(qos: .atLeastOnce)
        #expect(broker.publish(1, "t").first == .publish(2, "t"))
        #expect(broker.publish(1, "t", "x", two).first == .publish(2, "t", "x", one))
    }

    @Test func `the client's receive maximum limits QoS 2 messages and does not delay QoS 0 messages`() {
        // [MQTT-3.3.4-9], [MQTT-3.3.4-10], [MQTT-4.9.0-2]
        var broker = pair(properties: [.receiveMaximum(2)])
        for number in 1...4 {
            broker.publish(1, "t", "\(number)", two)
            broker.receive(.pubRel(1), from: 1)
        }
        #expect(broker.machine.sessionState(of: "subscriber")?.onWireCount == 2)
        #expect(broker.machine.sessionState(of: "subscriber")?.queuedCount == 2)
        #expect(broker.publish(1, "t", "now") == [.publish(2, "t", "now")])
        #expect(broker.receive(.pingReq, from: 2) == [.send(.pingResp, to: 2)])
        #expect(broker.receive(.pubRec(1), from: 2) == [.pubRel(2, 1)], "PUBREC does not free a place")
        #expect(broker.receive(.pubComp(1), from: 2) == [.publish(2, "t", "3", .exactlyOnce(3, isDuplicate: false))])
    }

    @Test func `a client that exceeds the broker's receive maximum is disconnected`() {  // [MQTT-3.3.4-7]
        var broker = pair { $0.receiveMaximum = 2 }
        for id: PacketID in [1, 2] { broker.publish(1, "t", "x", .exactlyOnce(id, isDuplicate: false)) }
        #expect(broker.publish(1, "t", "x", .exactlyOnce(1, isDuplicate: true)) == [.pubRec(1, 1)])
        #expect(broker.publish(1, "t", "x", .atLeastOnce(3, isDuplicate: false)).last == .pubAck(1, 3))
        #expect(
            broker.publish(1, "t", "x", .exactlyOnce(4, isDuplicate: false)) == .violation(1, .receiveMaximumExceeded))
    }

    @Test func `a packet id in flight is not assigned to another message`() {  // [MQTT-2.2.1-4]
        var broker = pair { $0.maximumInFlight = .max }
        broker.publish(1, "t", "first", one)
        // Without encoding and decoding, which would make this test slow.
        var machine = broker.machine
        var actions: [BrokerMachine.Action] = []
        let publish = Packet.publish(Publish(topic: "t", payload: [], delivery: one))
        for number: UInt16 in 2...65_535 {
            actions.removeAll(keepingCapacity: true)
            machine.received(publish, from: 1, now: broker.now, into: &actions)
            guard let id = actions.first?.publish?.delivery.packetID, id.rawValue == number else {
                Issue.record("\(number): \(actions)")
                return
            }
            machine.received(.pubAck(id), from: 2, now: broker.now, into: &actions)
        }
        actions.removeAll()
        machine.received(publish, from: 1, now: broker.now, into: &actions)
        #expect(actions.first?.publish?.delivery.packetID == 2)
    }

    @Test func `a message above the client's maximum packet size is dropped`() {  // [MQTT-3.1.2-24], [MQTT-3.1.2-25]
        var broker = pair(properties: [.maximumPacketSize(30)])
        let large = String(repeating: "x", count: 30)
        #expect(broker.publish(1, "t", large).isEmpty)
        #expect(broker.publish(1, "t", large, one) == [.pubAck(1, 1)])
        #expect(broker.publish(1, "t", "small", two).count == 2)
        #expect(broker.machine.sessionState(of: "subscriber")?.outgoingIDs.count == 1)
    }

    @Test func `a SUBACK larger than the client's maximum packet size ends the connection`() {
        var broker = BrokerScript()
        broker.connect(1, "a", properties: [.maximumPacketSize(20)])
        let filters = (1...20).map { Subscription("t/\($0)", qos: .atMostOnce) }
        let actions = broker.receive(.subscribe(Subscribe(packetID: 1, subscriptions: filters)), from: 1)
        #expect(actions == [.close(1, .answerTooLarge)])
    }

    @Test func `a topic alias is replaced by its topic on its own connection`() {  // [MQTT-3.3.2-12], [MQTT-3.3.2-7]
        var broker = pair { $0.topicAliasMaximum = 2 }
        #expect(broker.publish(1, "a", properties: [.topicAlias(1)]) == [.publish(2, "a")])
        #expect(broker.publish(1, "", properties: [.topicAlias(1)]) == [.publish(2, "a")])
        broker.publish(1, "b", properties: [.topicAlias(1)])
        #expect(broker.publish(1, "", properties: [.topicAlias(1)]) == [.publish(2, "b")])
        #expect(broker.publish(1, "", properties: [.topicAlias(2)]) == .violation(1, .protocolError))
        broker.connect(3, "publisher")
        #expect(broker.publish(3, "", properties: [.topicAlias(1)]) == .violation(3, .protocolError))
        broker.connect(4, "publisher")
        #expect(broker.publish(4, "a", properties: [.topicAlias(3)]) == .violation(4, .topicAliasInvalid))
    }

    @Test func `the broker sends topic aliases only if both sides allow them`() {  // [MQTT-3.1.2-26], [MQTT-3.1.2-27]
        var broker = pair(properties: [.topicAliasMaximum(5)]) { $0.maximumOutgoingTopicAliases = 1 }
        #expect(broker.publish(1, "a") == [.publish(2, "a", properties: [.topicAlias(1)])])
        #expect(broker.publish(1, "a") == [.publish(2, "", properties: [.topicAlias(1)])])
        #expect(broker.publish(1, "b") == [.publish(2, "b")])
        broker.connect(3, "other")
        broker.subscribe(3, Subscription("#", qos: .atMostOnce))
        #expect(broker.publish(1, "a").last == .publish(3, "a"))
    }

    @Test func `the broker uses a topic alias only after sending the PUBLISH that defines the alias`() {
        var broker = pair(properties: [.topicAliasMaximum(5), .maximumPacketSize(40)]) {
            $0.maximumOutgoingTopicAliases = 1
        }
        #expect(broker.publish(1, "topic", String(repeating: "x", count: 60)).isEmpty)
        // 5 bytes of header and length, the topic and 28 bytes fit, but not with an alias.
        #expect(broker.publish(1, "topic", String(repeating: "x", count: 29)).first?.publish?.properties == [])
        #expect(broker.publish(1, "topic").first?.publish?.topic == "topic")
        #expect(broker.publish(1, "topic").first?.publish?.topic == "")
    }

    @Test func `message properties are forwarded unchanged and in order`() {
        // [MQTT-3.3.2-4], [MQTT-3.3.2-15] to [MQTT-3.3.2-18], [MQTT-3.3.2-20]
        var broker = pair()
        let properties: PacketProperties = [
            .userProperty(name: "b", value: "1"), .contentType("text/plain"), .payloadFormatIndicator(isText: true),
            .userProperty(name: "a", value: "2"), .responseTopic("answers"), .correlationData([1, 2, 3]),
            .userProperty(name: "b", value: "1"), .messageExpiryInterval(9),
        ]
        var sent = properties
        sent.list.insert(.topicAlias(1), at: 3)
        #expect(broker.publish(1, "t", properties: sent) == [.publish(2, "t", properties: properties)])
        broker.connect(3, "old", .v311)
        broker.subscribe(3, Subscription("t", qos: .atMostOnce))
        #expect(broker.publish(1, "t", properties: properties).last == .publish(3, "t"))
    }

    @Test func `a queued message is sent with its remaining expiry interval, or is dropped after this interval`() {
        // [MQTT-3.3.2-5], [MQTT-3.3.2-6]
        var broker = pair(properties: [.receiveMaximum(1)])
        broker.publish(1, "t", "1", one)
        broker.publish(1, "t", "2", one, properties: [.messageExpiryInterval(10)])
        broker.publish(1, "t", "3", one, properties: [.messageExpiryInterval(5)])
        broker.publish(1, "t", "4", one)
        broker.advance(.milliseconds(6_900))
        #expect(broker.receive(.pubAck(1), from: 2).first?.publish?.properties == [.messageExpiryInterval(4)])
        #expect(broker.receive(.pubAck(2), from: 2).first?.publish?.payload == Array("4".utf8))
    }

    @Test func `an unacknowledged QoS 2 message is sent again even after its expiry`() {  // [MQTT-4.3.3-7]
        var broker = BrokerScript()
        let forEver: PacketProperties = [.sessionExpiryInterval(.max)]
        broker.connect(1, "a", isClean: false, properties: forEver)
        broker.subscribe(1, Subscription("t", qos: .exactlyOnce))
        broker.publish(1, "t", "x", two, properties: [.messageExpiryInterval(5)])
        broker.lose(1)
        broker.advance(.seconds(20))
        #expect(
            broker.connect(2, "a", isClean: false, properties: forEver).last
                == .publish(2, "t", "x", .exactlyOnce(1, isDuplicate: true), properties: [.messageExpiryInterval(0)]))
    }

    @Test func `PUBACK and PUBREC report noMatchingSubscribers if no client is subscribed`() {
        var broker = BrokerScript()
        broker.connect(1, "a")
        #expect(broker.publish(1, "t", "x", one) == [.pubAck(1, 1, .noMatchingSubscribers)])
        #expect(broker.publish(1, "t", "x", two) == [.pubRec(1, 1, .noMatchingSubscribers)])
        #expect(broker.receive(.pubRel(1), from: 1) == [.pubComp(1, 1)], "it counts as accepted")
        broker.connect(2, "b", .v311)
        #expect(broker.publish(2, "t", "x", one) == [.pubAck(2, 1)])
    }

    @Test func `a publish without permission is dropped and acknowledged with notAuthorized in MQTT 5`() {
        var broker = pair { $0.access = .init(rules: [.init(.deny, .publish, "secret/#")], otherwise: .allow) }
        #expect(broker.publish(1, "secret").isEmpty)
        #expect(broker.publish(1, "secret/a", "x", one) == [.pubAck(1, 1, .notAuthorized)])
        #expect(broker.publish(1, "secret/a", "x", two) == [.pubRec(1, 1, .notAuthorized)])
        #expect(broker.machine.sessionState(of: "publisher")?.incomingIDs == [])  // [MQTT-4.3.3-9]
        #expect(broker.publish(1, "open").count == 1)
        broker.connect(3, "old", .v311)
        #expect(broker.publish(3, "secret/a", "x", one) == [.pubAck(3, 1)])
    }

    @Test func `a disabled QoS, a disabled retain flag and an invalid payload format are refused`() {
        // [MQTT-3.2.2-12], [MQTT-3.2.2-13]
        var broker = pair { $0.maximumQoS = .atLeastOnce }
        #expect(broker.publish(1, "t", "x", two) == .violation(1, .qosNotSupported))
        broker = pair { $0.isRetainAvailable = false }
        #expect(broker.publish(1, "t", isRetained: true) == .violation(1, .retainNotSupported))
        broker = pair { $0.validatesPayloadFormat = true }
        let broken = Publish(
            topic: "t", payload: [0xFF], delivery: one, properties: [.payloadFormatIndicator(isText: true)])
        #expect(broker.receive(.publish(broken), from: 1) == [.pubAck(1, 1, .payloadFormatInvalid)])
    }

    @Test func `a topic with too many levels is refused`() {
        var broker = pair { $0.maximumTopicLevels = 3 }
        #expect(broker.publish(1, "a/b/c", "x", one).count == 2)
        #expect(broker.publish(1, "a/b/c/", "x", one) == [.pubAck(1, 1, .topicNameInvalid)])
    }

    @Test func `the broker sends no messages to a congested connection until the connection has room again`() {
        var broker = pair()
        broker.perform { machine, _, _ in machine.connectionCongested(2) }
        #expect(broker.publish(1, "t", "0").isEmpty)
        #expect(broker.publish(1, "t", "1", one) == [.pubAck(1, 1)])
        #expect(broker.receive(.pingReq, from: 2) == [.send(.pingResp, to: 2)])
        let drained = broker.perform { $0.connectionDrained(2, now: $1, into: &$2) }
        #expect(drained == [.publish(2, "t", "1", one)])
    }

    @Test func `publish() of the broker sends a message, and ignores a message with an invalid topic`() {
        var broker = pair()
        let actions = broker.perform { $0.publish(topic: "t", payload: [0x78], qos: .exactlyOnce, now: $1, into: &$2) }
        #expect(actions == [.publish(2, "t", "x", two)])
        #expect(broker.perform { $0.publish(topic: "t/+", payload: [], now: $1, into: &$2) }.isEmpty)
    }
}
