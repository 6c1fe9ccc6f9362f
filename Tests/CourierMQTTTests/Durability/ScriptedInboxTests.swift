import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Received messages in the store: messages that wait for a reader, and messages that a reader processes.
@Suite(.timeLimit(.minutes(5))) struct ScriptedInboxTests {
    private static func message(_ id: PacketID, _ text: String, qos: QoS = .one) -> ScriptStep {
        let delivery: Delivery =
            qos == .one ? .atLeastOnce(id, isDuplicate: false) : .exactlyOnce(id, isDuplicate: false)
        return .send(.publish(Publish(topic: "t", payload: Array(text.utf8), delivery: delivery)))
    }

    /// A broker that performs these steps when the client publishes to "go".
    private static func broker(_ steps: ScriptStep...) -> ConnectionScript {
        .connection([.accept(), .serve(until: .publish(to: "go"))] + steps)
    }

    private static func run(
        _ script: [ConnectionScript] = [], _ store: ControlledStore = ControlledStore(),
        _ change: (inout MQTTClientConfig) -> Void = { _ in },
        _ body: (ScriptedWorld, ControlledStore) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run(script) {
            $0.messageStore = store
            $0.messagePersistenceTTLSeconds = 1_000
            change(&$0)
        } _: { world in
            try await body(world, store)
        }
    }

    private static func go(_ world: ScriptedWorld) async throws {
        await world.connect()
        // The client reads the store before it connects.
        await world.until { world.client.connectionState == .connected }
        try world.publish("", to: "go", qos: .zero)
        await world.settle()
    }

    private static func acknowledged(_ world: ScriptedWorld) async -> [UInt16] {
        await world.broker.packets(.any).compactMap {
            switch $0.packet {
            case .pubAck(let answer), .pubRec(let answer): answer.packetID.rawValue
            default: nil
            }
        }
    }

    private static func reader(
        _ world: ScriptedWorld, _ mode: AcknowledgementMode = .onReceipt
    ) -> MessageSequence<Message>.Iterator {
        world.client.messages(Message.self, from: "t", qos: .two, acknowledge: mode).makeAsyncIterator()
    }

    private static func texts(
        _ count: Int, of messages: inout MessageSequence<Message>.Iterator
    ) async throws -> [String] {
        var texts: [String] = []
        while texts.count < count, let message = try await messages.next() {
            texts.append(message.payloadString ?? "?")
        }
        return texts
    }

    private static func row(
        _ id: UInt64, _ text: String, topic: String = "t", expiresAt: Date? = nil
    ) -> StoreChange {
        .keep(
            StoredMessage(
                id: StoredMessage.ID(rawValue: id), topic: topic, payload: Array(text.utf8), qos: .one,
                storedAt: Date(), expiresAt: expiresAt))
    }

    private static func incomingCount(_ world: ScriptedWorld, _ store: ControlledStore) async -> Int {
        await store.memory.summary(of: world.scope).incomingCount
    }

    @Test(arguments: [QoS.one, .two])
    func `a message without a reader is stored before it is acknowledged`(_ qos: QoS) async throws {
        try await Self.run([Self.broker(Self.message(1, "a", qos: qos))]) { world, store in
            store.fail { if case .keep = $0 { CourierError(.storeFailed, "Not yet.") } else { nil } }
            try await Self.go(world)
            await world.until { world.events.contains("messageStoreFailure") }
            #expect(await Self.acknowledged(world).isEmpty)
            store.fail(nil)
            await world.run(for: .seconds(1))
            await world.until { await Self.acknowledged(world) == [1] }
            #expect(await Self.incomingCount(world, store) == 1)
            #expect(store.changes.contains(.rememberPacketID(1)) == (qos == .two))
        }
    }

    @Test func `the first reader receives the stored messages in order, before newer messages`() async throws {
        let script = Self.broker(
            Self.message(1, "a"), Self.message(2, "b"), .serve(until: .publish(to: "more")), Self.message(3, "c"))
        try await Self.run([script]) { world, store in
            try await Self.go(world)
            await world.until { await Self.incomingCount(world, store) == 2 }
            var messages = Self.reader(world)
            await world.settle()
            try world.publish("", to: "more", qos: .zero)
            #expect(try await Self.texts(3, of: &messages) == ["a", "b", "c"])
            await world.until { await Self.incomingCount(world, store) == 0 }
            #expect(await Self.acknowledged(world) == [1, 2, 3])
        }
    }

    @Test(arguments: [true, false])
    func `a reader receives the messages that an earlier process stored`(_ readsBeforeConnecting: Bool) async throws {
        try await Self.run { world, store in
            try await store.memory.fill((1...600).map { Self.row($0, "\($0)") }, world.scope)
            if !readsBeforeConnecting { await world.connect() }
            var messages = Self.reader(world)
            if readsBeforeConnecting { await world.connect() }
            #expect(try await Self.texts(600, of: &messages) == (1...600).map { "\($0)" })
            await world.until { await Self.incomingCount(world, store) == 0 }
        }
    }

    @Test func `a reader of all topics receives stored messages`() async throws {
        try await Self.run { world, store in
            try await store.memory.fill([Self.row(1, "a")], world.scope)
            let received = Box<String>()
            let sink = world.client.messagePublisher().sink { received.value = $0.payloadString }
            await world.connect()
            await world.until { received.value == "a" }
            sink.cancel()
        }
    }

    @Test func `only one of two matching readers receives a stored message, and messages to other topics stay stored`()
        async throws
    {
        try await Self.run { world, store in
            try await store.memory.fill([Self.row(1, "a"), Self.row(2, "c", topic: "c")], world.scope)
            let received = Series<String>()
            let one = world.client.messagePublisher(topic: "t").sink { (text: String) in received.append(text) }
            let other = world.client.messagePublisher(topic: "t/#").sink { (text: String) in received.append(text) }
            await world.connect()
            await world.until { await Self.incomingCount(world, store) == 1 }
            await world.settle()
            #expect(received.values == ["a"])
            let late = world.client.messagePublisher(topic: "c").sink { (text: String) in received.append(text) }
            await world.until { received.values == ["a", "c"] }
            for sink in [one, other, late] { sink.cancel() }
        }
    }

    @Test func `a delivered message is not delivered again while the store fails to remove it`() async throws {
        try await Self.run { world, store in
            try await store.memory.fill([Self.row(1, "a"), Self.row(2, "c", topic: "c")], world.scope)
            store.fail { if case .removeIncoming = $0 { CourierError(.storeFailed, "Not now.") } else { nil } }
            let received = Series<String>()
            for _ in 1...2 {
                let sink = world.client.messagePublisher(topic: "t").sink { (text: String) in received.append(text) }
                await world.connect()
                await world.until { received.values == ["a"] }
                await world.run(for: .seconds(2))
                sink.cancel()
                await world.settle()
            }
            #expect(received.values == ["a"])
            store.fail(nil)
            await world.run(for: .seconds(2))
            await world.until { await Self.incomingCount(world, store) == 1 }
        }
    }

    @Test func `a reader with a small buffer receives all 2,000 stored messages in order`() async throws {
        try await Self.run { world, store in
            try await store.memory.fill((1...2_000).map { Self.row($0, "\($0)") }, world.scope)
            await world.connect()
            var messages = world.client.messages(Message.self, from: "t", buffer: ReadBuffer(limit: 10))
                .makeAsyncIterator()
            #expect(try await Self.texts(2_000, of: &messages) == (1...2_000).map { "\($0)" })
        }
    }

    @Test func `a connection attempt succeeds even if a reader's buffer is full of stored messages`() async throws {
        let gate = ScriptGate()
        let script = ConnectionScript.connection([.expect(.connect), .hold(gate), .send(.connAck(ConnAck()))])
        try await Self.run([script]) { world, store in
            try await store.memory.fill((1...600).map { Self.row($0, "\($0)") }, world.scope)
            var messages = world.client.messages(Message.self, from: "t", buffer: ReadBuffer(limit: 10))
                .makeAsyncIterator()
            world.client.connect()
            await world.until { await world.broker.packets(.connect).count == 1 }
            await world.settle()
            gate.release()
            await world.run(for: .seconds(20))
            #expect(world.client.connectionState == .connected)
            #expect(!world.events.contains("connectionFailure"))
            #expect(try await Self.texts(600, of: &messages).count == 600)
        }
    }

    @Test func `the client stops reading from the broker while stored messages are being loaded`() async throws {
        let count = 20_000
        let flood = PublishFlood(count: count, topic: "t", payloadSize: 100, qos: .atLeastOnce)
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .subscribe), .answer, .flood(flood),
        ])
        try await Self.run([script]) { world, store in
            try await store.memory.fill([Self.row(1, "stored")], world.scope)
            store.holdIncomingReads()
            var messages = Self.reader(world)
            await world.connect()
            await world.until { store.heldReadCount == 1 }
            await world.until { await world.broker.packets(.subscribe).count == 1 }
            #expect(await world.broker.connections[0].sentByteCount < count * 100 / 2, "the flood was not held up")
            store.letReadsPass()
            store.releaseRead()
            #expect(try await Self.texts(1, of: &messages) == ["stored"])
            for _ in 0..<count { #expect(try await messages.next() != nil) }
        }
    }

    @Test func `after destroy() during a load of stored messages, the reader receives only new messages`()
        async throws
    {
        let script: [ConnectionScript] = [
            .connection([.accept()]),
            .connection([.accept(), .serve(until: .subscribe), .answer, Self.message(1, "new")]),
        ]
        try await Self.run(script) { world, store in
            try await store.memory.fill([Self.row(1, "old")], world.scope)
            world.client.subscribe(("t", .two))
            await world.connect()
            store.holdIncomingReads()
            var messages = Self.reader(world)
            await world.until { store.heldReadCount == 1 }
            world.client.destroy()
            await world.until { store.changes.contains(.removeAll) }
            store.letReadsPass()
            store.releaseRead()
            await world.connect()
            #expect(try await Self.texts(1, of: &messages) == ["new"])
        }
    }

    @Test func `a reader also receives a message that is stored while the reader loads older messages`() async throws {
        let script = Self.broker(
            Self.message(1, "a"), .serve(until: .publish(to: "more")), Self.message(2, "b"))
        try await Self.run([script]) { world, store in
            try await Self.go(world)
            await world.until { await Self.acknowledged(world) == [1] }
            // If the store fails, its rows are still read, except the rows that it has not stored.
            store.fail { if case .keep = $0 { CourierError(.storeFailed, "Not yet.") } else { nil } }
            try world.publish("", to: "more", qos: .zero)
            await world.until { world.events.contains("messageStoreFailure") }
            store.holdIncomingReads()
            let seen = Series<String>()
            let sink = world.client.messagePublisher(topic: "t").sink { (message: Message) in
                seen.append(message.payloadString ?? "")
            }
            await world.until { store.heldReadCount == 1 }
            store.fail(nil)
            await world.run(for: .seconds(1))
            await world.until { await Self.acknowledged(world) == [1, 2] }
            store.letReadsPass()
            store.releaseRead()
            await world.until { seen.values == ["a", "b"] }
            await world.until { await Self.incomingCount(world, store) == 0 }
            sink.cancel()
        }
    }

    @Test func `messages that a reader has not processed stay in the store for the next reader`() async throws {
        try await Self.run { world, store in
            try await store.memory.fill((1...3).map { Self.row($0, "\($0)") }, world.scope)
            await world.connect()
            do {
                var messages = Self.reader(world, .afterProcessing)
                #expect(try await Self.texts(2, of: &messages) == ["1", "2"])
                await world.until { await Self.incomingCount(world, store) == 2 }
            }
            await world.settle()
            var messages = Self.reader(world, .afterProcessing)
            #expect(try await Self.texts(2, of: &messages) == ["2", "3"])
            await world.until { await Self.incomingCount(world, store) == 1 }
        }
    }

    @Test(arguments: [QoS.one, .two])
    func `acknowledgeDurably() returns only after the packet id of a QoS 2 message is stored`(
        _ qos: QoS
    ) async throws {
        try await Self.run([Self.broker(Self.message(7, "a", qos: qos))]) { world, store in
            var messages = Self.reader(world, .afterProcessing)
            try await Self.go(world)
            let message = try #require(try await messages.next())
            try await message.acknowledgeDurably()
            try await message.acknowledgeDurably()
            #expect(store.changes.contains(.rememberPacketID(7)) == (qos == .two))
            await world.until { await Self.acknowledged(world) == [7] }
            if qos == .two { await world.until { store.changes.contains(.forgetPacketID(7)) } }
        }
    }

    @Test func `acknowledgeDurably() throws if the client is destroyed while the store fails`() async throws {
        try await Self.run([Self.broker(Self.message(7, "a", qos: .two))]) { world, store in
            var messages = Self.reader(world, .afterProcessing)
            try await Self.go(world)
            let message = try #require(try await messages.next())
            store.fail { if case .rememberPacketID = $0 { CourierError(.storeFailed, "Never.") } else { nil } }
            let ending = Task { try await message.acknowledgeDurably() }
            await world.until { world.events.contains("messageStoreFailure") }
            world.client.destroy()
            await #expect(throws: CourierError.self) { try await ending.value }
        }
    }

    @Test func `expired stored messages are removed instead of delivered, and the log reports the removal once`()
        async throws
    {
        let log = WarningLog()
        try await Self.run([], ControlledStore()) {
            $0.messageCleanupInterval = 5
            $0.logHandler = log
        } _: { world, store in
            let past = Date(timeIntervalSinceNow: -1)
            try await store.memory.fill([Self.row(1, "old", expiresAt: past), Self.row(2, "new")], world.scope)
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            await world.run(for: .seconds(6))
            await world.until { await Self.incomingCount(world, store) == 1 }
            var messages = Self.reader(world)
            #expect(try await Self.texts(1, of: &messages) == ["new"])
            await world.until { log.warnings.contains { $0.hasPrefix("1 stored messages") } }
            await world.run(for: .seconds(12))
            #expect(log.warnings.count { $0.contains("stored messages") } == 1)
        }
    }

    @Test(arguments: [QoS.one, .two])
    func `if the store stays full for 10 s, a message without a reader is acknowledged and reported as noReader`(
        _ qos: QoS
    )
        async throws
    {
        let read = Publish(topic: "read", payload: [1], delivery: .exactlyOnce(3, isDuplicate: false))
        let script = Self.broker(
            Self.message(1, "a", qos: qos), Self.message(2, "b", qos: qos), .send(.publish(read)),
            .serve(until: .publish(to: "more")), Self.message(4, "b", qos: qos))
        try await Self.run([script]) { world, store in
            store.fail { change in
                guard case .keep(let message) = change, message.payload == Array("b".utf8) else { return nil }
                return CourierError(.storeFull, "No room.")
            }
            var messages = world.client.messages(Message.self, from: "read", qos: .two, acknowledge: .afterProcessing)
                .makeAsyncIterator()
            try await Self.go(world)
            try await messages.next()?.acknowledge()
            await world.run(for: .seconds(1))
            // The store calls its completions on its own queue.
            await world.until { await Self.acknowledged(world) == [1] }
            await world.run(for: .seconds(8))
            #expect(await Self.acknowledged(world) == [1])
            #expect(world.errors(of: "messageReceiveFailure").isEmpty)
            await world.run(for: .seconds(3))
            await world.until { await Self.acknowledged(world).sorted() == [1, 2, 3] }
            // The client has noticed by now that the store is full.
            try world.publish("", to: "more", qos: .zero)
            await world.until { await Self.acknowledged(world).sorted() == [1, 2, 3, 4] }
            #expect(await Self.incomingCount(world, store) == 1)
            let errors = world.errors(of: "messageReceiveFailure")
            #expect(errors.map(\.code) == [.noReader, .noReader])
            #expect(errors.allSatisfy { ($0.cause as? CourierError)?.code == .storeFull })
            // One event for both messages, and one event for the later message that does not fit.
            #expect(world.events.count { $0 == "messageStoreFailure" } == 2)
        }
    }

    @Test(arguments: [QoS.one, .two])
    func `if a reader starts while a message waits for room in a full store, the reader receives the message`(
        _ qos: QoS
    )
        async throws
    {
        try await Self.run([Self.broker(Self.message(1, "a", qos: qos))]) { world, store in
            store.fail { if case .keep = $0 { CourierError(.storeFull, "No room.") } else { nil } }
            try await Self.go(world)
            await world.run(for: .seconds(1))
            let received = Box<String>()
            let sink = world.client.messagePublisher(topic: "t").sink { (message: Message) in
                received.value = message.payloadString
            }
            for _ in 0..<12 { await world.run(for: .seconds(1)) }
            await world.until { received.value == "a" }
            await world.until { await Self.acknowledged(world) == [1] }
            #expect(world.errors(of: "messageReceiveFailure").isEmpty)
            sink.cancel()
        }
    }

    @Test func `if maximumKeptMessages is reached, a further message is acknowledged and reported as noReader`()
        async throws
    {
        try await Self.run([Self.broker(Self.message(1, "a"), Self.message(2, "b"))], ControlledStore()) {
            $0.limits.maximumKeptMessages = 1
        } _: { world, store in
            try await Self.go(world)
            await world.until { await Self.acknowledged(world) == [1, 2] }
            await world.settle()
            #expect(world.errors(of: "messageReceiveFailure").map(\.code) == [.noReader])
        }
    }

    @Test func `the client pauses reading while too many received bytes wait for the store, and loses no message`()
        async throws
    {
        let messages = (1...400).compactMap { PacketID(rawValue: $0) }.map {
            Self.message($0, String(repeating: "m", count: 10_000))
        }
        let store = ControlledStore()
        store.hold()
        let script = ConnectionScript.connection([.accept(), .serve(until: .publish(to: "go"))] + messages)
        try await Self.run([script], store) {
            $0.limits.maximumKeptBytes = 1_000_000
        } _: { world, store in
            try await Self.go(world)
            await world.until { world.events.contains("messageReceive") }
            for _ in 0..<5 { await world.run(for: .seconds(1)) }
            // The broker's packets arrive in reads of many bytes. So more messages than the limit may be received.
            #expect((49...110).contains(world.events.count { $0 == "messageReceive" }))
            #expect(await Self.acknowledged(world).isEmpty)
            store.release()
            await world.until { await Self.acknowledged(world).count == 400 }
            #expect(await Self.incomingCount(world, store) == 400)
            #expect(world.errors(of: "messageReceiveFailure").isEmpty)
        }
    }
}
