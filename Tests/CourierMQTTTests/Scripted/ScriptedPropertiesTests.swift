import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// MQTT 5 properties that the app sets and the broker receives.
@Suite(.timeLimit(.minutes(5))) struct ScriptedPropertiesTests {
    private static let trace = [UserProperty("trace", "1"), UserProperty("trace", "2")]
    private static let sentTrace: [Property] = trace.map { .userProperty(name: $0.name, value: $0.value) }

    private static func properties(of world: ScriptedWorld, _ pattern: PacketPattern) async -> [[Property]] {
        await world.broker.packets(pattern).compactMap { received in
            switch received.packet {
            case .connect(let packet): packet.properties.list
            case .subscribe(let packet): packet.properties.list
            case .unsubscribe(let packet): packet.properties.list
            case .disconnect(let packet): packet.properties.list
            case .publish(let packet): packet.properties.list
            default: nil
            }
        }
    }

    /// The error that a call throws at once.
    private static func error(of call: () async throws -> Void) async -> CourierError? {
        do {
            try await call()
            return nil
        } catch {
            return error as? CourierError
        }
    }

    // MARK: SUBSCRIBE and UNSUBSCRIBE

    @Test func `each connection sends one SUBSCRIBE with all filters and the subscriptionOptions`() async throws {
        let lost = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .answer, .cut(.orderly)])
        try await ScriptedWorld.run([lost]) {
            $0.session.subscriptionOptions.identifier = 268_435_455
            $0.session.subscriptionOptions.userProperties = Self.trace
        } _: { world in
            world.client.subscribe(("a", .one), ("b/#", .two))
            await world.connect()
            await world.run(for: .seconds(2))
            let expected = [.subscriptionIdentifier(268_435_455)] + Self.sentTrace
            #expect(await Self.properties(of: world, .subscribe) == [expected, expected])
            #expect(await ScriptedSubscriptionTests.filters(world, on: 1) == [["a", "b/#"]])
        }
    }

    @Test func `a request's subscription identifier is sent in SUBSCRIBE and reported with received messages`()
        async throws
    {
        let message = Publish(
            topic: "a", payload: Array("x".utf8),
            properties: [.subscriptionIdentifier(7), .subscriptionIdentifier(40_000)])
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .subscribe), .answer, .send(.publish(message)),
        ])
        try await ScriptedWorld.run([script]) { world in
            let messages = Box<Message>()
            let reading = world.client.messagePublisher().sink { messages.value = $0 }
            await world.connect()
            let request = SubscriptionRequest(
                topic: TopicTemplate(exactly: "a"), identifier: 7, userProperties: Self.trace)
            let call = Task { try await world.client.subscribe(request) }
            await world.until { messages.value != nil }
            let granted = try await call.value
            #expect(granted == .one)
            #expect(messages.value?.properties.subscriptionIdentifiers == [7], "40,000 is not the app's")
            #expect(await Self.properties(of: world, .subscribe) == [[.subscriptionIdentifier(7)] + Self.sentTrace])
            reading.cancel()
        }
    }

    @Test func `UNSUBSCRIBE contains the user properties of the UnsubscriptionRequest`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            world.client.subscribe(("a", .one))
            await world.settle()
            let topic = TopicTemplate(exactly: "a")
            let call = Task {
                try await world.client.unsubscribe(UnsubscriptionRequest(topic: topic, userProperties: Self.trace))
            }
            _ = try await call.value
            #expect(await Self.properties(of: world, .unsubscribe) == [Self.sentTrace])
        }
    }

    @Test func `a call with properties that are invalid in MQTT 5 throws invalidMessage`() async throws {
        let long = [UserProperty("n", String(repeating: "x", count: 65_536))]
        let topic = TopicTemplate(exactly: "a")
        try await ScriptedWorld.run { world in
            await world.connect()
            let errors = [
                await Self.error {
                    _ = try await world.client.subscribe(SubscriptionRequest(topic: topic, identifier: 0))
                },
                await Self.error {
                    _ = try await world.client.subscribe(SubscriptionRequest(topic: topic, userProperties: long))
                },
                await Self.error {
                    try await world.client.unsubscribe(UnsubscriptionRequest(topic: topic, userProperties: long))
                },
                await Self.error {
                    let request = SubscriptionRequest(topic: topic, identifier: 0)
                    for try await _ in world.client.messages(String.self, as: request) {}
                },
                await Self.error { try world.client.disconnect(DisconnectOptions(userProperties: long)) },
                await Self.error { try world.client.disconnect(DisconnectOptions(reasonString: "a\u{0}")) },
                await Self.error { try world.client.disconnect(DisconnectOptions(sessionExpiry: .seconds(-1))) },
            ]
            #expect(errors.map { $0?.code } == Array(repeating: .invalidMessage, count: 7))
            #expect(errors[0]?.message.contains("subscription identifier 0") == true)
            #expect(world.client.connectionState == .connected)
            #expect(await Self.properties(of: world, .subscribe).isEmpty)
        }
    }

    @Test func `a SUBSCRIBE larger than the broker's maximum packet size fails and is not sent`() async throws {
        let script = ConnectionScript.connection([.accept(properties: [.maximumPacketSize(100)])])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let large = [UserProperty("n", String(repeating: "x", count: 100))]
            let request = SubscriptionRequest(topic: TopicTemplate(exactly: "a"), userProperties: large)
            let call = Task { try await world.client.subscribe(request) }
            let outcome = await call.result
            #expect((outcome.failure as? CourierError)?.reasonCode == .packetTooLarge)
            #expect(await Self.properties(of: world, .subscribe).isEmpty)
        }
    }

    // MARK: DISCONNECT

    @Test func `the properties of DisconnectOptions are not sent again in a later DISCONNECT`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let options = DisconnectOptions(
                sessionExpiry: .seconds(60), reasonString: "night", userProperties: Self.trace)
            let call = Task { try await world.client.disconnectAndWait(options) }
            try await call.value
            await world.connect()
            await world.settle()
            world.client.disconnect()
            await world.run(for: .seconds(1))
            let expected = [.sessionExpiryInterval(60), .reasonString("night")] + Self.sentTrace
            #expect(await Self.properties(of: world, .disconnect) == [expected, []])
        }
    }

    @Test func `disconnect() with a session expiry throws invalidMessage if CONNECT had a session expiry of 0`()
        async throws
    {
        try await ScriptedWorld.run {
            $0.session.expiry = .zero
        } _: { world in
            await world.connect()
            let error = await Self.error {
                try world.client.disconnect(DisconnectOptions(sessionExpiry: .seconds(1)))
            }
            #expect(error?.code == .invalidMessage && error?.message.contains("3.14.2.2.2") == true)
            #expect(world.client.connectionState == .connected)
            try world.client.disconnect(DisconnectOptions(sessionExpiry: .zero, userProperties: Self.trace))
            await world.run(for: .seconds(1))
            #expect(await Self.properties(of: world, .disconnect) == [Self.sentTrace])
        }
    }

    @Test func `DISCONNECT carries the reason code of DisconnectOptions`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            try world.client.disconnect(DisconnectOptions(reasonCode: .disconnectWithWillMessage, sessionExpiry: .zero))
            await world.run(for: .seconds(1))
            let packet = await world.broker.packets(.disconnect).first?.packet.disconnect
            #expect(packet?.reasonCode == .disconnectWithWillMessage)
            #expect(packet?.properties.list == [.sessionExpiryInterval(0)])
            #expect(world.client.connectionState == .disconnected)
        }
    }

    @Test func `in MQTT 3.1.1, disconnect() with a reason code closes the connection without DISCONNECT`() async throws
    {
        try await ScriptedWorld.run {
            $0.protocolVersion = .version311
        } _: { world in
            await world.connect()
            try world.client.disconnect(DisconnectOptions(reasonCode: .disconnectWithWillMessage))
            await world.run(for: .seconds(1))
            #expect(await world.broker.packets(.disconnect).isEmpty)
            #expect(world.client.connectionState == .disconnected)
        }
    }

    @Test(arguments: [ReasonCode.notAuthorized, .serverMoved, .grantedQoS1, ReasonCode(rawValue: 0x05)])
    func `disconnect() throws invalidMessage for a reason code that a client may not send`(_ code: ReasonCode)
        async throws
    {
        try await ScriptedWorld.run { world in
            await world.connect()
            let error = await Self.error { try world.client.disconnect(DisconnectOptions(reasonCode: code)) }
            #expect(error?.code == .invalidMessage && error?.message.contains("\(code)") == true)
            #expect(error?.message.contains("disconnectWithWillMessage") == true)
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `disconnect() throws if DISCONNECT is larger than the broker's maximum packet size`() async throws {
        let script = ConnectionScript.connection([.accept(properties: [.maximumPacketSize(100)])])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let options = DisconnectOptions(reasonString: String(repeating: "x", count: 100))
            let error = await Self.error { try world.client.disconnect(options) }
            #expect(error?.message.contains("at most 100") == true)
            #expect(world.client.connectionState == .connected)
        }
    }

    // MARK: CONNECT and PUBLISH

    @Test func `CONNECT carries the configured properties, and responseInformation is read from CONNACK`() async throws
    {
        let script = ConnectionScript.connection([.accept(properties: [.responseInformation("answers/7")])])
        let options = ConnectOptions(
            host: "broker.invalid", port: 1, keepAlive: 0, clientId: "scripted", username: "", password: "",
            isCleanSession: true, userProperties: ["b": "0", "a": "0"],
            userPropertyList: [UserProperty("b", "2"), UserProperty("a", "3"), UserProperty("b", "1")])
        try await ScriptedWorld.run([script], provider: ScriptedProvider(options)) {
            $0.session.topicAliasMaximum = 3
            $0.session.requestsProblemInformation = false
            $0.session.requestsResponseInformation = true
        } _: { world in
            #expect(world.client.responseInformation == nil)
            await world.connect()
            #expect(world.client.responseInformation == "answers/7")
            let sent = await Self.properties(of: world, .connect).first ?? []
            let users = PacketProperties(sent).userProperties.map { "\($0.name)=\($0.value)" }
            #expect(users == ["a=0", "b=0", "b=2", "a=3", "b=1"])
            #expect(sent.contains(.topicAliasMaximum(3)))
            #expect(sent.contains(.requestProblemInformation(false)))
            #expect(sent.contains(.requestResponseInformation(true)))
        }
    }

    @Test func `by default, CONNECT has no user properties and requests no problem or response information`()
        async throws
    {
        try await ScriptedWorld.run { world in
            await world.connect()
            let sent = PacketProperties(await Self.properties(of: world, .connect).first ?? [])
            #expect(sent.requestProblemInformation == nil && sent.requestResponseInformation == nil)
            #expect(sent.topicAliasMaximum == 16 && sent.userProperties.isEmpty)
            #expect(world.client.responseInformation == nil)
        }
    }

    @Test func `a message is sent with the topic alias from the configuration`() async throws {
        let script = ConnectionScript.connection([.accept(properties: [.topicAliasMaximum(10)])])
        try await ScriptedWorld.run([script]) {
            $0.session.topicAliases = ["t": 5]
        } _: { world in
            await world.connect()
            for text in ["1", "2"] { try world.publish(text, to: "t", qos: .zero) }
            await world.settle()
            let sent = await world.publishes()
            #expect(sent.map(\.topic) == ["t", ""])
            #expect(sent.map(\.properties.topicAlias) == [5, 5])
        }
    }

    @Test(arguments: [["a": 0], ["a": 5, "b": 5], ["a/+": 1], ["": 1]] as [[String: UInt16]])
    func `validate() throws if the configuration has an invalid topic alias`(_ aliases: [String: UInt16]) {
        var config = MQTTClientConfig(
            options: ConnectOptions(host: "h", port: 1, clientId: "c", username: "", password: ""))
        config.session.topicAliases = aliases
        #expect(throws: CourierError.self) { try CourierClientFactory().validate(config) }
    }
}
