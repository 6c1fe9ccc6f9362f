import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Readers that ended with an error which their loops have not received yet.
@Suite(.timeLimit(.minutes(5))) struct ScriptedEndedReaderTests {
    private typealias Reading = ScriptedReadingTests

    private static let refusal = ScriptStep.send(.subAck(SubAck(packetID: 1, reasonCodes: [.notAuthorized])))

    /// Starts a loop over "t" that the broker refuses, and runs `body` before the loop receives the error. Then the
    /// loop ends. Returns the next reader's messages when it has received `count` messages.
    private static func run(
        _ steps: [ScriptStep], count: Int,
        _ body: (ScriptedWorld, inout MessageSequence<Message>.Iterator) async throws -> Void
    ) async throws -> [String] {
        let seen = Series<String>()
        let script = ConnectionScript.connection([.accept(), .serve(until: .subscribe)] + steps)
        try await ScriptedWorld.run([script]) {
            $0.messagePersistenceTTLSeconds = 60
        } _: { world in
            do {
                var refused = Reading.reader(world, .onReceipt)
                await world.connect()
                await world.until { world.events.contains("subscribeFailure") }
                try await body(world, &refused)
                withExtendedLifetime(refused) {}
            }
            await world.settle()
            let sink = world.client.messagePublisher(topic: "t").sink { (text: String) in seen.append(text) }
            await world.until { seen.values.count == count }
            sink.cancel()
        }
        return seen.values
    }

    /// A subscription to another filter may deliver such a message.
    @Test func `a message received after a reader has thrown an error is delivered to the next reader`() async throws {
        let steps = [Self.refusal, .serve(until: .publish(to: "go")), Reading.message(1, "a")]
        let seen = try await Self.run(steps, count: 1) { world, _ in
            try world.client.publishMessage("", topic: "go", qos: .zero)
            await world.until { await Reading.acknowledged(world) == [1] }
        }
        #expect(seen == ["a"])
    }

    @Test func `unread messages of a reader whose filter was refused are delivered to the next reader`()
        async throws
    {
        let steps = [Reading.message(1, "a"), Reading.message(2, "b"), Reading.message(3, "c"), Self.refusal]
        let seen = try await Self.run(steps, count: 2) { _, refused in
            try await Reading.expectNext("a", of: &refused)
        }
        #expect(seen == ["b", "c"])
    }

    @Test func `a reader whose filter is refused returns earlier messages and then throws the error`() async throws {
        let steps = [Reading.message(1, "a"), Self.refusal]
        let seen = try await Self.run(steps, count: 0) { _, refused in
            try await Reading.expectNext("a", of: &refused)
            do {
                _ = try await refused.next()
                Issue.record("the loop goes on")
            } catch let error as CourierError {
                #expect(error.reasonCode == .notAuthorized)
            }
        }
        #expect(seen.isEmpty)
    }
}
