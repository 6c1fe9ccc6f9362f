import CourierCore
import CourierTesting
import Dispatch
import TestSupport
import Testing

@testable import CourierMQTT

/// Loops end when the last reference to their client is released.
@Suite(.timeLimit(.minutes(5))) struct ClientEndTests {
    /// The objects of a client that an app can keep after it released the client.
    private struct Kept {
        let events: PublisherValues<CourierEvent, Never>
        let states: PublisherValues<ConnectionState, Never>
        let deadLetters: PublisherValues<DeadLetter, Never>
        let messages: AnyPublisher<Int, Never>

        static let names = ["dead letters", "events", "messages", "states"]

        init(_ client: MQTTClient) {
            events = client.events
            states = client.states
            deadLetters = client.deadLetters
            messages = client.messagePublisher(topic: "t")
        }

        /// Starts a loop over each sequence. Each loop appends its name to `begun` for each value, and to `ended` when
        /// it ends by itself.
        func loops(begun: Series<String>, ended: Series<String>) -> [Task<Void, Never>] {
            func loop<Value: Sendable>(
                _ name: String, _ values: PublisherValues<Value, Never>
            ) -> Task<Void, Never> {
                Task {
                    for await _ in values { begun.append(name) }
                    if !Task.isCancelled { ended.append(name) }
                }
            }
            return [
                loop("events", events), loop("states", states), loop("dead letters", deadLetters),
                loop("messages", messages.values),
            ]
        }
    }

    /// Waits for the loops. Cancels them if they do not end in time.
    private static func wait(for loops: [Task<Void, Never>]) async {
        let watchdog = DispatchWorkItem { for loop in loops { loop.cancel() } }
        DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: watchdog)
        defer { watchdog.cancel() }
        for loop in loops { await loop.value }
    }

    @Test func `whenConnected() fails with sessionMissing after the client is released`() async throws {
        let coordinator = try TestClient(.local(1)).client.parts.coordinator
        let answer: Result<Void, CourierError> = await withCheckedContinuation { continuation in
            coordinator.whenConnected { continuation.resume(returning: $0) }
        }
        #expect(answer.failure?.code == .sessionMissing)
    }

    @Test func `loops over messages and events end when the client is released, and later loops end at once`()
        async throws
    {
        let broker = try LoopbackBroker.start()
        let (begun, ended, late) = (Series<String>(), Series<String>(), Series<String>())
        let kept: Kept
        let loops: [Task<Void, Never>]
        do {
            let test = try TestClient(.local(broker.port))
            kept = Kept(test.client)
            loops = kept.loops(begun: begun, ended: ended)
            try await test.connect()
            try await test.client.subscribe(to: "t")
            while Set(begun.values).count < Kept.names.count {
                try await test.client.publish("1", to: "t")
                try await test.client.publish("no number", to: "t")
            }
            #expect(ended.values.isEmpty)
        }
        await Self.wait(for: loops)
        #expect(ended.values.sorted() == Kept.names)
        await Self.wait(for: kept.loops(begun: begun, ended: late))
        #expect(late.values.sorted() == Kept.names)
        await broker.shutdown()
    }
}
