import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Brokers such as mosquitto close the connection for some texts. The client refuses these texts at the call, unless
/// `limits.textPolicy` allows them.
@Suite(.timeLimit(.minutes(5))) struct ScriptedTextPolicyTests {
    private static let deepTopic = String(repeating: "/", count: 201)

    /// Runs each kind of call with one unportable text. The error must name the character and its position.
    private static func expectRefusals(by client: MQTTClient) async {
        let calls: [(String, () async throws -> Void)] = [
            ("publish, awaited", { _ = try await client.publish("x", to: "a\n", qos: .one) }),
            ("publish, awaited, QoS 0", { _ = try await client.publish("x", to: "a\n", qos: .zero) }),
            ("enqueue", { try await client.enqueue("x", to: "a\n", qos: .two) }),
            ("publishMessage", { try client.publishMessage("x", topic: "a\n", qos: .one) }),
            ("completion", { try client.publish(text: "x", to: "a\n", qos: .one) { _ in } }),
            ("bytes", { try client.publish(bytes: [1], to: "a\n", qos: .zero) }),
            ("subscribe", { _ = try await client.subscribe(to: "a\n") }),
            ("unsubscribe", { try await client.unsubscribe(from: "a\n") }),
            ("request", { _ = try await client.request("x", to: "a\n", timeout: .seconds(1), as: String.self) }),
        ]
        for (name, call) in calls {
            await #expect(throws: CourierError.self, "\(name)") { try await call() }
            do { try await call() } catch {
                let words = (error as? CourierError)?.message ?? ""
                #expect(words.contains("U+000A as its character 2"), "\(name): \(error)")
                #expect(words.contains("textPolicy"), "\(name): \(error)")
            }
        }
        await #expect(throws: CourierError.self) { try await client.publish("x", to: deepTopic, qos: .one) }
        await #expect(throws: CourierError.self) { _ = try await client.subscribe(to: "\(deepTopic)#", qos: .one) }
    }

    @Test(arguments: [false, true], [false, true])
    func `each call with a control character in its topic fails and sends nothing`(
        isListenedTo: Bool, hasStore: Bool
    ) async throws {
        try await ScriptedWorld.run {
            if hasStore { $0.messageStore = ControlledStore() }
        } _: { world in
            if !isListenedTo { world.test.stopListening() }
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            await Self.expectRefusals(by: world.client)
            world.client.subscribe(("a\n", .one))
            world.client.unsubscribe("a\n")
            await world.settle()
            #expect(await world.publishes().isEmpty)
            #expect(await world.broker.packets(.subscribe).isEmpty)
            #expect(await world.broker.packets(.unsubscribe).isEmpty)
        }
    }

    @Test func `a loop over a filter with a control character throws an error`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            await #expect(throws: CourierError.self) {
                for try await _ in world.client.messages(String.self, from: "a\n") {}
            }
        }
    }

    @Test func `publish() refuses properties with a control character, also in a forwarded message`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            let relayed = Message(
                data: Data([1]), topic: "from", qos: .one, properties: MessageProperties(contentType: "a\u{1}"))
            await #expect(throws: CourierError.self) { try await world.client.publish(relayed, to: "to", qos: .one) }
            #expect(throws: CourierError.self) { try world.client.publishMessage(relayed, topic: "to", qos: .zero) }
            let properties = MessageProperties(userProperties: [.init("a", "b\u{7F}")])
            await #expect(throws: CourierError.self) {
                try await world.client.publish("x", to: "to", qos: .one, properties: properties)
            }
            #expect(await world.publishes().isEmpty)
        }
    }

    @Test func `with textPolicy = anyLegal, control characters and topics with 202 levels are sent`() async throws {
        try await ScriptedWorld.run {
            $0.limits.textPolicy = .anyLegal
        } _: { world in
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            for topic in ["a\n", Self.deepTopic] {
                let properties = MessageProperties(
                    contentType: "t\n", userProperties: [.init("\(Unicode.Scalar.of(0xFFFE))", "\u{1}")])
                try await world.client.publish("x", to: topic, qos: .one, properties: properties)
                try await world.client.subscribe(to: topic)
                try await world.client.unsubscribe(from: topic)
            }
            #expect(await world.publishes().map(\.topic) == ["a\n", Self.deepTopic])
        }
    }

    @Test func `validate() refuses a control character in the configuration and names the option`() {
        func expectRefusal(_ words: String, _ change: (inout MQTTClientConfig) -> Void) {
            var config = MQTTClientConfig(options: .local(1_883))
            change(&config)
            expectCourierError(.invalidConfiguration, words, "U+0009") { try CourierClientFactory().validate(config) }
            config.limits.textPolicy = .anyLegal
            #expect(throws: Never.self) { try CourierClientFactory().validate(config) }
        }
        expectRefusal("`topics`") { $0.topics["a\t"] = .one }
        expectRefusal("will") { $0.will = WillMessage(topic: "a\t", text: "") }
        func expectRefusal(of options: ConnectOptions, _ words: String) {
            var config = MQTTClientConfig(options: options)
            expectCourierError(.invalidConfiguration, words, "U+0009") { try CourierClientFactory().validate(config) }
            config.limits.textPolicy = .anyLegal
            #expect(throws: Never.self) { try CourierClientFactory().validate(config) }
        }
        func options(
            id: String = "a", username: String = "", password: String = "", properties: [String: String]? = nil
        ) -> ConnectOptions {
            ConnectOptions(
                host: "127.0.0.1", port: 1_883, clientId: id, username: username, password: password,
                userProperties: properties)
        }
        expectRefusal(of: options(id: "a\t"), "client id")
        expectRefusal(of: options(username: "ada\t"), "user name")
        expectRefusal(of: options(properties: ["a": "b\t"]), "user property")
        // A password is bytes, not text.
        let withPassword = MQTTClientConfig(options: options(username: "ada", password: "p\t"))
        #expect(throws: Never.self) { try CourierClientFactory().validate(withPassword) }
    }

    @Test(arguments: [StoredOutgoing.Progress.queued, .sent(packetID: 7)])
    func `a stored message with a control character is reported as messageRejected and not sent`(
        _ progress: StoredOutgoing.Progress
    ) async throws {
        try await ScriptedOutboxTests.run([.connection([ScriptedOutboxTests.present])]) { world, store in
            let id = StoredMessage.ID(rawValue: 1)
            let bad = StoredMessage(
                id: id, topic: "a\n", payload: [1, 2], qos: .one, isRetained: true,
                properties: MessageProperties(contentType: "t"), storedAt: Date())
            try await store.memory.fill(
                [.enqueue(bad), .progress(id, progress), .enqueue(ScriptedOutboxTests.message(2, "next"))],
                world.scope)
            await world.connect()
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["next"])
            let rejected = world.test.events.compactMap { event in
                if case .messageRejected(let message, let error) = event { (message, error) } else { nil }
            }
            #expect(rejected.count == 1)
            let (message, error) = try #require(rejected.first)
            #expect(message.topic == "a\n" && message.data == Data([1, 2]) && message.isRetained)
            #expect(message.properties.contentType == "t")
            #expect((error as? CourierError)?.code == .invalidTopicName)
            #expect(world.events.filter { $0 == "messageSendFailure" }.count == 1)
        }
    }

    @Test func `a stored message with a control character is rejected even on a later page of the store`()
        async throws
    {
        let gate = ScriptGate()
        let script = ConnectionScript.connection([ScriptedOutboxTests.present, .fault(.hold(.pubAck, until: gate))])
        try await ScriptedOutboxTests.run([script]) {
            $0.offline = OfflinePolicy(maximumCount: 1)
        } _: { world, store in
            let properties = MessageProperties(userProperties: [.init("a", "\u{1}")])
            let bad = StoredMessage(
                id: StoredMessage.ID(rawValue: 3), topic: "t", payload: [], qos: .two, properties: properties,
                storedAt: Date())
            try await store.memory.fill(
                [
                    .enqueue(ScriptedOutboxTests.message(1, "1")), .enqueue(ScriptedOutboxTests.message(2, "2")),
                    .enqueue(bad), .enqueue(ScriptedOutboxTests.message(4, "4")),
                ], world.scope)
            await world.connect()
            await world.until { await !world.publishes().isEmpty }
            gate.release()
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["1", "2", "4"])
            #expect(world.events.filter { $0 == "messageRejected" }.count == 1)
        }
    }

    @Test func `with textPolicy = anyLegal, a stored message with a control character is sent`() async throws {
        try await ScriptedOutboxTests.run {
            $0.limits.textPolicy = .anyLegal
        } _: { world, store in
            let stored = StoredMessage(
                id: StoredMessage.ID(rawValue: 1), topic: "a\n", payload: [1], qos: .one, storedAt: Date())
            try await store.memory.fill([.enqueue(stored)], world.scope)
            await world.connect()
            await world.until { await world.publishes().map(\.topic) == ["a\n"] }
        }
    }

    @Test func `a stored subscription with a control character is removed and reported as a failure`()
        async throws
    {
        try await ScriptedOutboxTests.run([.connection([ScriptedOutboxTests.present])]) { world, store in
            try await store.memory.fill(
                [
                    .want(StoredSubscription(try TopicFilter("a\n"), .subscribed(.one))),
                    .want(StoredSubscription(try TopicFilter("b\n"), .unsubscribing)),
                    .want(StoredSubscription(try TopicFilter("kept"), .subscribed(.one))),
                ], world.scope)
            await world.connect()
            await world.until { world.events.contains("subscribeSuccess") }
            let subscribed = await world.broker.packets(.subscribe).compactMap(\.packet.subscribe)
            #expect(subscribed.flatMap(\.subscriptions).map(\.filter) == ["kept"])
            #expect(await world.broker.packets(.unsubscribe).isEmpty)
            #expect(world.errors(of: "subscribeFailure").map(\.code) == [.invalidTopicFilter])
            #expect(world.errors(of: "unsubscribeFailure").map(\.code) == [.invalidTopicFilter])
            await world.until {
                await store.memory.subscriptions(in: world.scope).map(\.filter.string) == ["kept"]
            }
        }
    }
}
