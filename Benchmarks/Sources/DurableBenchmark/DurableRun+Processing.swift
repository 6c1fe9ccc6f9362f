import BenchmarkHarness
import CourierCore
import CourierMQTT

/// Receives and handles messages that the sink sends. A run accepts a message when it was handled. A message is settled
/// when it is acknowledged and removed from the store.
extension DurableRun {
    /// Starts a server that sends `count` messages to its subscriber.
    private static func sender(count: Int) throws -> Sink {
        try Sink(
            floods: true, qos: 1, count: count, payloadSize: Workload.payloadSize, window: Workload.window,
            topic: Workload.topic)
    }

    /// Receives messages with a loop.
    static func loop(count: Int) async throws -> DurableRun {
        let sink = try sender(count: count)
        defer { sink.stop() }
        let client = client(of: sink.port, nil)
        try await client.connected()
        let start = Start()
        var left = count
        let messages = client.messages(
            Message.self, from: Workload.topic, qos: .one, acknowledge: .afterProcessing,
            buffer: ReadBuffer(overflow: .pause))
        for try await message in messages {
            left -= 1
            guard left == 0 else { continue }
            message.acknowledge()
            break
        }
        let accepted = ContinuousClock.now
        try sink.waitForAll()
        let run = DurableRun(count: count, from: start, accepted: accepted)
        await client.disconnectAndWait()
        return run
    }

    /// Handles messages with a processor.
    static func processor(
        _ store: (any MessageStore)?, _ order: Contender.Order, concurrency: Int, count: Int
    ) async throws -> DurableRun {
        let sink = try sender(count: count)
        defer { sink.stop() }
        let client = client(of: sink.port, store)
        try await client.connected()
        let policy = ProcessingPolicy<Message>(
            concurrency: concurrency, order: order == .none ? .none : .byTopic)
        let handled = Countdown(count)
        let start = Start()
        let processor = try client.process(Message.self, from: Workload.topic, policy: policy) { _, _ in
            handled.countDown()
        }
        await handled.reached()
        let accepted = ContinuousClock.now
        try sink.waitForAll()
        if let store {
            try await waitUntilNoJobs(store, StoreScope(clientID: "courier", broker: "127.0.0.1:\(sink.port)"))
        }
        let run = DurableRun(count: count, from: start, accepted: accepted)
        await processor.stop()
        await client.disconnectAndWait()
        return run
    }

    /// Stores and removes jobs from `callers` callers, without a client.
    static func jobs(_ store: any MessageStore, callers: Int, count: Int) async throws -> DurableRun {
        let load = StoreLoad(store, .jobs, count: count)
        let start = Start()
        let accepted = try await load.run(callers: callers)
        try await waitUntilNoJobs(store, Workload.scope)
        return DurableRun(count: count, from: start, accepted: accepted)
    }

    /// Waits until the store has no jobs. Polls, because a store reports no event. The pause between reads keeps their
    /// share of the measured CPU time small.
    private static func waitUntilNoJobs(_ store: any MessageStore, _ scope: StoreScope) async throws {
        while try await !store.jobs(in: scope, after: nil, limit: 1).isEmpty {
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
