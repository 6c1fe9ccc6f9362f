import CourierTesting
import MQTTCodec
import Testing

@Suite struct `Broker, subscriptions and retained messages` {
    @Test func `SUBACK has one reason code per filter, in the filters' order`() {  // [MQTT-3.8.4-6], [MQTT-3.9.3-1]
        var broker = BrokerScript {
            $0.access = .init(rules: [.init(.deny, .subscribe, "secret/+")], otherwise: .allow)
            $0.maximumSubscriptionsPerSession = 3
            $0.maximumTopicLevels = 4
        }
        let filters = [
            Subscription("a", qos: .atMostOnce), Subscription("b", qos: .atLeastOnce),
            Subscription("#", qos: .atMostOnce),
            Subscription("1/2/3/4/5", qos: .atMostOnce), Subscription("$share/g/c", qos: .exactlyOnce),
            Subscription("d", qos: .atMostOnce), Subscription("a", qos: .exactlyOnce),
        ]
        broker.connect(1, "a")
        let subscribe = Packet.subscribe(Subscribe(packetID: 5, subscriptions: filters))
        #expect(
            broker.receive(subscribe, from: 1) == [
                .subAck(
                    1, 5, .success, .grantedQoS1, .notAuthorized, .topicFilterInvalid, .grantedQoS2, .quotaExceeded,
                    .grantedQoS2)
            ])
        #expect(broker.machine.sessionState(of: "a")?.filters == ["$share/g/c", "a", "b"])
        broker.connect(2, "b", .v311)
        #expect(
            broker.receive(subscribe, from: 2) == [
                .subAck(
                    2, 5, .success, .grantedQoS1, .unspecifiedError, .unspecifiedError, .grantedQoS2, .unspecifiedError,
                    .grantedQoS2)
            ])
    }

    @Test func `SUBACK has a specific reason code for each disabled subscription feature`() {
        var broker = BrokerScript {
            $0.isWildcardSubscriptionAvailable = false
            $0.isSharedSubscriptionAvailable = false
            $0.isSubscriptionIdentifierAvailable = false
            $0.maximumQoS = .atLeastOnce
        }
        broker.connect(1, "a")
        func subscribe(_ filter: String, _ properties: PacketProperties = []) -> Packet {
            .subscribe(
                Subscribe(
                    packetID: 1, subscriptions: [Subscription(filter, qos: .exactlyOnce)], properties: properties))
        }
        #expect(broker.receive(subscribe("a/+"), from: 1) == [.subAck(1, 1, .wildcardSubscriptionsNotSupported)])
        #expect(broker.receive(subscribe("$share/a/b"), from: 1) == [.subAck(1, 1, .sharedSubscriptionsNotSupported)])
        let identified = subscribe("a", [.subscriptionIdentifier(1)])
        #expect(broker.receive(identified, from: 1) == [.subAck(1, 1, .subscriptionIdentifiersNotSupported)])
        #expect(broker.receive(subscribe("a"), from: 1) == [.subAck(1, 1, .grantedQoS1)])  // [MQTT-3.2.2-10]
    }

    @Test func `UNSUBACK has one reason code per filter`() {  // [MQTT-3.10.4-4] to [MQTT-3.10.4-6], [MQTT-3.11.3-1]
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.subscribe(1, Subscription("a/+", qos: .atMostOnce), Subscription("b", qos: .atMostOnce))
        let unsubscribe = Packet.unsubscribe(Unsubscribe(packetID: 4, filters: ["a/b", "a/+", "b"]))
        #expect(
            broker.receive(unsubscribe, from: 1) == [
                .send(
                    .unsubAck(UnsubAck(packetID: 4, reasonCodes: [.noSubscriptionExisted, .success, .success])), to: 1)
            ])
        #expect(broker.publish(1, "a/b").isEmpty)
        #expect(broker.machine.subscriptionNodeCount == 0)
        broker.connect(2, "b", .v311)
        #expect(broker.receive(unsubscribe, from: 2) == [.send(.unsubAck(UnsubAck(packetID: 4)), to: 2)])
    }

    @Test func `after UNSUBSCRIBE, the broker completes a QoS 2 message that was sent earlier`() {  // [MQTT-3.10.4-3]
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.subscribe(1, Subscription("t", qos: .exactlyOnce))
        broker.publish(1, "t", "x", .exactlyOnce(1, isDuplicate: false))
        broker.receive(.unsubscribe(Unsubscribe(packetID: 4, filters: ["t"])), from: 1)
        #expect(broker.receive(.pubRec(1), from: 1) == [.pubRel(1, 1)])
    }

    @Test func `if subscriptions overlap, one message is sent, with the highest QoS and all subscription identifiers`()
    {
        // [MQTT-3.3.4-2], [MQTT-3.3.4-4]
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.subscribe(1, Subscription("t/+", qos: .atMostOnce), properties: [.subscriptionIdentifier(9)])
        broker.subscribe(1, Subscription("t/#", qos: .exactlyOnce), properties: [.subscriptionIdentifier(3)])
        broker.subscribe(1, Subscription("#", qos: .atLeastOnce))
        broker.connect(2, "b")
        let actions = broker.publish(2, "t/1", "x", .exactlyOnce(1, isDuplicate: false))
        let identifiers: PacketProperties = [.subscriptionIdentifier(3), .subscriptionIdentifier(9)]
        #expect(
            actions == [
                .publish(1, "t/1", "x", .exactlyOnce(1, isDuplicate: false), properties: identifiers), .pubRec(2, 1),
            ])
    }

    @Test func `a second SUBSCRIBE with the same filter replaces the subscription options`() {  // [MQTT-3.8.4-3]
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.subscribe(1, Subscription("t", qos: .exactlyOnce), properties: [.subscriptionIdentifier(9)])
        broker.subscribe(1, Subscription("t", qos: .atMostOnce))
        #expect(broker.publish(1, "t", "x", .atLeastOnce(1, isDuplicate: false)) == [.publish(1, "t"), .pubAck(1, 1)])
    }

    @Test func `a no-local subscription does not receive the client's own messages`() {  // [MQTT-3.8.3-3]
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.connect(2, "b")
        for id: ConnectionID in [1, 2] { broker.subscribe(id, Subscription("t", qos: .atMostOnce, isNoLocal: true)) }
        #expect(broker.publish(1, "t") == [.publish(2, "t")])
        broker.publish(1, "r", isRetained: true)
        #expect(broker.subscribe(1, Subscription("r", qos: .atMostOnce, isNoLocal: true)).isEmpty)
        // The client id is compared, not the session.
        broker.connect(3, "a")
        #expect(broker.subscribe(3, Subscription("r", qos: .atMostOnce, isNoLocal: true)).isEmpty)
    }

    @Test func `wildcards in the first level do not match topics that begin with $`() {  // [MQTT-4.7.2-1]
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.subscribe(1, Subscription("#", qos: .atMostOnce), Subscription("+/x", qos: .atMostOnce))
        #expect(broker.publish(1, "$SYS/x").isEmpty)
        broker.subscribe(1, Subscription("$SYS/#", qos: .atMostOnce))
        #expect(broker.publish(1, "$SYS/x").count == 1)
        #expect(broker.publish(1, "$SYS").count == 1)
        broker.publish(1, "$SYS/r", isRetained: true)
        broker.connect(2, "b")
        #expect(broker.subscribe(2, Subscription("#", qos: .atMostOnce)).isEmpty)
    }

    @Test func `topics are compared byte by byte`() {  // [MQTT-4.7.3-4]
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.subscribe(1, Subscription("\u{E9}", qos: .atMostOnce))
        #expect(broker.publish(1, "e\u{301}").isEmpty)
        #expect(broker.publish(1, "\u{E9}").count == 1)
        #expect(broker.publish(1, "/\u{E9}").isEmpty)
        #expect(broker.publish(1, "\u{E9}/").isEmpty)
    }

    @Test func `a client can subscribe to a filter only if access rules allow all topics of the filter`() {
        var broker = BrokerScript {
            $0.access = .init(
                rules: [
                    .init(.allow, .subscribe, "#", username: "root"), .init(.deny, .subscribe, "home/safe"),
                    .init(.allow, .subscribe, "home/#"),
                ], otherwise: .deny)
        }
        func code(_ filter: String, _ id: ConnectionID) -> PacketReasonCode? {
            let packet = Subscribe(packetID: 1, subscriptions: [Subscription(filter, qos: .atMostOnce)])
            guard case .send(.subAck(let subAck), _) = broker.receive(.subscribe(packet), from: id).first else {
                return nil
            }
            return subAck.reasonCodes[0]
        }
        broker.connect(1, "a")
        broker.connect(2, "b", username: "root")
        #expect(code("home/door", 1) == .success)
        #expect(code("home/+/lock", 1) == .success)
        #expect(code("home/+", 1) == .notAuthorized, "it would match home/safe")
        #expect(code("#", 1) == .notAuthorized)
        #expect(code("office", 1) == .notAuthorized)
        #expect(code("$share/g/home/safe", 1) == .notAuthorized)
        #expect(code("#", 2) == .success)
    }

    // Retained messages.

    @Test(arguments: ProtocolVersion.allCases)
    func `the last retained message of each topic is sent after each SUBSCRIBE`(version: ProtocolVersion) {
        // [MQTT-3.3.1-5] to [MQTT-3.3.1-8]
        var broker = BrokerScript()
        broker.connect(1, "a", version)
        broker.publish(1, "t", "1", isRetained: true)
        broker.publish(1, "t", "2", .atLeastOnce(1, isDuplicate: false), isRetained: true)
        broker.publish(1, "t", "3")
        broker.publish(1, "u/v", "4", isRetained: true)
        let filter = Subscription("#", qos: .exactlyOnce)
        #expect(
            broker.subscribe(1, filter) == [
                .publish(1, "t", "2", .atLeastOnce(1, isDuplicate: false), isRetained: true),
                .publish(1, "u/v", "4", isRetained: true),
            ])
        broker.receive(.pubAck(1), from: 1)
        #expect(broker.publish(1, "t", "", isRetained: true).first?.publish?.isRetained == false)
        #expect(broker.subscribe(1, filter) == [.publish(1, "u/v", "4", isRetained: true)], "again, at each SUBSCRIBE")
        #expect(broker.machine.retainedMessageCount == 1)
    }

    /// [MQTT-3.3.1-9] to [MQTT-3.3.1-11]
    @Test func `the retain handling option decides whether the broker sends retained messages after SUBSCRIBE`() {
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.publish(1, "t", isRetained: true)
        func count(_ handling: Subscription.RetainHandling) -> Int {
            broker.subscribe(1, Subscription("t", qos: .atMostOnce, retainHandling: handling)).count
        }
        #expect(count(.doNotSend) == 0)
        #expect(count(.sendIfNew) == 0)
        #expect(count(.send) == 1)
        broker.receive(.unsubscribe(Unsubscribe(packetID: 1, filters: ["t"])), from: 1)
        #expect(count(.sendIfNew) == 1)
    }

    /// [MQTT-3.3.1-12], [MQTT-3.3.1-13]
    @Test func `a message is forwarded with its retain flag only if the subscription sets retain as published`() {
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.connect(2, "b")
        broker.subscribe(1, Subscription("t", qos: .atMostOnce))
        broker.subscribe(2, Subscription("t", qos: .atMostOnce, isRetainAsPublished: true))
        #expect(
            broker.publish(1, "t", isRetained: true) == [.publish(1, "t"), .publish(2, "t", isRetained: true)])
        #expect(broker.publish(1, "t") == [.publish(1, "t"), .publish(2, "t")])
    }

    @Test
    func `a retained message is sent with subscription identifier and remaining expiry, and removed when it expires`() {
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.publish(1, "t", isRetained: true, properties: [.messageExpiryInterval(10)])
        broker.advance(.seconds(4))
        #expect(
            broker.subscribe(1, Subscription("+", qos: .atMostOnce), properties: [.subscriptionIdentifier(2)]) == [
                .publish(
                    1, "t", isRetained: true, properties: [.messageExpiryInterval(6), .subscriptionIdentifier(2)])
            ])
        broker.advance(.seconds(6))
        #expect(broker.subscribe(1, Subscription("t", qos: .atMostOnce)).isEmpty)
        #expect(broker.machine.retainedMessageCount == 0)
    }

    @Test func `the broker limits the number and the bytes of retained messages`() {
        var broker = BrokerScript {
            $0.maximumRetainedMessages = 2
            $0.maximumRetainedBytes = 50
        }
        let one = Delivery.atLeastOnce(1, isDuplicate: false)
        broker.connect(1, "a")
        broker.publish(1, "a", "x", one, isRetained: true, properties: [.messageExpiryInterval(5)])
        broker.publish(1, "b", "x", one, isRetained: true)
        #expect(broker.publish(1, "c", "x", one, isRetained: true) == [.pubAck(1, 1, .quotaExceeded)])
        #expect(broker.publish(1, "b", "y", one, isRetained: true) == [.pubAck(1, 1, .noMatchingSubscribers)])
        let large = String(repeating: "x", count: 60)
        #expect(broker.publish(1, "b", large, one, isRetained: true) == [.pubAck(1, 1, .quotaExceeded)])
        broker.advance(.seconds(5))
        #expect(
            broker.publish(1, "c", "x", one, isRetained: true) == [.pubAck(1, 1, .noMatchingSubscribers)],
            "an expired message makes room")
    }

    @Test func `the broker sends only a limited number and size of retained messages after one SUBSCRIBE`() {
        func subscribe(_ adjust: (inout BrokerConfiguration) -> Void) -> (sent: [String], dropped: Int) {
            var broker = BrokerScript(adjust)
            broker.connect(1, "a")
            for number in 0..<10 { broker.publish(1, "t/\(number)", "12345678", isRetained: true) }
            // Equal filters, and different ones for the same messages.
            let filters = (0..<1_000).map { Subscription($0 % 2 == 0 ? "#" : "+/\($0 / 2 % 10)/#", qos: .atMostOnce) }
            let packet = Subscribe(packetID: 1, subscriptions: filters)
            let sent = broker.receive(.subscribe(packet), from: 1).compactMap(\.publish).map(\.topic)
            return (sent, broker.machine.droppedMessageCount)
        }
        let all = (0..<10).map { "t/\($0)" }
        let byCount = subscribe { $0.maximumRetainedMessages = 10 }
        #expect(byCount.sent == all)
        #expect(byCount.dropped == 1, "what the second filter matches")
        // A message has 11 bytes with its topic.
        let byBytes = subscribe { $0.maximumRetainedBytes = 131 }
        #expect(byBytes.sent == all + ["t/0"])
        #expect(byBytes.dropped == 10, "what the third filter matches")
    }

    // Shared subscriptions.

    @Test func `the online members of a shared subscription receive messages in turn`() {
        var broker = BrokerScript()
        for (id, name) in [(ConnectionID(1), "a"), (2, "b"), (3, "c")] {
            broker.connect(id, name)
            broker.subscribe(id, Subscription("$share/g/t/+", qos: .atMostOnce))
        }
        broker.connect(4, "d")
        broker.subscribe(4, Subscription("t/1", qos: .atMostOnce))
        broker.subscribe(4, Subscription("$share/h/t/1", qos: .atMostOnce))
        let turns = (1...4).map { _ in broker.publish(4, "t/1") }
        for (actions, member) in zip(turns, [1, 2, 3, 1] as [ConnectionID]) {
            #expect(actions == [.publish(4, "t/1"), .publish(member, "t/1"), .publish(4, "t/1")])
        }
        broker.lose(2)
        #expect(broker.publish(4, "t/2") == [.publish(3, "t/2")])
        #expect(broker.publish(4, "t/2") == [.publish(1, "t/2")])
    }

    @Test func `offline members of a shared subscription receive messages only if all members are offline`() {
        var broker = BrokerScript()
        for (id, name) in [(ConnectionID(1), "a"), (2, "b")] {
            broker.connect(id, name, .v5, properties: [.sessionExpiryInterval(.max)])
            broker.subscribe(id, Subscription("$share/g/t", qos: .atLeastOnce))
        }
        broker.connect(3, "c")
        let one = Delivery.atLeastOnce(1, isDuplicate: false)
        broker.lose(1)
        for _ in 1...2 { #expect(broker.publish(3, "t", "x", one).first?.publish != nil) }
        broker.lose(2)
        for _ in 1...2 { #expect(broker.publish(3, "t", "x", one) == [.pubAck(3, 1)]) }
        #expect(broker.machine.sessionState(of: "a")?.queuedCount == 1)
        #expect(broker.machine.sessionState(of: "b")?.queuedCount == 1)
    }

    @Test func `when a session ends, another group member gets its shared messages, but no QoS 2 messages in flight`() {
        // [MQTT-4.8.2-5]
        var broker = BrokerScript()
        broker.connect(1, "a", properties: [.sessionExpiryInterval(5), .receiveMaximum(2)])
        broker.subscribe(1, Subscription("$share/g/t", qos: .exactlyOnce), Subscription("own", qos: .atLeastOnce))
        broker.connect(2, "b")
        broker.publish(2, "t", "1", .atLeastOnce(1, isDuplicate: false))
        broker.publish(2, "t", "2", .exactlyOnce(2, isDuplicate: false))
        broker.publish(2, "own", "3", .atLeastOnce(3, isDuplicate: false))
        broker.publish(2, "t", "4", .exactlyOnce(4, isDuplicate: false))
        broker.subscribe(2, Subscription("$share/g/t", qos: .atLeastOnce))
        broker.lose(1)
        #expect(
            broker.advance(.seconds(5)) == [
                .publish(2, "t", "1", .atLeastOnce(1, isDuplicate: false)),
                .publish(2, "t", "4", .atLeastOnce(2, isDuplicate: false)),
            ])
    }

    @Test func `if a group member refuses a shared message, the broker does not send the message to another member`()
    {  // [MQTT-4.8.2-6]
        var broker = BrokerScript()
        for (id, name) in [(ConnectionID(1), "a"), (2, "b")] {
            broker.connect(id, name)
            broker.subscribe(id, Subscription("$share/g/t", qos: .atLeastOnce))
        }
        broker.publish(1, "t", "x", .atLeastOnce(1, isDuplicate: false))
        #expect(broker.receive(.pubAck(1, .unspecifiedError), from: 1).isEmpty)
    }

    @Test func `a shared subscription receives no retained messages, and MQTT 3 has no shared subscriptions`() {
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.publish(1, "t", isRetained: true)
        #expect(broker.subscribe(1, Subscription("$share/g/t", qos: .atMostOnce)).isEmpty)
        broker.connect(2, "b", .v311)
        broker.subscribe(2, Subscription("$share/g/t", qos: .atMostOnce))
        #expect(broker.publish(2, "$share/g/t") == [.publish(2, "$share/g/t")])
        #expect(broker.publish(2, "t") == [.publish(1, "t")])
    }

    @Test func `a shared message has the receiver's granted QoS and subscription identifier`() {  // [MQTT-4.8.2-3]
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.subscribe(1, Subscription("$share/g/t", qos: .atMostOnce), properties: [.subscriptionIdentifier(8)])
        #expect(
            broker.publish(1, "t", "x", .atLeastOnce(1, isDuplicate: false)).first
                == .publish(1, "t", properties: [.subscriptionIdentifier(8)]))
    }
}
