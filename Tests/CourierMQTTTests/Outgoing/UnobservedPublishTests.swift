import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Publishing without a listener for events. Its code path is shorter than the one that `ScriptedDeliveryTests` and
/// `ScriptedOfflineTests` test.
@Suite(.timeLimit(.minutes(5))) struct UnobservedPublishTests {
    /// Runs `body` with a connected client that has no event listeners.
    private static func run(
        _ script: ConnectionScript, _ change: (inout MQTTClientConfig) -> Void = { _ in },
        _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run([script], change) { world in
            world.test.stopListening()
            await world.connect()
            #expect(!world.client.parts.events.isListenedTo)
            try await body(world)
        }
    }

    private static func held(_ gate: ScriptGate) -> ConnectionScript {
        .connection([.accept(), .fault(.hold(.pubAck, until: gate))])
    }

    @Test(arguments: [QoS.zero, .one, .two])
    func `messages of every publishing method are sent in order and succeed`(_ qos: QoS) async throws {
        try await Self.run(.connection([.accept()])) { world in
            let ends = Series<Result<PublishReceipt, CourierError>>()
            try world.client.publish(bytes: Array("bytes".utf8), to: "t", qos: qos) { ends.append($0) }
            try world.client.publish(data: Data("data".utf8), to: "t", qos: qos, retain: true) { ends.append($0) }
            try world.client.publish(text: "text", to: "t", qos: qos) { ends.append($0) }
            try world.client.publish(text: "nobody waits", to: "t", qos: qos)
            try world.client.publishMessage("message", topic: "t", qos: qos)
            #expect(try await world.client.publish("awaited", to: "t", qos: qos).reasonCode == .success)
            try await world.client.enqueue(Array("enqueued".utf8), to: "t", qos: qos)
            await world.settle()
            let publishes = await world.publishes()
            #expect(
                publishes.map(\.text) == ["bytes", "data", "text", "nobody waits", "message", "awaited", "enqueued"])
            #expect(publishes.map(\.isRetained) == [false, true, false, false, false, false, false])
            #expect(ends.values.compactMap(\.success).count == 3)
            #expect(world.client.parts.publishing.queue.count == 0)
        }
    }

    @Test(arguments: [QoS.zero, .one, .two])
    func `every publishing method throws invalidTopicName for the filter of a shared subscription`(_ qos: QoS)
        async throws
    {
        try await Self.run(.connection([.accept()])) { world in
            let filter = "$share/pool/jobs/resize"
            let topic = Topic<String>(filter, qos: qos)
            expectCourierError(.invalidTopicName) {
                try world.client.publish(bytes: [1], to: filter, qos: qos) { _ in }
            }
            expectCourierError(.invalidTopicName) {
                try world.client.publishMessage("message", topic: filter, qos: qos)
            }
            let byText = await #expect(throws: CourierError.self) {
                try await world.client.publish("text", to: filter, qos: qos)
            }
            let byTopic = await #expect(throws: CourierError.self) {
                try await world.client.publish("text", to: topic)
            }
            let enqueued = await #expect(throws: CourierError.self) {
                try await world.client.enqueue("text", to: topic)
            }
            for error in [byText, byTopic, enqueued] {
                #expect(error?.code == .invalidTopicName)
                #expect(error?.message.contains("publish to \"jobs/resize\"") == true)
            }
            try await world.client.publish("text", to: "jobs/resize", qos: qos)
            await world.settle()
            #expect(await world.publishes().map(\.topic) == ["jobs/resize"])
        }
    }

    @Test func `completions are called in the order of the acknowledgements, including refusals`() async throws {
        let gate = ScriptGate()
        let refusal = Acknowledgement(packetID: 1, reasonCode: .quotaExceeded)
        let script = ConnectionScript.connection([
            .accept(), .fault(.replace(.pubAck, with: .pubAck(refusal))), .fault(.hold(.pubAck, until: gate)),
        ])
        try await Self.run(script) { world in
            let ends = Series<String>()
            for number in 0..<100 {
                try world.client.publish(bytes: [1], to: "t") {
                    ends.append("\(number) \($0.failure?.code == .publishRefused)")
                }
            }
            await world.settle()
            gate.release()
            await world.settle()
            #expect(ends.values == (0..<100).map { "\($0) \($0 == 0)" })
        }
    }

    @Test func `await publish() throws publishRefused with the topic if the broker refuses the message`() async throws {
        let refusal = Acknowledgement(packetID: 1, reasonCode: .quotaExceeded)
        let script = ConnectionScript.connection([.accept(), .fault(.replace(.pubAck, with: .pubAck(refusal)))])
        try await Self.run(script) { world in
            let error = await #expect(throws: CourierError.self) { try await world.client.publish("x", to: "a/b") }
            #expect(error?.code == .publishRefused)
            #expect(error?.message.contains("\"a/b\"") == true)
            let receipt = try await world.client.publish("y", to: "a/b")
            #expect(receipt.reasonCode == .success)
        }
    }

    @Test func `cancelling a task ends its await publish() call, and the message is still delivered`() async throws {
        let gate = ScriptGate()
        try await Self.run(Self.held(gate)) { world in
            let task = Task { [client = world.client] in try await client.publish("x", to: "t") }
            await world.until { await world.publishes().count == 1 }
            #expect(world.client.waitingCount == 1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(world.client.waitingCount == 0)
            let outcome = try world.publish("y")
            gate.release()
            await world.settle()
            #expect(outcome.value?.success?.reasonCode == .success)
            #expect(await world.publishes().map(\.text) == ["x", "y"])
        }
    }

    @Test func `publish() in a cancelled task throws CancellationError, and the message is still sent`() async throws {
        try await Self.run(Self.held(ScriptGate())) { world in
            let task = Task { [client = world.client] in
                withUnsafeCurrentTask { $0?.cancel() }
                return try await client.publish("x", to: "t")
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(world.client.waitingCount == 0)
            await world.until { await world.publishes().count == 1 }
        }
    }

    @Test func `all of 1,000 await publish() calls return, even if many tasks are cancelled`()
        async throws
    {
        try await Self.run(.connection([.accept()])) { world in
            var random = SeededGenerator(seed: 7)
            let tasks = (0..<1_000).map { number in
                Task { [client = world.client] in try await client.publish([UInt8](), to: "t/\(number)") }
            }
            for task in tasks where random.flag() { task.cancel() }
            var ended = 0
            for task in tasks {
                do {
                    #expect(try await task.value.reasonCode == .success)
                } catch {
                    #expect(error is CancellationError)
                }
                ended += 1
            }
            #expect(ended == 1_000)
            #expect(world.client.waitingCount == 0)
            await world.until { await world.publishes().count == 1_000 }
            await world.until { world.client.parts.publishing.queue.count == 0 }
        }
    }

    @Test func `destroy() ends waiting publish() calls and completions with clientDestroyed`() async throws {
        try await Self.run(Self.held(ScriptGate())) { world in
            let outcome = try world.publish("x")
            let task = Task { [client = world.client] in try await client.publish("y", to: "t") }
            await world.until { await world.publishes().count == 2 }
            world.client.destroy()
            let error = await #expect(throws: CourierError.self) { try await task.value }
            #expect(error?.code == .clientDestroyed)
            await world.settle()
            #expect(outcome.value?.failure?.code == .clientDestroyed)
            #expect(world.client.parts.publishing.queue.count == 0)
        }
    }

    @Test func `if the queue is full, await publish() waits, and publish() with a completion throws queueFull`()
        async throws
    {
        let gate = ScriptGate()
        try await Self.run(Self.held(gate)) {
            $0.limits.maximumInFlight = 10
        } _: { world in
            var taken = 0
            let error = #expect(throws: CourierError.self) {
                while taken < 100_000 {
                    try world.client.publish(bytes: [1], to: "t") { _ in }
                    taken += 1
                }
            }
            #expect(error?.code == .queueFull)
            let task = Task { [client = world.client] in try await client.publish("late", to: "t") }
            await world.until { world.client.waitingCount == 1 }
            gate.release()
            let receipt = try await task.value
            #expect(receipt.reasonCode == .success)
            #expect(world.client.waitingCount == 0)
            #expect(await world.publishes().count == taken + 1)
        }
    }

    @Test(arguments: [QoS.zero, .one])
    func `await publish() throws queueFull if a full queue drops its message`(_ qos: QoS) async throws {
        try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) {
            $0.offline = OfflinePolicy(maximumCount: 1, overflow: .dropNewest, queuesQoS0: true)
        } _: { world in
            world.test.stopListening()
            await world.connect()
            try await world.client.enqueue("0", to: "t", qos: qos)
            let error = await #expect(throws: CourierError.self) {
                try await world.client.publish("1", to: "t", qos: qos)
            }
            #expect(error?.code == .queueFull)
            #expect(world.client.parts.publishing.queue.count == 1)
        }
    }

    @Test func `publish throws invalidTopicName for an invalid topic, and sessionMissing after destroy()`() async throws
    {
        try await Self.run(.connection([.accept()])) { world in
            expectCourierError(.invalidTopicName) { try world.client.publish(bytes: [1], to: "a/#") }
            expectCourierError(.invalidTopicName) { try world.client.publish(data: Data([1]), to: "") }
            let error = await #expect(throws: CourierError.self) { try await world.client.publish("x", to: "a/+") }
            #expect(error?.code == .invalidTopicName)
            world.client.destroy()
            expectCourierError(.sessionMissing) { try world.client.publish(bytes: [1], to: "t") }
        }
    }

    @Test func `properties and content types are sent over MQTT 5 only`() async throws {
        for version in [ProtocolVersionPolicy.version5, .version311] {
            try await Self.run(.connection([.accept()])) {
                $0.protocolVersion = version
            } _: { world in
                try await world.client.publish("x", to: "t")
                try await world.client.publish(
                    [1, 2] as [UInt8], to: "t", properties: MessageProperties(userProperties: [.init("a", "b")]))
                let properties = await world.publishes().map(\.properties)
                if version == .version5 {
                    #expect(properties[0] == [.contentType("text/plain;charset=utf-8")])
                    #expect(properties[1].list.contains(.userProperty(name: "a", value: "b")))
                } else {
                    #expect(properties.allSatisfy { $0.isEmpty })
                }
            }
        }
    }
}
