import CourierCore
import CourierTesting
import CourierTransport
import Dispatch
import MQTTCodec
import MQTTEngine
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// Publish calls on one thread while another thread destroys the session. Each call ends once. The next session does not
/// send a failed message.
@Suite(.timeLimit(.minutes(5))) struct DestroyRaceTests {
    // MARK: The queue

    @Test(arguments: [true, false])
    func `the outgoing queue accepts no message of a destroyed session`(_ hasStore: Bool) {
        let queue = OutgoingQueue(OfflinePolicy(), hasStore: hasStore)
        func accept(_ epoch: Int?) -> OutgoingQueue.Acceptance {
            queue.accept(
                OutgoingPublish(topic: "t", qos: .one), [1].span.bytes, array: nil, for: .nobody, epoch: epoch,
                at: MonotonicInstant(.now)
            )
        }
        queue.beginSession()
        let first = queue.epoch
        #expect(queue.destroy().ended.isEmpty)
        guard case .noSession? = accept(nil).refusal else {
            Issue.record("accepted without a session")
            return
        }
        queue.beginSession()
        guard case .destroyed? = accept(first).refusal else {
            Issue.record("accepted late")
            return
        }
        #expect(accept(queue.epoch).refusal == nil)
        #expect(queue.waitingCount == 1)
    }

    @Test func `messages of the next session are sent only after the event loop has ended the destroyed session`() {
        let queue = OutgoingQueue(OfflinePolicy(), hasStore: false)
        queue.beginSession()
        queue.connected()
        _ = queue.destroy()
        queue.beginSession()
        let acceptance = queue.accept(
            OutgoingPublish(topic: "t", qos: .one), [1].span.bytes, array: nil, for: .nobody, at: MonotonicInstant(.now)
        )
        #expect(!acceptance.wakes.contains(.session))
        var views: [MessageView] = []
        #expect(queue.take(&views, quota: 10, canWrite: true, now: .now).isBlocked)
        queue.endedSession()
        queue.connected()
        _ = queue.take(&views, quota: 10, canWrite: true, now: .now)
        #expect(views.map(\.header.token) == [acceptance.token])
    }

    // MARK: The client

    /// Calls a closure when the clock is read for the first time by the task to which this value is bound.
    private final class Interruption: Sendable {
        @TaskLocal static var present: Interruption?

        private let isDone = Atomic(false)
        private let act: @Sendable () -> Void

        init(_ act: @escaping @Sendable () -> Void) { self.act = act }

        func happen() {
            if !isDone.exchange(true, ordering: .acquiringAndReleasing) { act() }
        }
    }

    private struct InterruptingClock: LoopClock {
        var now: ContinuousClock.Instant {
            Interruption.present?.happen()
            return .now
        }

        func sleepLimit(until deadline: ContinuousClock.Instant) -> Duration? {
            RealLoopClock().sleepLimit(until: deadline)
        }

        func attach(wake: @escaping @Sendable () -> Void) {}
    }

    /// With an expiry, the client reads the clock before the queue accepts the message.
    private static let expiring = MessageProperties(messageExpiry: .seconds(60))

    private static func publish(
        _ client: MQTTClient, interruptedBy act: @escaping @Sendable () -> Void,
        _ ends: Series<Result<PublishReceipt, CourierError>>
    ) throws {
        try Interruption.$present.withValue(Interruption(act)) {
            try client.publish(
                bytes: [1], to: "t", qos: .one, retain: false, properties: expiring, completion: { ends.append($0) })
        }
    }

    @Test func `if destroy() interrupts publish(), publish() throws sessionMissing and no message waits`()
        async throws
    {
        let group = try EventLoopGroup(name: "interrupted", clock: InterruptingClock())
        let options = ConnectOptions(
            host: "127.0.0.1", port: 1, keepAlive: 0, clientId: "interrupted", username: "", password: "")
        let test = try TestClient(options, on: group)
        let client = test.client
        let queue = client.parts.publishing.queue

        client.connect()
        let ends = Series<Result<PublishReceipt, CourierError>>()
        let thrown = #expect(throws: CourierError.self) {
            try Self.publish(client, interruptedBy: { client.destroy() }, ends)
        }
        #expect(thrown?.code == .sessionMissing)
        #expect(queue.waitingCount == 0)

        client.connect()
        let request = PublishRequest(topic: TopicTemplate(exactly: "t"), properties: Self.expiring)
        let error = await #expect(throws: CourierError.self) {
            try await Interruption.$present.withValue(Interruption { client.destroy() }) {
                _ = try await client.publish("x", as: request)
            }
        }
        #expect(error?.code == .sessionMissing)
        #expect(queue.waitingCount == 0)
        #expect(ends.values.isEmpty)
        #expect(client.waitingCount == 0)
        await group.shutdown()
    }

    @Test func `a waiting caller that destroy() resumes can connect and publish in the next session at once`()
        async throws
    {
        // The task continues inside the call that resumes it, in the middle of destroy().
        let ended = try EventLoopGroup(name: "ended")
        await ended.shutdown()
        try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) {
            $0.offline = OfflinePolicy(maximumCount: 1, overflow: .suspend(timeout: .seconds(600)))
        } _: { world in
            await world.connect()
            let first = try world.publish("first")
            let next = Box<Result<PublishReceipt, CourierError>>()
            let waiting = Task(executorPreference: ended.loops[0]) { [client = world.client] in
                try? await client.readyToPublish()
                client.connect()
                try client.publish(text: "next", to: "t", qos: .one) { next.value = $0 }
            }
            await world.until { world.client.waitingCount == 1 }
            world.client.destroy()
            try await waiting.value
            #expect(world.client.hasExistingSession)
            await world.run(for: .seconds(5))
            await world.until { next.value != nil }
            #expect(next.value?.success != nil)
            #expect(first.value?.failure?.code == .clientDestroyed)
            #expect(await world.publishes().map(\.text) == ["next"])
        }
        withExtendedLifetime(ended) {}
    }

    @Test func `concurrent connect() and destroy() leave the client either connected or without a session`()
        async throws
    {
        try await ScriptedWorld.run { world in
            let client = world.client
            for _ in 0..<100 {
                await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                    DispatchQueue.global().async {
                        DispatchQueue.concurrentPerform(iterations: 2) { index in
                            if index == 0 { client.connect() } else { client.destroy() }
                        }
                        done.resume()
                    }
                }
                await world.run(for: .seconds(6))
                await world.until { client.hasExistingSession == (client.connectionState == .connected) }
            }
        }
    }

    @Test(arguments: [true, false])
    func `every publish() during destroy() returns or throws, and a failed message is not sent later`(
        isListening: Bool
    ) async throws {
        try await ScriptedWorld.run { world in
            if !isListening { world.test.stopListening() }
            var failed: Set<String> = []
            for round in 0..<20 {
                await world.connect()
                await world.until { world.client.connectionState == .connected }
                let connection = await world.broker.connections.count
                let sent = await world.publishes(on: connection).map(\.text)
                #expect(failed.isDisjoint(with: sent))
                let tasks = (0..<4).map { lane in
                    Task<[String], Never> { [client = world.client] in
                        var failed: [String] = []
                        for number in 0..<50 {
                            let text = "\(round) \(lane) \(number)"
                            do {
                                _ = try await client.publish(text, to: "t")
                            } catch {
                                failed.append(text)
                            }
                        }
                        return failed
                    }
                }
                for _ in 0..<(round * 5) { await Task.yield() }
                world.client.destroy()
                for task in tasks { failed.formUnion(await task.value) }
                await world.run(for: .seconds(6))
                #expect(world.client.parts.publishing.queue.waitingCount == 0)
            }
        }
    }
}
