import MQTTCodec
import MQTTEngine
import Testing

@Suite
struct HandshakeTests {
    @Test func `CONNECT contains the configured client id, will, properties and limits`() throws {
        let talk = Conversation {
            $0.connect.will = .init(topic: "w", payload: [1], properties: [.willDelayInterval(5)])
            $0.receiveMaximum = 10
            $0.maximumPacketSize = 5_000
            $0.connect.properties = [.sessionExpiryInterval(60)]
        }
        talk.open()
        guard case .connect(let connect)? = try talk.sent().first else {
            Issue.record("no CONNECT")
            return
        }
        #expect(connect.version == .v5 && connect.clientID == "c" && !connect.isCleanStart)
        #expect(connect.will?.properties.willDelayInterval == 5)
        #expect(connect.properties.receiveMaximum == 10)
        #expect(connect.properties.maximumPacketSize == 5_000)
        #expect(connect.properties.topicAliasMaximum == 16)
        #expect(connect.properties.sessionExpiryInterval == 60)
    }

    @Test func `when CONNACK is received, the engine is connected and reports the CONNACK`() throws {
        let talk = Conversation()
        talk.open()
        let connAck = ConnAck(isSessionPresent: true, properties: [.serverKeepAlive(20)])
        try talk.receive(.connAck(connAck))
        #expect(talk.performed() == [.connected(connAck)])
        #expect(talk.isConnected)
    }

    @Test func `a CONNACK with the largest numbers of 32 bits is accepted, and a message is sent`() throws {
        let talk = Conversation()
        talk.open()
        _ = try talk.sent()
        let properties: PacketProperties = [.maximumPacketSize(.max), .sessionExpiryInterval(.max)]
        try talk.receive(.connAck(ConnAck(properties: properties)))
        talk.publish(qos: .atLeastOnce, token: 1)
        #expect(try talk.sent() == [OutgoingTests.publish(1, .atLeastOnce)])
    }

    @Test func `a client id that the server assigns is accepted if the client sent no client id`() throws {
        let talk = Conversation {
            $0.connect.clientID = ""
            $0.connect.isCleanStart = true
        }
        talk.open()
        let connAck = ConnAck(properties: [.assignedClientIdentifier("x")])
        try talk.receive(.connAck(connAck))
        #expect(talk.performed() == [.connected(connAck)])
    }

    /// [MQTT-3.1.3-6]
    @Test(arguments: ["x", "c"])
    func `the connection closes if the server assigns a client id although the client sent one`(_ assigned: String)
        throws
    {
        let talk = Conversation()
        talk.open()
        _ = try talk.sent()
        try talk.receive(.connAck(ConnAck(properties: [.assignedClientIdentifier(assigned)])))
        #expect(talk.performed() == [.close(.protocolError(.clientIDAssigned))])
        #expect(!talk.isConnected)
    }

    /// [MQTT-3.2.2-15]
    @Test(arguments: [1, 2, 3] as [UInt32])
    func `a CONNACK whose maximum packet size is smaller than an acknowledgement ends the connection`(_ size: UInt32)
        throws
    {
        let talk = Conversation()
        talk.open()
        _ = try talk.sent()
        try talk.receive(.connAck(ConnAck(properties: [.maximumPacketSize(size)])))
        #expect(talk.performed() == [.close(.protocolError(.maximumPacketSizeTooSmall(size)))])
        #expect(try talk.sent() == [])
    }

