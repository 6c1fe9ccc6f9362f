import CourierTesting
import MQTTCodec
import Testing

@Suite struct `Broker, wills` {
    private func will(_ topic: String = "will", isRetained: Bool = false, delay: UInt32? = nil) -> Connect.Will {
        var properties: PacketProperties = [.userProperty(name: "b", value: "1"), .userProperty(name: "a", value: "2")]
        if let delay { properties.list.insert(.willDelayInterval(delay), at: 1) }
        return Connect.Will(
            topic: topic, payload: Array("gone".utf8), isRetained: isRetained, properties: properties)
    }
    private let properties: PacketProperties = [
        .userProperty(name: "b", value: "1"), .userProperty(name: "a", value: "2"),
    ]
    private var published: BrokerMachine.Action { .publish(9, "will", "gone", properties: properties) }

    /// A broker with a client on connection 9 that subscribes to all topics.
    private func watched(_ adjust: (inout BrokerConfiguration) -> Void = { _ in }) -> BrokerScript {
        var broker = BrokerScript(adjust)
        broker.connect(9, "watcher")
        broker.subscribe(9, Subscription("#", qos: .exactlyOnce))
        return broker
    }

    @Test func `a lost connection publishes the will`() {  // [MQTT-3.1.2-8], [MQTT-3.1.3-10]
        var broker = watched()
        broker.connect(1, "a", will: will())
        #expect(broker.lose(1) == [published])
        #expect(broker.lose(1).isEmpty)
    }

    @Test(arguments: ProtocolVersion.allCases)
    func `a normal DISCONNECT discards the will`(version: ProtocolVersion) {  // [MQTT-3.14.4-3]
        var broker = watched()
        broker.connect(1, "a", version, will: Connect.Will(topic: "will", payload: []))
        #expect(broker.receive(.disconnect(Disconnect()), from: 1) == [.close(1, .disconnected(.success))])
        #expect(broker.lose(1).isEmpty)
    }

    @Test func `DISCONNECT with the reason disconnectWithWillMessage publishes the will`() {
        var broker = watched()
        broker.connect(1, "a", will: will())
        let actions = broker.receive(.disconnect(Disconnect(reasonCode: .disconnectWithWillMessage)), from: 1)
        #expect(actions == [.close(1, .disconnected(.disconnectWithWillMessage)), published])
    }

    @Test func `a malformed packet or a keep-alive timeout publishes the will`() {
        var broker = watched()
        broker.connect(1, "a", keepAlive: 2, will: will())
        #expect(broker.receive(malformed: [0x36, 0], from: 1).last == published)
        broker.connect(2, "a", keepAlive: 2, will: will())
        #expect(broker.advance(.seconds(3)).last == published)
    }

    @Test func `a will with a delay is published after the delay`() {
        var broker = watched()
        broker.connect(1, "a", will: will(delay: 5), properties: [.sessionExpiryInterval(100)])
        #expect(broker.lose(1).isEmpty)
        #expect(broker.machine.sessionState(of: "a")?.hasPendingWill == true)
        #expect(broker.advance(.seconds(4)).isEmpty)
        #expect(broker.advance(.seconds(1)) == [published])
        #expect(broker.machine.sessionState(of: "a")?.hasPendingWill == false)
        #expect(broker.advance(.seconds(100)).isEmpty)
    }

    @Test func `a client that reconnects before the will delay ends cancels its will`() {  // [MQTT-3.1.3-9]
        var broker = watched()
        broker.connect(1, "a", will: will(delay: 5), properties: [.sessionExpiryInterval(100)])
        broker.lose(1)
        broker.advance(.seconds(4))
        #expect(broker.connect(2, "a", isClean: false).count == 1)
        #expect(broker.advance(.seconds(10)).isEmpty)
    }

    @Test func `a delayed will is published when its session ends`() {
        var broker = watched()
        broker.connect(1, "a", will: will(delay: 50), properties: [.sessionExpiryInterval(3)])
        broker.lose(1)
        #expect(broker.advance(.seconds(3)) == [published])
        // Without a session, the will is not delayed.
        broker.connect(2, "a", will: will(delay: 50))
        #expect(broker.lose(2) == [published])
        // A clean start ends the session at once.
        broker.connect(3, "a", will: will(delay: 50), properties: [.sessionExpiryInterval(100)])
        broker.lose(3)
        #expect(broker.connect(4, "a").first == published)
    }

    @Test func `a session takeover publishes a will that has no delay, and cancels a delayed will`() {
        var broker = watched()
        broker.connect(1, "a", will: will(), properties: [.sessionExpiryInterval(100)])
        let actions = broker.connect(
            2, "a", isClean: false, will: will(delay: 5), properties: [.sessionExpiryInterval(9)])
        #expect(actions.prefix(3) == [.disconnect(1, .sessionTakenOver), .close(1, .takenOver), published])
        #expect(!broker.connect(3, "a", isClean: false).contains(published))
    }

    @Test func `a will with the retain flag is stored as a retained message`() {  // [MQTT-3.1.2-15]
        var broker = watched()
        broker.connect(1, "a", will: will(isRetained: true))
        #expect(broker.lose(1) == [published])
        #expect(broker.subscribe(9, Subscription("will", qos: .atMostOnce)).first?.publish?.isRetained == true)
    }

    @Test func `a will above the broker's limits is refused, and a will that the access rules deny is not published`() {
        var broker = watched {
            $0.maximumQoS = .atLeastOnce
            $0.isRetainAvailable = false
            $0.maximumTopicLevels = 2
            $0.access = .init(rules: [.init(.deny, .publish, "secret")], otherwise: .allow)
        }
        var will = will("secret")
        #expect(broker.connect(1, "a", will: will).first?.connAck?.reasonCode == .success)
        #expect(broker.lose(1).isEmpty)
        will.topic = "1/2/3"
        #expect(broker.connect(2, "a", will: will).last == .close(2, .refused(.topicNameInvalid)))
        will.isRetained = true
        #expect(broker.connect(3, "a", will: will).last == .close(3, .refused(.retainNotSupported)))
        will.qos = .exactlyOnce
        #expect(broker.connect(4, "a", will: will).last == .close(4, .refused(.qosNotSupported)))
    }

    @Test func `the message expiry of a will starts when the will is published`() {
        var broker = watched()
        let will = Connect.Will(
            topic: "will", payload: [], properties: [.messageExpiryInterval(10), .willDelayInterval(5)])
        broker.connect(1, "a", will: will, properties: [.sessionExpiryInterval(100)])
        broker.lose(1)
        #expect(broker.advance(.seconds(5)).first?.publish?.properties == [.messageExpiryInterval(10)])
    }
}
