import CourierTesting
import MQTTCodec
import Testing

@Suite struct `Broker, sessions` {
    private let forEver: PacketProperties = [.sessionExpiryInterval(.max)]

    private func isPresent(_ actions: [BrokerMachine.Action]) -> Bool? {
        actions.compactMap(\.connAck).first?.isSessionPresent
    }

    /// [MQTT-3.1.2-4] to [MQTT-3.1.2-6]
    @Test func `a reconnect resumes a session, but a reconnect with clean start deletes the session`() {
        var broker = BrokerScript()
        #expect(isPresent(broker.connect(1, "a", isClean: false, properties: forEver)) == false)
        broker.subscribe(1, Subscription("t", qos: .atLeastOnce))
        broker.lose(1)
        #expect(isPresent(broker.connect(2, "a", isClean: false, properties: forEver)) == true)
        #expect(broker.machine.sessionState(of: "a")?.filters == ["t"])
        broker.lose(2)
        #expect(isPresent(broker.connect(3, "a", properties: forEver)) == false)
        #expect(broker.machine.sessionState(of: "a")?.filters == [])
        #expect(broker.machine.subscriptionNodeCount == 0)
    }

    @Test func `an MQTT 3 session continues after a disconnect only if the clean session flag is not set`() {
        var broker = BrokerScript()
        broker.connect(1, "a", .v311, isClean: false)
        broker.connect(2, "b", .v31, isClean: false)
        broker.connect(3, "c", .v311)
        for id: ConnectionID in [1, 2, 3] { broker.lose(id) }
        #expect(broker.machine.clientIDs == ["a", "b"])
        #expect(isPresent(broker.connect(4, "a", .v311, isClean: false)) == true)
        #expect(isPresent(broker.connect(5, "b", .v31, isClean: false)) == false, "MQTT 3.1 cannot say it")
        #expect(broker.machine.sessionCount == 2)
    }

    @Test func `a session ends when its expiry interval has passed`() {  // [MQTT-4.1.0-2]
        var broker = BrokerScript()
        broker.connect(1, "a", properties: [.sessionExpiryInterval(10)])
        broker.connect(2, "b", properties: forEver)
        broker.connect(3, "c")
        for id: ConnectionID in [1, 2, 3] { broker.lose(id) }
        #expect(broker.machine.clientIDs == ["a", "b"])
        broker.advance(.seconds(9))
        #expect(broker.machine.clientIDs == ["a", "b"])
        broker.advance(.seconds(1))
        #expect(broker.machine.clientIDs == ["b"])
        broker.advance(.seconds(4_000_000_000))
        #expect(broker.machine.clientIDs == ["b"])
    }

    @Test func `a session does not end while its client is connected`() {  // [MQTT-4.1.0-1]
        var broker = BrokerScript()
        broker.connect(1, "a", properties: [.sessionExpiryInterval(10)])
        broker.lose(1)
        broker.advance(.seconds(5))
        broker.connect(2, "a", isClean: false, properties: [.sessionExpiryInterval(10)])
        broker.advance(.seconds(100))
        #expect(broker.machine.sessionState(of: "a")?.connection == 2)
    }

    @Test func `the configured maximum session expiry applies to MQTT 3 and MQTT 5 sessions`() {
        var broker = BrokerScript { $0.maximumSessionExpiry = .seconds(5) }
        broker.connect(1, "a", properties: forEver)
        broker.connect(2, "b", .v311, isClean: false)
        broker.lose(1)
        broker.lose(2)
        broker.advance(.seconds(5))
        #expect(broker.machine.sessionCount == 0)
    }

    @Test func `DISCONNECT can change the session expiry interval, unless the interval is zero`() {  // 3.14.2.2.2
        var broker = BrokerScript()
        broker.connect(1, "a", properties: forEver)
        broker.receive(.disconnect(Disconnect(properties: [.sessionExpiryInterval(0)])), from: 1)
        #expect(broker.machine.sessionCount == 0)
        broker.connect(2, "a", properties: [.sessionExpiryInterval(1)])
        broker.receive(.disconnect(Disconnect(properties: [.sessionExpiryInterval(7)])), from: 2)
        broker.advance(.seconds(6))
        #expect(broker.machine.sessionCount == 1)
        broker.advance(.seconds(1))
        #expect(broker.machine.sessionCount == 0)
        broker.connect(3, "a")
        let actions = broker.receive(.disconnect(Disconnect(properties: [.sessionExpiryInterval(7)])), from: 3)
        #expect(actions == .violation(3, .protocolError))
    }