    /// [MQTT-3.2.2-15]
    @Test func `no packet is larger than a maximum packet size of 4 bytes`() throws {
        let talk = Conversation()
        try talk.connect(properties: [.maximumPacketSize(4)])
        try talk.receive(.message("t", .atLeastOnce(5, isDuplicate: false)))
        try talk.receive(.message("t", .exactlyOnce(6, isDuplicate: false)), .pubRel(6))
        #expect(try talk.sent() == [.pubAck(5), .pubRec(6), .pubComp(6)])
        // PUBREC and PUBCOMP with the code "not found" would have 5 bytes.
        try talk.receive(.pubRec(7), .pubRel(8))
        #expect(try talk.sent() == [.pubRel(7), .pubComp(8)])
        talk.publish(qos: .exactlyOnce, token: 1)
        talk.subscribe("a", token: 2)
        #expect(Set(talk.failures().keys) == [1, 2])
        talk.disconnect(Disconnect(reasonCode: .disconnectWithWillMessage, properties: [.reasonString("over")]))
        #expect(try talk.sent() == [.disconnect(Disconnect(reasonCode: .disconnectWithWillMessage))])
    }

    @Test func `a refused connection is reported as refused even if its CONNACK assigns a client id`() throws {
        let talk = Conversation()
        talk.open()
        let connAck = ConnAck(reasonCode: .notAuthorized, properties: [.assignedClientIdentifier("x")])
        try talk.receive(.connAck(connAck))
        #expect(talk.performed() == [.close(.refused(connAck))])
    }

    @Test func `[MQTT-3.2.0-1] a packet before CONNACK ends the connection`() throws {
        let talk = Conversation()
        talk.open()
        _ = try talk.sent()
        try talk.receive(.pingResp)
        #expect(talk.performed() == [.close(.protocolError(.packetBeforeConnAck(.pingResp)))])
        #expect(try talk.sent() == [])
    }

    @Test func `[MQTT-3.2.0-2] a second CONNACK ends the connection with a protocol error`() throws {
        let talk = Conversation()
        try talk.connect()
        try talk.receive(.connAck(ConnAck()), .pingResp)
        #expect(talk.performed() == [.close(.protocolError(.unexpectedPacket(.connAck)))])
        #expect(try talk.sent() == [.disconnect(Disconnect(reasonCode: .protocolError))])
    }

    @Test func `without CONNACK, the connection closes with connectTimeout exactly at the deadline`() throws {
        let talk = Conversation()
        talk.open()
        #expect(talk.deadline == talk.now.advanced(by: .seconds(10)))
        talk.pass(.milliseconds(9_999))
        talk.fireTimer()
        #expect(talk.performed() == [])
        talk.pass(.milliseconds(1))
        talk.fireTimer()
        #expect(talk.performed() == [.close(.connectTimeout)])
        #expect(talk.deadline == nil)
    }

    @Test func `a refusing CONNACK is reported with its reason code and properties`() throws {
        let talk = Conversation()
        talk.open()
        let connAck = ConnAck(reasonCode: .useAnotherServer, properties: [.serverReference("b2")])
        try talk.receive(.connAck(connAck))
        #expect(talk.performed() == [.close(.refused(connAck))])
    }

    @Test func `a CONNACK with session present after a clean start is a protocol error`() throws {
        let talk = Conversation { $0.connect.isCleanStart = true }
        talk.open()
        try talk.receive(.connAck(ConnAck(isSessionPresent: true)))
        #expect(talk.performed() == [.close(.protocolError(.sessionAfterCleanStart))])
    }

