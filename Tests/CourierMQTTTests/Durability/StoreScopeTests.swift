import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The scope of a client's rows, and the time when the client knows its scope.
@Suite(.timeLimit(.minutes(5))) struct StoreScopeTests {
    private static let scope = StoreScope(clientID: "phone", broker: "orders")
    private static let message = ScriptedOutboxTests.message

    static func options(host: String = "broker.invalid", id: String = "scripted") -> ConnectOptions {
        ConnectOptions(host: host, port: 1883, keepAlive: 0, clientId: id, username: "", password: "")
    }

    static func run(
        _ script: [ConnectionScript] = [], _ answers: [ScriptedProvider.Answer] = [],
        in memory: MemoryMessageStore = MemoryMessageStore(), _ change: (inout MQTTClientConfig) -> Void = { _ in },
        _ body: (ScriptedWorld, ControlledStore) async throws -> Void
    ) async throws {
        let store = ControlledStore(memory)
        try await ScriptedWorld.run(script, provider: ScriptedProvider(options(), answers)) {
            $0.messageStore = store
            $0.session.storeScope = scope
            change(&$0)
        } _: { world in
            try await body(world, store)
        }
    }

    private static func waiting(_ store: ControlledStore, _ scope: StoreScope = scope) async -> Int {
        await store.memory.summary(of: scope).outgoingCount
    }

    /// A connection that answers a QoS 2 message when the gate is open, and a second connection of the same session.
    private static func holding(_ gate: ScriptGate) -> [ConnectionScript] {
        [
            .connection([.accept(), .fault(.hold(.pubRec, until: gate))]),
            .connection([.accept(isSessionPresent: true)]),
        ]
    }

    /// Publishes a QoS 2 message, and disconnects before the broker answers.
    private static func publishAndLeave(
        _ world: ScriptedWorld
    ) async throws -> Box<Result<PublishReceipt, CourierError>> {
        await world.connect()
        let outcome = try world.publish("x", qos: .two)
        await world.until { await world.publishes().count == 1 }
        world.client.disconnect()
        await world.run(for: .seconds(6))
        return outcome
    }

    // MARK: Before there are options

    @Test func `a client with a storeScope stores messages before the provider returns credentials`() async throws {
        try await Self.run([], [.silence]) { world, store in
            await world.connect()
            try await world.client.enqueue("x", to: "t")
            #expect(await Self.waiting(store) == 1)
            await world.until { world.provider.keptCount == 1 }
            world.provider.completeKept()
            await world.until { await world.publishes().map(\.text) == ["x"] }
            await world.until { await Self.waiting(store) == 0 }
        }
    }

    @Test func `while the app is in the background, a client with fixed options stores messages without connecting`()
        async throws
    {
        let options = ConnectOptions.local(1, id: "fixed")
        let store = MemoryMessageStore()
        let test = try TestClient(options) {
            $0.messageStore = store
            $0.environment.lifecycle = AppPhaseController(.background)
        }
        test.client.connect()
        try await test.client.enqueue("x", to: "t")
        #expect(await store.summary(of: StoreScope(options)).outgoingCount == 1)
        #expect(!test.eventNames.contains("connectionAttempt"))
        try await test.end()
    }

    @Test func `a message can expire before the provider returns the client id`() async throws {
        try await Self.run([], [.silence]) {
            $0.session.storeScope = nil
            $0.enableAuthenticationTimeout = false
        } _: { world, store in
            await world.connect()
            await world.until { world.provider.keptCount == 1 }
            let long = Box<Result<PublishReceipt, CourierError>>()
            let short = Box<Result<PublishReceipt, CourierError>>()
            for (seconds, outcome) in [(60, long), (5, short)] {
                try world.client.publish(
                    bytes: [1], to: "t", qos: .one, retain: false,
                    properties: MessageProperties(messageExpiry: .seconds(seconds)), completion: { outcome.value = $0 })
            }
            await world.run(for: .seconds(40))
            #expect(short.value?.failure?.code == .messageExpired)
            #expect(long.value == nil)
            world.provider.completeKept()
            await world.until { long.value?.success != nil }
            #expect(store.changes.count { $0.isEnqueue } == 1)
            let interval = try #require(await world.publishes().first?.properties.messageExpiryInterval)
            #expect((1...20).contains(interval))  // The wall clock runs during the test.
            #expect(await world.publishes().count == 1)
        }
    }

    @Test func `enqueue() after destroy() stores its message before the provider returns credentials`() async throws {
        try await Self.run([], [.silence, .silence]) { world, store in
            await world.connect()
            try await world.client.enqueue("old", to: "t")
            world.client.destroy()
            world.client.connect()
            try await world.client.enqueue("new", to: "t")
            #expect(await Self.waiting(store) == 1)
            await world.until { world.provider.keptCount == 2 }
            world.provider.completeKept()
            await world.until { await world.publishes().map(\.text) == ["new"] }
        }
    }

    // MARK: destroy()

    @Test(arguments: [true, false])
    func `destroy() removes the stored messages of an earlier process, even if they were not read yet`(_ isKnown: Bool)
        async throws
    {
        try await Self.run {
            if !isKnown { $0.session.storeScope = nil }
        } _: { world, store in
            let scope = isKnown ? Self.scope : StoreScope(Self.options())
            try await store.memory.fill([.enqueue(Self.message(1, "left", .one))], scope)
            world.client.destroy()
            await world.settle()
            // If the client id is unknown, the client cannot remove the message.
            #expect(await Self.waiting(store, scope) == (isKnown ? 0 : 1))
            await world.connect()
            try await world.client.enqueue("new", to: "t")
            await world.until { await world.publishes().map(\.text) == ["new"] }
            await world.until { await Self.waiting(store, StoreScope(Self.options())) == 0 }
        }
    }

    @Test func `if destroy() fails to remove stored messages, the client connects only after the removal succeeds`()
        async throws
    {
        try await Self.run { world, store in
            try await store.memory.fill([.enqueue(Self.message(1, "left", .one))], Self.scope)
            store.fail { $0 == .removeAll ? CourierError(.storeFailed, "Not now.") : nil }
            world.client.destroy()
            await world.connect()
            await world.run(for: .seconds(3))
            #expect(world.events.count { $0 == "messageStoreFailure" } == 1)
            #expect(await world.broker.packets(.any).isEmpty)
            store.fail(nil)
            await world.run(for: .seconds(10))
            try await world.client.enqueue("new", to: "t")
            await world.until { await world.publishes().map(\.text) == ["new"] }
        }
    }

    @Test func `if destroy() fails to remove stored messages, the client repeats the removal until it succeeds`()
        async throws
    {
        try await Self.run { world, store in
            await world.connect()
            try await store.memory.fill([.enqueue(Self.message(1, "left", .one))], Self.scope)
            store.fail { $0 == .removeAll ? CourierError(.storeFailed, "Not now.") : nil }
            world.client.destroy()
            await world.run(for: .seconds(5))
            #expect(world.events.count { $0 == "messageStoreFailure" } == 1)
            store.fail(nil)
            await world.run(for: .seconds(1))
            await world.until { await Self.waiting(store) == 0 }
        }
    }

    @Test func `a second destroy() call does not remove stored messages of the next client id`() async throws {
        let other = Self.options(id: "other")
        try await Self.run([], [.options(), .options(other)]) {
            $0.session.storeScope = nil
        } _: { world, store in
            try await store.memory.fill([.enqueue(Self.message(1, "theirs", .one))], StoreScope(other))
            await world.connect()
            world.client.destroy()
            await world.run(for: .seconds(6))
            world.client.destroy()
            await world.connect()
            await world.until { await world.publishes().map(\.text) == ["theirs"] }
        }
    }

    @Test func `unsubscribe() after destroy() applies to the next client id, even before the store is read`()
        async throws
    {
        let other = Self.options(id: "other")
        let filter = try TopicFilter("f")
        try await Self.run([], [.options(), .options(other)]) {
            $0.session.storeScope = nil
        } _: { world, store in
            let left = StoredSubscription(filter, .subscribed(.one))
            try await store.memory.fill([.want(left)], StoreScope(other))
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            // One step of the loop, so that no rows are read before the last call.
            world.loop.execute { [client = world.client] in
                client.destroy()
                client.connect()
                client.unsubscribe("f")
            }
            // Waits for the CONNACK that reports no session, and thus no subscription.
            await world.until { await store.memory.subscriptions(in: StoreScope(other)).isEmpty }
            #expect(await world.broker.connections.map(\.connect?.clientID) == ["scripted", "other"])
            #expect(store.changes.contains(.want(StoredSubscription(filter, .unsubscribing))))
            #expect(await world.broker.packets(.subscribe).isEmpty)
        }
    }

    @Test func `after destroy() during a store read, the stored session is not opened before the next connect()`()
        async throws
    {
        try await Self.run([], [.silence, .silence]) { world, store in
            store.holdReads()
            await world.connect()
            // The client reads the summary first, and the messages last.
            await world.until { store.heldReadCount == 1 }
            store.releaseRead()
            await world.until { store.heldReadCount == 1 }
            world.client.destroy()
            await world.settle()
            store.letReadsPass()
            store.releaseRead()
            await world.run(for: .seconds(5))
            #expect(store.outgoingReadCount == 1)
            world.client.connect()
            try await world.client.enqueue("new", to: "t")  // No virtual time passes.
            #expect(await Self.waiting(store) == 1)
        }
    }

    @Test
    func `if destroy() cannot remove stored messages in the background, the removal is repeated, and enqueue() waits`()
        async throws
    {
        let phases = AppPhaseController()
        try await Self.run {
            $0.environment.lifecycle = phases
        } _: { world, store in
            store.fail { $0 == .removeAll ? CourierError(.storeFailed, "Not now.") : nil }
            world.client.destroy()
            await world.connect()
            await world.run(for: .milliseconds(1_500))
            phases.enterBackground()
            await world.run(for: .seconds(3))
            let outcome = Box<Bool>()
            let task = Task { [client = world.client] in
                try await client.enqueue("x", to: "t")
                outcome.value = true
            }
            await world.settle()
            #expect(outcome.value == nil)
            store.fail(nil)
            await world.run(for: .seconds(2))
            await world.until { outcome.value == true }
            try await task.value
        }
    }

    // MARK: Another client id

    @Test func `packet ids that were stored for another session are ignored`() async throws {
        let publish = Publish(
            topic: "t", payload: Array("in".utf8), delivery: .exactlyOnce(5, isDuplicate: true))
        let script = ConnectionScript.connection([
            .accept(isSessionPresent: true), .serve(until: .publish(to: "go")), .send(.publish(publish)),
        ])
        try await Self.run([script]) { world, store in
            try await store.memory.fill(
                [
                    .enqueue(Self.message(1, "sent", .two)), .enqueue(Self.message(2, "received", .two)),
                    .progress(StoredMessage.ID(rawValue: 1), .sent(packetID: 7)),
                    .progress(StoredMessage.ID(rawValue: 2), .received(packetID: 9)), .rememberPacketID(5),
                ], Self.scope)
            var messages = world.client.messages(String.self, from: "t").makeAsyncIterator()
            await world.connect()
            await world.until { await world.publishes().map(\.text) == ["sent"] }
            let sent = try #require(await world.publishes().first)
            #expect(!sent.delivery.isDuplicate && sent.delivery.packetID?.rawValue != 7)
            // The client does not know whether the broker delivered the message. The message must not be sent again
            // [MQTT-4.3.3-6].
            #expect(world.errors(of: "messageSendFailure").map(\.code) == [.connectionLost])
            await world.until { await Self.waiting(store) == 0 }
            try world.publish("", to: "go", qos: .zero)
            #expect(try await messages.next() == "in")
            // The reader receives the message before its packet id is stored. PUBREC is sent after the packet id is
            // stored.
            await world.until { store.changes.contains(.rememberPacketID(5)) }
            // At every moment, the store has only packet ids of the session that it names. So the process may be
            // killed at any moment.
            let changes = store.changes
            let session = try #require(changes.firstIndex(of: .rememberSession(StoreScope(Self.options()))))
            #expect(
                changes.lastIndex(of: .progress(StoredMessage.ID(rawValue: 1), .queued)).map { $0 < session } == true)
            #expect(changes.firstIndex(of: .forgetAllPacketIDs).map { $0 < session } == true)
            #expect(changes.firstIndex { $0.isSent }.map { $0 > session } == true)
            #expect(changes.firstIndex(of: .rememberPacketID(5)).map { $0 > session } == true)
        }
    }

    @Test(arguments: [true, false])
    func `with a storeScope, the next process completes a QoS 2 exchange only with the same broker`(_ isSame: Bool)
        async throws
    {
        let gate = ScriptGate()
        let left = MemoryMessageStore()
        let first = ConnectionScript.connection([.accept(), .fault(.hold(.pubComp, until: gate))])
        try await Self.run([first]) { world, store in
            await world.connect()
            _ = try world.publish("x", qos: .two)
            await world.until { await world.broker.packets(.pubRel).count == 1 }
            try await left.fill(store.changes, Self.scope)  // The rows that a process leaves if it is killed now.
            gate.release()
        }
        let rows = await left.outgoing(in: Self.scope, after: nil, limit: 10)
        #expect(rows.map(\.progress) == [.received(packetID: 1)])
        let options = Self.options(host: isSame ? "broker.invalid" : "other.invalid")
        let second = ConnectionScript.connection([.accept(isSessionPresent: true)])
        try await Self.run([second], [.options(options)], in: left) { world, store in
            await world.connect()
            if isSame {
                await world.until { await Self.waiting(store) == 0 }
                #expect(await world.broker.packets(.pubRel).count == 1)
                #expect(store.repeatableChanges.contains(.removeOutgoing(StoredMessage.ID(rawValue: 1))))
            } else {
                // The client does not know whether the other broker delivered the message.
                await world.until { world.errors(of: "messageSendFailure").map(\.code) == [.connectionLost] }
                #expect(await world.broker.packets(.pubRel).isEmpty)
            }
            #expect(await world.publishes().isEmpty)
        }
    }

    @Test func `a client connects to a different broker only after the store has recorded the new broker`() async throws
    {
        try await Self.run {
            $0.session.storeScope = nil
        } _: { world, store in
            try await store.memory.fill(
                [.rememberSession(StoreScope(Self.options(host: "old.invalid")))], StoreScope(Self.options()))
            store.hold()
            await world.connect()
            await world.settle()
            #expect(await world.broker.packets(.any).isEmpty)
            store.release()
            await world.until { world.client.connectionState == .connected }
            #expect(store.changes.contains(.rememberSession(StoreScope(Self.options()))))
        }
    }

    @Test func `a client that is destroyed while the store records the broker can connect again`() async throws {
        try await Self.run { world, store in
            store.hold()
            await world.connect()
            await world.settle()
            world.client.destroy()
            world.client.connect()
            await world.settle()
            store.release()
            await world.run(for: .seconds(2))
            await world.until { world.client.connectionState == .connected }
            try await world.client.enqueue("x", to: "t")
            await world.until { await Self.waiting(store) == 0 }
            #expect(await store.memory.summary(of: Self.scope).session == StoreScope(Self.options()))
        }
    }

    @Test func `a QoS 2 message in flight is delivered even if the provider returns another broker`() async throws {
        let gate = ScriptGate()
        try await Self.run(Self.holding(gate), [.options(), .options(Self.options(host: "other.invalid"))]) {
            $0.session.storeScope = nil
        } _: { world, store in
            let outcome = try await Self.publishAndLeave(world)
            await world.connect()
            await world.until { await world.publishes(on: 2).map(\.delivery.isDuplicate) == [true] }
            store.release()
            await world.until { outcome.value?.success != nil }
            #expect(store.changes.contains(.progress(StoredMessage.ID(rawValue: 1), .queued)))
            await world.until { await Self.waiting(store, StoreScope(Self.options())) == 0 }
            gate.release()
        }
    }

    @Test(arguments: [("scripted", "other"), ("caf\u{E9}", "cafe\u{301}")])
    func `after a change of the client id, a message in flight is sent as a new message, not as a duplicate`(
        _ id: String, _ next: String
    ) async throws {
        let gate = ScriptGate()
        let options = Self.options(id: id)
        try await Self.run(Self.holding(gate), [.options(options), .options(Self.options(id: next))]) {
            $0.session.storeScope = nil
        } _: { world, store in
            let outcome = try await Self.publishAndLeave(world)
            await world.connect()
            await world.until { outcome.value?.success != nil }
            let ids = await world.broker.connections.compactMap(\.connect?.clientID)
            #expect(ids.map { Array($0.utf8) } == [Array(id.utf8), Array(next.utf8)])
            #expect(await world.publishes(on: 2).map(\.delivery.isDuplicate) == [false])
            let changes = store.changes
            let session = try #require(changes.firstIndex(of: .rememberSession(StoreScope(Self.options(id: next)))))
            #expect(changes[..<session].filter(\.isProgress).last == .progress(StoredMessage.ID(rawValue: 1), .queued))
            #expect(changes[session...].filter(\.isProgress).count == 2)  // The states sent and received.
            await world.until { await Self.waiting(store, StoreScope(options)) == 0 }
            gate.release()
        }
    }

    @Test(arguments: [true, false])
    func `without a storeScope, the log warns once if the provider returns another broker`(_ isKnown: Bool) async throws
    {
        let log = WarningLog()
        let other = ScriptedProvider.Answer.options(Self.options(host: "other.invalid"))
        try await Self.run([], [.options(), other, other]) {
            $0.logHandler = log
            if !isKnown { $0.session.storeScope = nil }
        } _: { world, _ in
            for _ in 0..<3 {
                await world.connect()
                await world.until { world.client.connectionState == .connected }
                world.client.disconnect()
                await world.run(for: .seconds(6))
            }
            let warnings = log.warnings.filter { $0.contains("session.storeScope") }
            #expect(warnings.count == (isKnown ? 0 : 1))
            #expect(warnings.allSatisfy { $0.contains("other.invalid") && $0.contains("broker.invalid") })
        }
    }

    @Test func `with a storeScope, a client with a random client id sends messages stored by the previous client`()
        async throws
    {
        let store = MemoryMessageStore()
        func client(_ change: (inout MQTTClientConfig) -> Void) throws -> TestClient {
            try TestClient(.local(1, id: "app-%%%%")) {
                $0.messageStore = store
                $0.session.storeScope = Self.scope
                change(&$0)
            }
        }
        let log = WarningLog()
        let first = try client { $0.logHandler = log }
        first.client.connect()
        try await first.client.enqueue("left", to: "t")
        try await first.wait(for: "connectionAttempt")
        try await first.end()
        #expect(!log.warnings.contains { $0.contains("template") })

        let broker = try LoopbackBroker.start()
        let reader = try TestClient(.local(broker.port, id: "reader"))
        var messages = reader.client.messages(String.self, from: "t").makeAsyncIterator()
        try await reader.connect()
        try await reader.wait(for: "subscribeSuccess")
        let next = try client { $0.endpoint = { _ in broker.connectInMemory() } }
        try await next.connect()
        #expect(try await messages.next() == "left")
        try await reader.end()
        try await next.end()
        await broker.shutdown()
    }
}