    @Test func `a second connection with the same client id takes over the session`() {  // [MQTT-3.1.4-3]
        var broker = BrokerScript()
        broker.connect(1, "a", isClean: false, properties: forEver)
        let actions = broker.connect(2, "a", isClean: false, properties: forEver)
        #expect(actions.prefix(2) == [.disconnect(1, .sessionTakenOver), .close(1, .takenOver)])
        #expect(isPresent(actions) == true)
        let older = broker.connect(3, "a", .v311, isClean: false)
        #expect(older.prefix(2) == [.disconnect(2, .sessionTakenOver), .close(2, .takenOver)])
        #expect(broker.connect(4, "a", .v311).first == .close(3, .takenOver))
        #expect(broker.machine.connectionCount == 1)
        #expect(broker.lose(3).isEmpty)
        #expect(broker.machine.sessionState(of: "a")?.connection == 4)
    }

    @Test func `client ids are compared byte by byte`() {
        var broker = BrokerScript()
        broker.connect(1, "\u{E9}")
        #expect(broker.connect(2, "e\u{301}").count == 1, "nobody is taken over")
        #expect(broker.machine.sessionCount == 2)
    }

    @Test func `QoS 1 and QoS 2 messages are queued for an offline client, but QoS 0 messages are dropped`() {
        var broker = BrokerScript()
        broker.connect(1, "a", isClean: false, properties: forEver)
        broker.subscribe(1, Subscription("t", qos: .exactlyOnce))
        broker.lose(1)
        broker.connect(2, "b")
        broker.publish(2, "t", "0")
        broker.publish(2, "t", "1", .atLeastOnce(1, isDuplicate: false))
        broker.publish(2, "t", "2", .exactlyOnce(2, isDuplicate: false))
        #expect(broker.machine.sessionState(of: "a")?.queuedCount == 2)
        let actions = broker.connect(3, "a", isClean: false, properties: forEver)
        #expect(
            actions.dropFirst() == [
                .publish(3, "t", "1", .atLeastOnce(1, isDuplicate: false)),
                .publish(3, "t", "2", .exactlyOnce(2, isDuplicate: false)),
            ])
    }

    @Test func `after a reconnect, unacknowledged messages are sent again in order with DUP`() {
        // [MQTT-4.4.0-1], [MQTT-3.3.1-1], [MQTT-4.6.0-1]
        var broker = BrokerScript()
        broker.connect(1, "a", isClean: false, properties: forEver)
        broker.subscribe(1, Subscription("t", qos: .exactlyOnce))
        broker.connect(2, "b")
        broker.publish(2, "t", "1", .exactlyOnce(1, isDuplicate: false))
        broker.publish(2, "t", "2", .atLeastOnce(2, isDuplicate: false))
        broker.publish(2, "t", "3", .exactlyOnce(3, isDuplicate: false))
        broker.publish(2, "t", "4", .exactlyOnce(4, isDuplicate: false))
        broker.receive(.pubRec(3), from: 1)
        broker.receive(.pubRec(1), from: 1)
        broker.lose(1)
        broker.publish(2, "t", "5", .atLeastOnce(5, isDuplicate: false))
        let again: [BrokerMachine.Action] = [
            .pubRel(3, 3), .pubRel(3, 1), .publish(3, "t", "2", .atLeastOnce(2, isDuplicate: true)),
            .publish(3, "t", "4", .exactlyOnce(4, isDuplicate: true)),
            .publish(3, "t", "5", .atLeastOnce(5, isDuplicate: false)),
        ]
        #expect(broker.connect(3, "a", isClean: false, properties: forEver).dropFirst() == again[...])
        #expect(broker.receive(.pubComp(3), from: 3).isEmpty)
        #expect(broker.receive(.pubComp(1), from: 3).isEmpty)
        #expect(broker.machine.sessionState(of: "a")?.outgoingIDs == [2, 4, 5])
    }

    @Test func `a session can be resumed with another protocol version`() {
        var broker = BrokerScript()
        broker.connect(1, "a", isClean: false, properties: forEver)
        broker.subscribe(1, Subscription("t", qos: .atLeastOnce), properties: [.subscriptionIdentifier(3)])
        broker.connect(2, "b")
        broker.publish(2, "t", "1", .atLeastOnce(1, isDuplicate: false), properties: [.contentType("text/plain")])
        broker.lose(1)
        let actions = broker.connect(3, "a", .v311, isClean: false)
        #expect(actions.last == .publish(3, "t", "1", .atLeastOnce(1, isDuplicate: true)))
    }

    @Test func `after a reconnect, the broker obeys the receive maximum and packet size limit of the new CONNECT`() {
        var broker = BrokerScript()
        broker.connect(1, "a", isClean: false, properties: forEver)
        broker.subscribe(1, Subscription("t", qos: .atLeastOnce))
        broker.connect(2, "b")
        for number in 1...3 { broker.publish(2, "t", "\(number)", .atLeastOnce(1, isDuplicate: false)) }
        broker.publish(2, "t", String(repeating: "x", count: 100), .atLeastOnce(1, isDuplicate: false))
        broker.lose(1)
        let limits: PacketProperties = [.sessionExpiryInterval(.max), .receiveMaximum(1), .maximumPacketSize(50)]
        let actions = broker.connect(3, "a", isClean: false, properties: limits)
        #expect(actions.dropFirst() == [.publish(3, "t", "1", .atLeastOnce(1, isDuplicate: true))])
        #expect(
            broker.receive(.pubAck(1), from: 3) == [.publish(3, "t", "2", .atLeastOnce(2, isDuplicate: true))])
        broker.receive(.pubAck(2), from: 3)
        // The fourth message is too large for the new limit and counts as delivered ([MQTT-3.1.2-25]).
        #expect(broker.receive(.pubAck(3), from: 3).isEmpty)
        #expect(broker.machine.sessionState(of: "a")?.outgoingIDs == [])
    }

    @Test func `if CONNACK is too large for the client, the connection ends and the session is not changed`() {
        var broker = BrokerScript()
        let limits: PacketProperties = [.sessionExpiryInterval(.max), .receiveMaximum(1)]
        broker.connect(1, "a", isClean: false, properties: limits)
        broker.subscribe(1, Subscription("t", qos: .exactlyOnce))
        broker.connect(2, "b")
        broker.publish(2, "t", "1", .exactlyOnce(1, isDuplicate: false))
        #expect(broker.receive(.pubRec(1), from: 1) == [.pubRel(1, 1)])
        broker.lose(1)
        let small = PacketProperties(limits.list + [.maximumPacketSize(8)])
        #expect(broker.connect(3, "a", isClean: false, properties: small) == [.close(3, .answerTooLarge)])
        #expect(broker.connect(4, "a", isClean: false, properties: limits).dropFirst() == [.pubRel(4, 1)])
        #expect(broker.machine.sessionState(of: "a")?.onWireCount == 1)
        #expect(broker.publish(2, "t", "2", .atLeastOnce(2, isDuplicate: false)) == [.pubAck(2, 2)])
        #expect(broker.receive(.pubComp(1), from: 4) == [.publish(4, "t", "2", .atLeastOnce(2, isDuplicate: false))])
    }

    @Test func `a full message queue drops the newest or the oldest message, as its policy says`() {
        for (policy, expected) in [
            (BrokerConfiguration.QueueOverflow.dropNewest, ["1", "2"]), (.dropOldest, ["2", "3"]),
        ] {
            var broker = BrokerScript {
                $0.maximumQueuedMessages = 2
                $0.queueOverflow = policy
            }
            broker.connect(1, "a", .v311, isClean: false)
            broker.subscribe(1, Subscription("t", qos: .atLeastOnce))
            broker.lose(1)
            broker.connect(2, "b")
            for number in 1...3 { broker.publish(2, "t", "\(number)", .atLeastOnce(1, isDuplicate: false)) }
            #expect(broker.machine.droppedMessageCount == 1)
            let actions = broker.connect(3, "a", .v311, isClean: false)
            #expect(actions.compactMap(\.publish).map { String(decoding: $0.payload, as: UTF8.self) } == expected)
        }
    }

    @Test func `the message queue of a session is limited by bytes`() {
        var broker = BrokerScript { $0.maximumQueuedBytes = 100 }
        broker.connect(1, "a", .v311, isClean: false)
        broker.subscribe(1, Subscription("t", qos: .atLeastOnce))
        broker.lose(1)
        broker.connect(2, "b")
        for _ in 1...3 {
            broker.publish(2, "t", String(repeating: "x", count: 40), .atLeastOnce(1, isDuplicate: false))
        }
        #expect(broker.machine.sessionState(of: "a")?.queuedCount == 2)
    }

    @Test func `a message larger than the byte limit of the queue is dropped, and queued messages remain`() {
        var broker = BrokerScript {
            $0.maximumQueuedBytes = 100
            $0.queueOverflow = .dropOldest
        }
        broker.connect(1, "a", .v311, isClean: false)
        broker.subscribe(1, Subscription("t", qos: .atLeastOnce))
        broker.lose(1)
        broker.connect(2, "b")
        for size in [40, 40, 200] {
            broker.publish(2, "t", String(repeating: "x", count: size), .atLeastOnce(1, isDuplicate: false))
        }
        #expect(broker.machine.sessionState(of: "a")?.queuedCount == 2)
        #expect(broker.machine.droppedMessageCount == 1)
    }

    @Test func `messages are delivered to an online client even if the maximum queue length is zero`() {
        var broker = BrokerScript { $0.maximumQueuedMessages = 0 }
        broker.connect(1, "a")
        broker.subscribe(1, Subscription("t", qos: .atLeastOnce))
        #expect(broker.publish(1, "t", "x", .atLeastOnce(5, isDuplicate: false)).count == 2)
    }
}