    @Test func `after a malformed packet, later packets are ignored and new requests fail`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.receive([0x00, 0x00])
        #expect(talk.performed().count == 1)
        _ = try talk.sent()
        try talk.receive(.message(), .pingResp)
        talk.receive([0xFF, 0xFF, 0xFF])
        talk.pass(.seconds(3_600))
        talk.fireTimer()
        talk.disconnect()
        #expect(talk.performed() == [])
        talk.publish(qos: .atMostOnce, token: 1)
        talk.subscribe("f", token: 2)
        #expect(talk.performed() == [.failed(1, .notConnected), .failed(2, .notConnected)])
        #expect(try talk.sent() == [])
        talk.close()
        #expect(talk.performed() == [])
        try talk.connect()
        #expect(talk.isConnected)
    }

    @Test func `packets that follow a DISCONNECT in the same read are ignored`() throws {
        let talk = Conversation()
        try talk.connect()
        try talk.receive(.disconnect(Disconnect(reasonCode: .serverShuttingDown)), .message(), .pingResp)
        #expect(talk.performed() == [.close(.disconnectedByServer(Disconnect(reasonCode: .serverShuttingDown)))])
        #expect(try talk.sent() == [])
    }

    @Test func `a malformed packet closes the connection, and only MQTT 5 sends a DISCONNECT with the reason`() throws {
        for version in [ProtocolVersion.v311, .v5] {
            let talk = Conversation(version)
            try talk.connect()
            talk.receive([0x36, 0x00])  // QoS 3
            guard case .close(.malformedPacket(let error))? = talk.performed().last else {
                Issue.record("not closed")
                continue
            }
            #expect(error.violation == .invalidQoS)
            #expect(
                try talk.sent() == (version == .v5 ? [.disconnect(Disconnect(reasonCode: .malformedPacket))] : []))
        }
    }

    @Test(
        arguments: [
            [0x20, 0x03, 0x00, 0x84, 0x00],  // CONNACK of MQTT 5 with 0x84
            [0x20, 0x02, 0x00, 0x01],  // CONNACK of MQTT 3 with return code 1
            [],  // The server closes without a packet, like RabbitMQ.
        ] as [[UInt8]])
    func `if a server does not accept MQTT 5, the next connections use MQTT 3.1.1`(answer: [UInt8]) throws {
        let talk = Conversation()
        talk.open()
        _ = try talk.sent()
        if !answer.isEmpty { talk.receive(answer) }
        talk.close()
        #expect(talk.performed() == [.close(.versionNotSupported(next: .v311))])
        for _ in 0..<2 {
            talk.open()
            guard case .connect(let connect)? = try talk.sent().first else {
                Issue.record("no CONNECT")
                return
            }
            #expect(connect.version == .v311 && connect.properties.isEmpty)
            try talk.receive(.connAck(ConnAck()))
            #expect(talk.isConnected)
            talk.close()
        }
    }

    @Test func `an earlier fallback to MQTT 3.1.1 is ignored if the configuration forbids fallback`() throws {
        let talk = Conversation()
        talk.open()
        _ = try talk.sent()
        talk.close()
        for (fallsBack, expected) in [(true, ProtocolVersion.v311), (false, .v5)] {
            talk.reconfigure(isSameServer: true) { $0.fallsBackToVersion311 = fallsBack }
            talk.open()
            #expect(talk.version == expected)
            guard case .connect(let connect)? = try talk.sent().first else {
                Issue.record("no CONNECT")
                return
            }
            #expect(connect.version == expected)
            try talk.receive(.connAck(ConnAck()))
            #expect(talk.isConnected)
            talk.close()
        }
    }

    @Test func `a client configured for MQTT 3.1.1 still uses MQTT 3.1.1 after reconfigure()`() throws {
        let talk = Conversation(.v311) { $0.fallsBackToVersion311 = false }
        try talk.connect()
        talk.close()
        talk.reconfigure(isSameServer: true)
        talk.open()
        #expect(talk.version == .v311)
    }

    @Test func `if the fallback to MQTT 3.1.1 also fails, the next attempt uses MQTT 5 again`() throws {
        let talk = Conversation()
        for expected in [ProtocolVersion.v5, .v311, .v5, .v311] {
            talk.open()
            #expect(talk.version == expected)
            _ = try talk.sent()
            talk.close()
        }
    }

    @Test func `after a server accepted MQTT 5, a lost connection causes no fallback to MQTT 3.1.1`() throws {
        let talk = Conversation()
        try talk.connect()
        talk.close()
        talk.open()
        talk.close()
        #expect(talk.version == .v5)
        #expect(talk.performed() == [.close(.transportClosed), .close(.transportClosed)])
    }

    @Test func `without fallback, a CONNACK with unsupportedProtocolVersion is reported as refused`() throws {
        let talk = Conversation { $0.fallsBackToVersion311 = false }
        talk.open()
        try talk.receive(.connAck(ConnAck(reasonCode: .unsupportedProtocolVersion)))
        #expect(talk.performed() == [.close(.refused(ConnAck(reasonCode: .unsupportedProtocolVersion)))])
        #expect(talk.version == .v5)
    }

    @Test func `AUTH packets can be exchanged before CONNACK and for a later reauthentication`() throws {
        let talk = Conversation { $0.connect.properties = [.authenticationMethod("M")] }
        talk.open()
        _ = try talk.sent()
        let step = Auth(reasonCode: .continueAuthentication, properties: [.authenticationMethod("M")])
        try talk.receive(.auth(step))
        #expect(talk.performed() == [.authenticationContinued(step)])
        try talk.authenticate(step)
        #expect(try talk.sent() == [.auth(step)])
        try talk.receive(.connAck(ConnAck()))
        _ = talk.performed()
        let again = Auth(reasonCode: .reauthenticate, properties: [.authenticationMethod("M")])
        try talk.authenticate(again)
        #expect(try talk.sent() == [.auth(again)])
        let success = Auth(reasonCode: .success, properties: [.authenticationMethod("M")])
        try talk.receive(.auth(success))
        #expect(talk.performed() == [.authenticated(success)])
    }

    /// [MQTT-4.12.0-6]
    @Test func `a received AUTH closes the connection if CONNECT had no authentication method`() throws {
        let step = Auth(reasonCode: .continueAuthentication, properties: [.authenticationMethod("M")])
        let talk = Conversation()
        try talk.connect()
        try talk.receive(.auth(step))
        #expect(talk.performed() == [.close(.protocolError(.unexpectedAuthentication))])
    }

    /// [MQTT-4.12.0-5]
    @Test(arguments: [false, true])
    func `a received AUTH closes the connection if its method differs from the method of CONNECT`(
        isConnected: Bool
    ) throws {
        let talk = Conversation { $0.connect.properties = [.authenticationMethod("M")] }
        talk.open()
        if isConnected { try talk.receive(.connAck(ConnAck())) }
        _ = try talk.sent()
        _ = talk.performed()
        try talk.receive(.auth(Auth(reasonCode: .continueAuthentication, properties: [.authenticationMethod("N")])))
        #expect(talk.performed() == [.close(.protocolError(.wrongAuthenticationMethod))])
    }

    @Test func `a DISCONNECT with a reason code is sent in MQTT 5 but not in MQTT 3.1.1`() throws {
        let goodbye = Disconnect(reasonCode: .disconnectWithWillMessage, properties: [.sessionExpiryInterval(0)])
        for version in [ProtocolVersion.v311, .v5] {
            let talk = Conversation(version)
            try talk.connect()
            talk.disconnect(goodbye)
            #expect(try talk.sent() == (version == .v5 ? [.disconnect(goodbye)] : []))
            #expect(talk.performed() == [.close(.requested)])
        }
    }

    @Test func `in MQTT 3.1.1, a normal DISCONNECT is sent without properties`() throws {
        let talk = Conversation(.v311)
        try talk.connect()
        talk.disconnect(Disconnect(properties: [.sessionExpiryInterval(0)]))
        #expect(try talk.sent() == [.disconnect(Disconnect())])
    }

    @Test func `a CONNECT that cannot be encoded closes the connection with malformedConnect`() throws {
        let talk = Conversation { $0.connect.will = .init(topic: "a/#", payload: []) }
        talk.open()
        guard case .close(.malformedConnect(let error))? = talk.performed().first else {
            Issue.record("not closed")
            return
        }
        #expect(error.violation == .wildcardInTopicName && error.field == .willTopic)
    }
}
