import CourierTesting
import MQTTCodec
import Testing

@Suite struct `Broker, CONNECT and the end of connections` {
    @Test(arguments: ProtocolVersion.allCases)
    func `the broker accepts a client of each protocol version`(version: ProtocolVersion) {
        var broker = BrokerScript()
        let actions = broker.connect(1, "a", version)
        let connAck = actions.first?.connAck
        #expect(actions.count == 1)
        #expect(connAck?.reasonCode == .success)
        #expect(connAck?.isSessionPresent == false)
        #expect(connAck?.properties.isEmpty == (version < .v5))
        #expect(broker.machine.sessionState(of: "a")?.connection == 1)
    }

    @Test func `CONNACK reports the broker's limits to an MQTT 5 client`() {
        var broker = BrokerScript {
            $0.receiveMaximum = 7
            $0.serverKeepAlive = 20
            $0.topicAliasMaximum = 3
            $0.maximumPacketSize = 1_000
            $0.maximumQoS = .atLeastOnce
            $0.isRetainAvailable = false
            $0.isSharedSubscriptionAvailable = false
            $0.isWildcardSubscriptionAvailable = false
            $0.isSubscriptionIdentifierAvailable = false
            $0.maximumSessionExpiry = .seconds(60)
        }
        let connAck = broker.connect(1, "", properties: [.sessionExpiryInterval(.max)]).first?.connAck
        #expect(
            connAck?.properties == [
                .sessionExpiryInterval(60), .assignedClientIdentifier("auto-1"), .serverKeepAlive(20),
                .receiveMaximum(7), .topicAliasMaximum(3), .maximumQoS(.atLeastOnce), .retainAvailable(false),
                .maximumPacketSize(1_000), .wildcardSubscriptionAvailable(false),
                .subscriptionIdentifiersAvailable(false), .sharedSubscriptionAvailable(false),
            ])
    }

    @Test func `an assigned client id differs from all client ids in use`() {  // [MQTT-3.1.3-7], [MQTT-3.2.2-16]
        var broker = BrokerScript()
        broker.connect(1, "auto-1")
        let connAck = broker.connect(2, "").first?.connAck
        #expect(connAck?.properties.assignedClientIdentifier == "auto-2")
        #expect(broker.connect(3, "", .v311).first?.connAck == ConnAck())
        #expect(broker.machine.clientIDs == ["auto-1", "auto-2", "auto-3"])
    }

    @Test func `a disabled protocol version is refused in CONNACK`() {
        var broker = BrokerScript { $0.versions = [.v311] }
        let refused: [BrokerMachine.Action] = [
            .send(.connAck(ConnAck(reasonCode: .unsupportedProtocolVersion)), to: 1),
            .close(1, .refused(.unsupportedProtocolVersion)),
        ]
        #expect(broker.connect(1, "a") == refused)
        #expect(broker.connect(2, "a", .v31).first?.connAck?.reasonCode == .unsupportedProtocolVersion)
        #expect(broker.connect(3, "a", .v311).first?.connAck?.reasonCode == .success)
    }

    @Test func `an unknown protocol version is refused in a CONNACK that the client can read`() {  // [MQTT-3.1.2-2]
        var broker = BrokerScript()
        for (id, level, version) in [(ConnectionID(1), UInt8(6), ProtocolVersion.v5), (2, 2, .v311), (3, 0x83, .v311)] {
            broker.open(id)
            let actions = broker.receive(
                malformed: [0x10, 13, 0, 4, 0x4D, 0x51, 0x54, 0x54, level, 2, 0, 0, 0, 1, 0x61], from: id)
            #expect(actions.first == .setVersion(version, of: id))
            #expect(actions[1].connAck?.reasonCode == .unsupportedProtocolVersion)
            #expect(actions.count == 3)
        }
    }

    @Test func `an empty client id without a clean session is refused`() {
        var broker = BrokerScript()
        broker.open(1)
        let actions = broker.receive(
            malformed: [0x10, 12, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 0, 0, 0, 0, 0], from: 1)
        #expect(actions[1].connAck?.reasonCode == .clientIdentifierNotValid)
    }

    @Test(arguments: ProtocolVersion.allCases)
    func `only a client with a known user name and the correct password is accepted`(version: ProtocolVersion) {
        var broker = BrokerScript {
            $0.authentication = .accounts([.init(username: "ada", password: SecretBytes("lace"))])
        }
        func code(_ actions: [BrokerMachine.Action]) -> PacketReasonCode? { actions.first?.connAck?.reasonCode }
        let good = broker.connect(1, "a", version, username: "ada", password: SecretBytes("lace"))
        let wrong = broker.connect(2, "b", version, username: "ada", password: SecretBytes("love"))
        let unknown = broker.connect(3, "c", version, username: "eve", password: SecretBytes("lace"))
        #expect(code(good) == .success)
        #expect(code(wrong) == .badUserNameOrPassword)
        #expect(wrong.last == .close(2, .refused(.badUserNameOrPassword)))
        #expect(code(unknown) == .badUserNameOrPassword)
        #expect(code(broker.connect(4, "d", version)) == .badUserNameOrPassword)
        #expect(broker.machine.sessionCount == 1)
    }

    @Test func `the authentication closure reads the CONNECT and accepts or refuses the client`() {
        var broker = BrokerScript {
            $0.authentication = .check { connect in
                switch connect.password {
                case SecretBytes("good"): nil
                case SecretBytes("late"): .serverBusy
                default: .success  // The closure accepts all other clients.
                }
            }
        }
        func code(_ id: ConnectionID, _ password: String, _ version: ProtocolVersion) -> PacketReasonCode? {
            broker.connect(id, "a", version, username: "ada", password: SecretBytes(password)).first?.connAck?
                .reasonCode
        }
        #expect(code(1, "late", .v5) == .serverBusy)
        #expect(code(2, "late", .v311) == .serverUnavailable)
        #expect(code(3, "other", .v5) == .notAuthorized)
        #expect(code(4, "good", .v5) == .success)
    }

    @Test func `the reason code of a refused CONNECT is translated to the client's protocol version`() {
        func code(_ code: PacketReasonCode, _ version: ProtocolVersion) -> PacketReasonCode? {
            var broker = BrokerScript { $0.authentication = .refuse(code) }
            return broker.connect(1, "a", version).first?.connAck?.reasonCode
        }
        #expect(code(.banned, .v5) == .banned)
        #expect(code(.banned, .v311) == .notAuthorized)
        #expect(code(.serverBusy, .v311) == .serverUnavailable)
        #expect(code(.serverUnavailable, .v31) == .serverUnavailable)
        #expect(code(.sessionTakenOver, .v5) == .notAuthorized)
    }

    @Test func `a CONNECT with an authentication method is refused`() {  // [MQTT-4.12.0-1]
        var broker = BrokerScript()
        let actions = broker.connect(1, "a", properties: [.authenticationMethod("SCRAM")])
        #expect(actions.last == .close(1, .refused(.badAuthenticationMethod)))
    }

    @Test func `a packet before CONNECT and a second CONNECT end the connection`() {  // [MQTT-3.1.0-1], [MQTT-3.1.0-2]
        var broker = BrokerScript()
        broker.open(1)
        #expect(broker.receive(.pingReq, from: 1) == [.close(1, .protocolViolation(.protocolError))])
        broker.connect(2, "b")
        let connect = Packet.connect(Connect(version: .v5, clientID: "b"))
        #expect(broker.receive(connect, from: 2) == .violation(2, .protocolError))
        broker.connect(3, "c", .v311)
        let older = Packet.connect(Connect(version: .v311, clientID: "c"))
        #expect(broker.receive(older, from: 3) == [.close(3, .protocolViolation(.protocolError))])
        #expect(broker.machine.connectionCount == 0)
    }

    @Test func `AUTH ends a connection whose CONNECT had no authentication method`() {
        var broker = BrokerScript()
        broker.connect(1, "a")
        let auth = Auth(reasonCode: .reauthenticate, properties: [.authenticationMethod("SCRAM")])
        #expect(broker.receive(.auth(auth), from: 1) == .violation(1, .protocolError))
    }

    /// [MQTT-4.13.1-1]
    @Test func `if a client sends malformed bytes, the broker sends DISCONNECT with a reason code only in MQTT 5`() {
        var broker = BrokerScript { $0.maximumPacketSize = 50 }
        broker.connect(1, "a")
        let actions = broker.receive(malformed: [0x36, 0], from: 1)  // QoS 3.
        let disconnect = actions[0].disconnect
        #expect(disconnect?.reasonCode == .malformedPacket)
        #expect(disconnect?.properties.reasonString?.isEmpty == false)
        broker.connect(2, "b")
        let large = broker.receive(malformed: [0x30, 0x80, 1], from: 2)[0].disconnect
        #expect(large?.reasonCode == .packetTooLarge)
        broker.connect(3, "c", .v311)
        #expect(broker.receive(malformed: [0x36, 0], from: 3).count == 1)
        // A client with a small maximum packet size receives no reason string.
        broker.connect(4, "d", properties: [.maximumPacketSize(40)])
        let short = broker.receive(malformed: [0x36, 0], from: 4)[0].disconnect
        #expect(short?.properties.isEmpty == true)
    }

    @Test func `a connection without CONNECT is closed after the connect timeout`() {
        var broker = BrokerScript { $0.connectTimeout = .seconds(3) }
        broker.open(1)
        #expect(broker.advance(.seconds(2)).isEmpty)
        #expect(broker.advance(.seconds(1)) == [.close(1, .connectTimeout)])
        #expect(broker.machine.nextDeadline == nil)
    }

    @Test func `a connection ends after one and a half keep-alive intervals without a packet`() {  // [MQTT-3.1.2-22]
        var broker = BrokerScript()
        broker.connect(1, "a", keepAlive: 10)
        broker.connect(2, "b", .v311, keepAlive: 10)
        broker.connect(3, "c", .v311, keepAlive: 0)
        #expect(broker.advance(.seconds(14)).isEmpty)
        #expect(broker.receive(.pingReq, from: 1) == [.send(.pingResp, to: 1)])  // [MQTT-3.12.4-1]
        #expect(broker.advance(.seconds(1)) == [.close(2, .keepAliveTimeout)])
        #expect(broker.advance(.seconds(13)).isEmpty)
        #expect(broker.advance(.seconds(1)) == [.disconnect(1, .keepAliveTimeout), .close(1, .keepAliveTimeout)])
        #expect(broker.advance(.seconds(100_000)).isEmpty)
    }

    @Test func `the keep-alive timeout is suspended while a connection is congested`() {
        var broker = BrokerScript()
        broker.connect(1, "a", keepAlive: 10)
        broker.connect(2, "b", keepAlive: 10)
        broker.perform { machine, _, _ in machine.connectionCongested(1) }
        #expect(broker.advance(.seconds(60)) == [.disconnect(2, .keepAliveTimeout), .close(2, .keepAliveTimeout)])
        #expect(broker.machine.nextDeadline == nil)
        broker.perform { $0.connectionDrained(1, now: $1, into: &$2) }
        #expect(broker.advance(.seconds(14)).isEmpty)
        #expect(broker.advance(.seconds(2)) == [.disconnect(1, .keepAliveTimeout), .close(1, .keepAliveTimeout)])
    }

    @Test func `the server keep-alive replaces the keep-alive of MQTT 5 clients only`() {  // [MQTT-3.2.2-21]
        var broker = BrokerScript { $0.serverKeepAlive = 2 }
        broker.connect(1, "a", keepAlive: 100)
        broker.connect(2, "b", .v311, keepAlive: 100)
        #expect(broker.advance(.seconds(3)).last == .close(1, .keepAliveTimeout))
        #expect(broker.machine.connectionCount == 1)
    }

    @Test func `a connection that exceeds the connection limit is closed`() {
        var broker = BrokerScript { $0.maximumConnections = 1 }
        broker.open(1)
        #expect(broker.open(2) == [.close(2, .tooManyConnections)])
        broker.lose(1)
        #expect(broker.open(3).isEmpty)
    }

    @Test func `a CONNECT that exceeds the session limit is refused`() {
        var broker = BrokerScript { $0.maximumSessions = 1 }
        broker.connect(1, "a")
        #expect(broker.connect(2, "b").last == .close(2, .refused(.quotaExceeded)))
        #expect(broker.connect(3, "b", .v311).first?.connAck?.reasonCode == .serverUnavailable)
        #expect(broker.connect(4, "a").last?.connAck?.reasonCode == .success)
    }

    @Test func `a client id that exceeds the length limit is refused`() {
        var broker = BrokerScript { $0.maximumClientIDLength = 2 }
        #expect(broker.connect(1, "abc").last == .close(1, .refused(.clientIdentifierNotValid)))
    }

    @Test func `disconnect() and shutDown() close connections and send the reason code in MQTT 5`() {
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.connect(2, "b")
        broker.connect(3, "c", .v311)
        broker.open(4)
        let moved = broker.perform { $0.disconnect("a", reasonCode: .serverMoved, now: $1, into: &$2) }
        #expect(moved == [.disconnect(1, .serverMoved), .close(1, .administrative(.serverMoved))])
        let actions = broker.perform { $0.shutDown(now: $1, into: &$2) }
        #expect(
            actions == [
                .disconnect(2, .serverShuttingDown), .close(2, .administrative(.serverShuttingDown)),
                .close(3, .administrative(.serverShuttingDown)), .close(4, .administrative(.serverShuttingDown)),
            ])
        broker.connect(5, "e")
        let impossible = broker.perform { $0.disconnect("e", reasonCode: .grantedQoS1, now: $1, into: &$2) }
        #expect(impossible.first == .disconnect(5, .unspecifiedError))
    }

    @Test func `after a DISCONNECT, the broker ignores packets and connection loss of the same connection`() {
        var broker = BrokerScript()
        broker.connect(1, "a")
        broker.receive(.disconnect(Disconnect()), from: 1)
        #expect(broker.receive(.pingReq, from: 1).isEmpty)
        #expect(broker.lose(1).isEmpty)
        #expect(broker.receive(malformed: [0x36, 0], from: 1).isEmpty)
    }
}
