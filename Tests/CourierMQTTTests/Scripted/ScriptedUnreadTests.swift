import CourierCore
import CourierTesting
import Dispatch
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Messages that were received for a reader and that it did not read before it ended.
@Suite(.timeLimit(.minutes(5))) struct ScriptedUnreadTests {
    static func message(_ id: PacketID, _ text: String, isRetained: Bool = false) -> ScriptStep {
        .send(
            .publish(
                Publish(
                    topic: "t", payload: Array(text.utf8), delivery: .atLeastOnce(id, isDuplicate: false),
                    isRetained: isRetained)))
    }

    /// A broker that sends `texts` together after the client has subscribed and published to "go".
    static func broker(_ texts: [String], isRetained: Bool = false) -> ConnectionScript {
        let messages = texts.enumerated().compactMap { index, text in
            PacketID(rawValue: UInt16(index + 1)).map { message($0, text, isRetained: isRetained) }
        }
        return .connection(
            [.accept(), .serve(until: .subscribe), .answer, .serve(until: .publish(to: "go"))] + messages)
    }

    static func reader(
        _ world: ScriptedWorld, _ mode: AcknowledgementMode = .onReceipt
    ) -> MessageSequence<Message>.Iterator {
        world.client.messages(Message.self, from: "t", qos: .one, acknowledge: mode).makeAsyncIterator()
    }

    /// Connects, makes the broker send all messages, and waits until they are acknowledged.
    static func receiveAll(_ count: UInt16, in world: ScriptedWorld) async throws {
        await world.connect()
        // A task reads the store before the client connects.
        await world.until { world.client.connectionState == .connected }
        try world.client.publishMessage("", topic: "go", qos: .zero)
        await world.until { await ScriptedReadingTests.acknowledged(world) == Array(1...count) }
        await world.settle()
    }

    private static let letters = ["a", "b", "c", "d", "e"]

    static func run(
        _ script: ConnectionScript, isStored: Bool = false, _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run([script]) {
            $0.messagePersistenceTTLSeconds = 60
            if isStored { $0.messageStore = ControlledStore() }
        } _: { world in
            try await body(world)
        }
    }

    @Test(arguments: [false, true])
    func `messages that an ended loop did not read are delivered to the next reader`(_ isStored: Bool) async throws {
        try await Self.run(Self.broker(Self.letters), isStored: isStored) { world in
            do {
                var first = Self.reader(world)
                try await Self.receiveAll(5, in: world)
                try await ScriptedReadingTests.expectNext("a", of: &first)
                try await ScriptedReadingTests.expectNext("b", of: &first)
            }
            await world.settle()
            var second = Self.reader(world, .afterProcessing)
            for text in ["c", "d", "e"] { try await ScriptedReadingTests.expectNext(text, of: &second) }
            await world.run(for: .seconds(90))
            #expect(world.errors(of: "messageReceiveFailure").isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `unread messages of a cancelled messagePublisher are delivered to the next reader`(_ isStored: Bool)
        async throws
    {
        try await Self.run(Self.broker(Self.letters), isStored: isStored) { world in
            let seen = Series<String>()
            let subscription = Box<AnyCancellable>()
            world.test.queue.sync {
                subscription.value = world.client.messagePublisher(topic: "t").sink { (message: Message) in
                    seen.append(message.payloadString ?? "")
                    if message.payloadString == "b" { subscription.value?.cancel() }
                }
            }
            try await world.client.subscribeAndSettle("t", world)
            try await Self.receiveAll(5, in: world)
            await world.until { seen.values.count == 2 }
            await world.settle()
            var next = Self.reader(world)
            for text in ["c", "d", "e"] { try await ScriptedReadingTests.expectNext(text, of: &next) }
            #expect(seen.values == ["a", "b"])
            subscription.value = nil
        }
    }

    @Test func `if another thread cancels a messagePublisher, the next reader receives the undelivered messages`()
        async throws
    {
        try await Self.run(Self.broker(Self.letters)) { world in
            try await world.client.subscribeAndSettle("t", world)
            try await Self.receiveAll(5, in: world)
            let queue = world.test.queue
            let (hasPassed, isClosed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let messages: AnyPublisher<Message, Never> = world.client.messagePublisher(topic: "t")
            let watched = AnyPublisher<Message, Never> { receive in
                let upstream = messages.subscribe { signal in
                    receive(signal)
                    guard case .value(let message) = signal, message.payloadString == "c" else { return }
                    hasPassed.signal()
                    isClosed.wait()
                }
                return AnyCancellable {
                    queue.resume()
                    hasPassed.wait()
                    upstream.cancel()
                    isClosed.signal()
                    // Waits for the job that delivered "c" and for the next job, which finds that the reader ended.
                    for _ in 0..<2 { queue.sync {} }
                }
            }
            let (seen, ends) = (Series<String>(), Series<Bool>())
            queue.suspend()
            let sink = watched.sink(
                receiveCompletion: { _ in ends.append(true) },
                receiveValue: { seen.append($0.payloadString ?? "") })
            sink.cancel()
            #expect(seen.values == ["a", "b", "c"])
            #expect(ends.values.isEmpty, "who has cancelled was told of an end")
            await world.settle()
            var next = Self.reader(world)
            for text in ["d", "e"] { try await ScriptedReadingTests.expectNext(text, of: &next) }
        }
    }

    @Test func `messages that a second reader received are not kept when the first reader ends`() async throws {
        try await Self.run(Self.broker(Self.letters)) { world in
            var other = Self.reader(world)
            do {
                var first = Self.reader(world)
                try await Self.receiveAll(5, in: world)
                try await ScriptedReadingTests.expectNext("a", of: &first)
            }
            await world.settle()
            for text in Self.letters { try await ScriptedReadingTests.expectNext(text, of: &other) }
            let late = Series<String>()
            let sink = world.client.messagePublisher(topic: "t").sink { (text: String) in late.append(text) }
            await world.run(for: .seconds(90))
            #expect(late.values.isEmpty)
            sink.cancel()
        }
    }

    @Test func `messages that an ended loop failed to decode are not delivered to the next reader`() async throws {
        try await Self.run(Self.broker(["1", "x", "2", "y", "3", "z"])) { world in
            do {
                var numbers = world.client.messages(Int.self, from: "t", qos: .one).makeAsyncIterator()
                try await Self.receiveAll(6, in: world)
                #expect(try await numbers.next() == 1)
                #expect(try await numbers.next() == 2)
            }
            await world.settle()
            var rest = Self.reader(world)
            try await ScriptedReadingTests.expectNext("3", of: &rest)
            try await ScriptedReadingTests.expectNext("z", of: &rest)
        }
    }

    @Test func `when a reader ends, its unread messages are reported as noReader, except retained messages`()
        async throws
    {
        for isRetained in [false, true] {
            try await ScriptedWorld.run([Self.broker(["a", "b", "c"], isRetained: isRetained)]) { world in
                do {
                    var first = Self.reader(world)
                    try await Self.receiveAll(3, in: world)
                    try await ScriptedReadingTests.expectNext("a", of: &first)
                }
                await world.settle()
                let errors = world.errors(of: "messageReceiveFailure")
                #expect(errors.map(\.code) == (isRetained ? [] : [.noReader, .noReader]))
                #expect(errors.allSatisfy { $0.message.contains("acknowledge: .afterProcessing") })
            }
        }
    }

    @Test(arguments: [false, true])
    func `destroy() discards messages that wait for a reader`(
        _ isStored: Bool
    ) async throws {
        let store = ControlledStore()
        let scripts = [Self.broker(Self.letters), .connection([.accept()])]
        try await ScriptedWorld.run(scripts) {
            $0.messagePersistenceTTLSeconds = 60
            if isStored { $0.messageStore = store }
        } _: { world in
            do {
                var first = Self.reader(world)
                try await Self.receiveAll(5, in: world)
                try await ScriptedReadingTests.expectNext("a", of: &first)
                world.client.destroy()
                await world.settle()
            }
            await world.settle()
            world.client.connect()
            await world.until { world.client.connectionState == .connected }
            let late = Series<String>()
            let sink = world.client.messagePublisher(topic: "t").sink { (text: String) in late.append(text) }
            await world.run(for: .seconds(1))
            #expect(late.values.isEmpty)
            #expect(await store.memory.summary(of: world.scope).incomingCount == 0)
            #expect(world.errors(of: "messageReceiveFailure").isEmpty)
            sink.cancel()
        }
    }

    @Test(arguments: [false, true])
    func `after destroy(), messages that an ended loop did not acknowledge are not kept`(
        _ isStored: Bool
    ) async throws {
        let store = ControlledStore()
        let scripts = [Self.broker(Self.letters), .connection([.accept()])]
        try await ScriptedWorld.run(scripts) {
            $0.messagePersistenceTTLSeconds = 60
            if isStored { $0.messageStore = store }
        } _: { world in
            do {
                var first = Self.reader(world, .afterProcessing)
                await world.connect()
                try world.client.publishMessage("", topic: "go", qos: .zero)
                try await ScriptedReadingTests.expectNext("a", of: &first)
                await world.until { world.events.count { $0 == "messageReceive" } == 5 }
                world.client.destroy()
                await world.settle()
                withExtendedLifetime(first) {}
            }
            await world.settle()
            world.client.connect()
            await world.until { world.client.connectionState == .connected }
            await world.run(for: .seconds(11))
            #expect(await store.memory.summary(of: world.scope).incomingCount == 0)
            let late = Series<String>()
            let sink = world.client.messagePublisher(topic: "t").sink { (text: String) in late.append(text) }
            await world.run(for: .seconds(1))
            #expect(late.values.isEmpty)
            sink.cancel()
        }
    }

    @Test(arguments: [false, true])
    func `when a loop of the old session ends, the next reader still receives the new session's unread messages`(
        _ isStored: Bool
    ) async throws {
        let scripts: [ConnectionScript] = [
            .connection([.accept(), .serve(until: .subscribe), .answer]), Self.broker(Self.letters),
        ]
        try await ScriptedWorld.run(scripts) {
            $0.messagePersistenceTTLSeconds = 60
            if isStored { $0.messageStore = ControlledStore() }
        } _: { world in
            do {
                var first = Self.reader(world)
                await world.connect()
                await world.until { world.client.connectionState == .connected }
                world.client.destroy()
                await world.settle()
                await world.connect()
                await world.until { world.client.connectionState == .connected }
                try world.client.publishMessage("", topic: "go", qos: .zero)
                await world.until { await ScriptedReadingTests.acknowledged(world, on: 2) == [1, 2, 3, 4, 5] }
                try await ScriptedReadingTests.expectNext("a", of: &first)
                withExtendedLifetime(first) {}
            }
            await world.settle()
            var next = Self.reader(world)
            for text in ["b", "c", "d", "e"] { try await ScriptedReadingTests.expectNext(text, of: &next) }
        }
    }

    @Test
    func `a cancelled loop acknowledges only processed messages, and the next reader receives all other messages`()
        async throws
    {
        try await Self.run(Self.broker(Self.letters)) { world in
            let loop = Task {
                var texts: [String?] = []
                let messages = world.client.messages(
                    Message.self, from: "t", qos: .one, acknowledge: .afterProcessing)
                for try await message in messages {
                    texts.append(message.payloadString)
                    withUnsafeCurrentTask { $0?.cancel() }
                }
                return texts
            }
            await world.connect()
            await world.until { world.events.contains("subscribeSuccess") }
            try world.client.publishMessage("", topic: "go", qos: .zero)
            #expect(try await loop.value == ["a"])
            await world.until { await ScriptedReadingTests.acknowledged(world) == [1] }
            var next = Self.reader(world)
            for text in ["b", "c", "d", "e"] { try await ScriptedReadingTests.expectNext(text, of: &next) }
        }
    }

    @Test func `a reader that is already open receives the unread messages of an ended reader`() async throws {
        try await Self.run(Self.broker(Self.letters)) { world in
            var next: MessageSequence<Message>.Iterator?
            do {
                var first = Self.reader(world)
                try await Self.receiveAll(5, in: world)
                try await ScriptedReadingTests.expectNext("a", of: &first)
                next = Self.reader(world)
                await world.settle()
            }
            await world.settle()
            var messages = try #require(next)
            for text in ["b", "c", "d", "e"] { try await ScriptedReadingTests.expectNext(text, of: &messages) }
        }
    }

    /// [MQTT-4.6.0-2]: the messages are acknowledged in order.
    @Test func `a reader that is already open receives the messages that an ended reader did not acknowledge`()
        async throws
    {
        try await Self.run(Self.broker(Self.letters)) { world in
            var next: MessageSequence<Message>.Iterator?
            do {
                var first = Self.reader(world, .afterProcessing)
                await world.connect()
                try world.client.publishMessage("", topic: "go", qos: .zero)
                try await ScriptedReadingTests.expectNext("a", of: &first)
                await world.until { world.events.count { $0 == "messageReceive" } == 5 }
                next = Self.reader(world, .afterProcessing)
                await world.settle()
                withExtendedLifetime(first) {}
            }
            await world.settle()
            var messages = try #require(next)
            for text in Self.letters { try await ScriptedReadingTests.expectNext(text, of: &messages) }
            await world.settle()
            #expect(await ScriptedReadingTests.acknowledged(world) == [1, 2, 3, 4])
        }
    }

    @Test(arguments: [AcknowledgementMode.onReceipt, .afterProcessing])
    func `a reader that already received a retained message does not receive it from an ended reader`(
        _ mode: AcknowledgementMode
    ) async throws {
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .subscribe), .answer, Self.message(1, "a", isRetained: true),
            .serve(until: .subscribe), .answer, Self.message(2, "a", isRetained: true),
            .serve(until: .publish(to: "go")), Self.message(3, "b"),
        ])
        try await Self.run(script) { world in
            var next: MessageSequence<Message>.Iterator?
            do {
                let first = Self.reader(world, mode)
                await world.connect()
                await world.until { world.events.contains("messageReceive") }
                next = world.client.messages(Message.self, from: "t/#", qos: .one).makeAsyncIterator()
                await world.until { world.events.count { $0 == "messageReceive" } == 2 }
                withExtendedLifetime(first) {}
            }
            await world.settle()
            try world.client.publishMessage("", topic: "go", qos: .zero)
            var messages = try #require(next)
            for text in ["a", "b"] { try await ScriptedReadingTests.expectNext(text, of: &messages) }
        }
    }

    @Test(arguments: [nil, "t", "+"])
    func `an ended reader's unread retained message is delivered to a messagePublisher`(
        _ topic: String?
    ) async throws {
        try await Self.run(Self.broker(["a", "b"], isRetained: true)) { world in
            let values = Series<String>()
            var sink: AnyCancellable?
            do {
                var first = Self.reader(world)
                try await Self.receiveAll(2, in: world)
                try await ScriptedReadingTests.expectNext("a", of: &first)
                let take: @Sendable (Message) -> Void = { values.append($0.payloadString ?? "") }
                sink =
                    topic.map { world.client.messagePublisher(topic: $0).sink(receiveValue: take) }
                    ?? world.client.messagePublisher().sink(receiveValue: take)
                await world.settle()
                withExtendedLifetime(first) {}
            }
            await world.until { values.values == ["b"] }
            sink?.cancel()
        }
    }

    private static func rows(_ texts: [String]) -> [StoreChange] {
        texts.enumerated().map { index, text in
            .keep(
                StoredMessage(
                    id: StoredMessage.ID(rawValue: UInt64(index + 1)), topic: "t", payload: Array(text.utf8),
                    qos: .one, storedAt: Date(), expiresAt: nil))
        }
    }

    @Test(arguments: [AcknowledgementMode.onReceipt, .afterProcessing])
    func `an open reader receives the stored messages of an ended reader before a newer message`(
        _ mode: AcknowledgementMode
    ) async throws {
        let store = ControlledStore()
        let script = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .answer, Self.message(1, "d")])
        try await ScriptedWorld.run([script]) {
            $0.messageStore = store
            $0.messagePersistenceTTLSeconds = 60
        } _: { world in
            try await store.memory.fill(Self.rows(["a", "b", "c"]), world.scope)
            var next: MessageSequence<Message>.Iterator?
            do {
                var first = Self.reader(world, mode)
                await world.connect()
                try await ScriptedReadingTests.expectNext("a", of: &first)
                await world.until { world.events.contains("messageReceive") }
                next = Self.reader(world, mode)
                await world.settle()
                withExtendedLifetime(first) {}
            }
            await world.settle()
            var messages = try #require(next)
            for text in mode == .onReceipt ? ["b", "c", "d"] : ["a", "b", "c", "d"] {
                try await ScriptedReadingTests.expectNext(text, of: &messages)
            }
        }
    }

    /// Ends a loop that has not read "b", with a store that fails to keep "b" with the error `code`, then runs `body`.
    private static func leave(
        to store: ControlledStore, _ code: CourierError.Code, _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run([broker(["a", "b"])]) {
            $0.messagePersistenceTTLSeconds = 60
            $0.messageStore = store
        } _: { world in
            do {
                var first = reader(world)
                try await receiveAll(2, in: world)
                try await ScriptedReadingTests.expectNext("a", of: &first)
                store.fail { if case .keep = $0 { CourierError(code, "Not now.") } else { nil } }
                withExtendedLifetime(first) {}
            }
            await world.until { world.events.contains("messageStoreFailure") }
            try await body(world)
        }
    }

    @Test
    func `if a reader starts while the client retries to store an unread message, the reader receives the message`()
        async throws
    {
        let store = ControlledStore()
        try await Self.leave(to: store, .storeFailed) { world in
            store.holdIncomingReads()
            let seen = Series<String>()
            let sink = world.client.messagePublisher(topic: "t").sink { (text: String) in seen.append(text) }
            await world.until { store.heldReadCount == 1 }
            store.fail(nil)
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).incomingCount == 1 }
            store.letReadsPass()
            store.releaseRead()
            await world.until { seen.values == ["b"] }
            sink.cancel()
        }
    }

    @Test func `if a full store refuses an unread message, an open reader receives the message`() async throws {
        try await Self.leave(to: ControlledStore(), .storeFull) { world in
            await world.run(for: .seconds(1))
            let seen = Series<String>()
            let sink = world.client.messagePublisher(topic: "t").sink { (text: String) in seen.append(text) }
            for _ in 0..<12 { await world.run(for: .seconds(1)) }
            await world.until { seen.values == ["b"] }
            #expect(world.errors(of: "messageReceiveFailure").isEmpty)
            sink.cancel()
        }
    }

    @Test func `the next reader receives stored messages first and then a newer message`() async throws {
        let store = ControlledStore()
        let script = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .answer, Self.message(1, "c")])
        try await ScriptedWorld.run([script]) {
            $0.messageStore = store
        } _: { world in
            try await store.memory.fill(Self.rows(["a", "b"]), world.scope)
            do {
                var first = Self.reader(world, .afterProcessing)
                await world.connect()
                try await ScriptedReadingTests.expectNext("a", of: &first)
                await world.until { world.events.contains("messageReceive") }
                await world.settle()
            }
            await world.settle()
            var next = Self.reader(world, .afterProcessing)
            for text in ["a", "b", "c"] { try await ScriptedReadingTests.expectNext(text, of: &next) }
        }
    }
}
