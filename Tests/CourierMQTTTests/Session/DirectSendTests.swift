import CourierCore
import CourierTesting
import Foundation
import Synchronization
import Testing

@testable import CourierMQTT
@testable import CourierTransport

/// A lone message leaves on the thread that publishes it, when the loop sleeps.
@Suite(.timeLimit(.minutes(5))) struct DirectSendTests {
    /// On which threads packets were seen.
    private final class Observer: PacketObserver {
        let threads = Mutex<Set<UInt>>([])
        func observed(_ batch: PacketBatch) { threads.withLock { _ = $0.insert(LoopThread.current) } }
    }

    private func withClient(
        _ observer: Observer? = nil, _ body: (TestClient, EventLoop) async throws -> Void
    ) async throws {
        let broker = try LoopbackBroker.start()
        let group = try EventLoopGroup()
        let test = try TestClient(
            ConnectOptions(host: "127.0.0.1", port: broker.port, clientId: "lone", username: "", password: ""),
            on: group
        ) { $0.packetObserver = observer }
        try await test.connect()
        test.stopListening()
        try await body(test, group.loops[0])
        try await test.end()
        await broker.shutdown()
        await group.shutdown()
    }

    /// Waits until the loop's thread sleeps, which nobody is told.
    private func asleep(_ loop: EventLoop) async throws {
        while !loop.isAsleep.load(ordering: .acquiring) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test(arguments: [QoS.zero, .one, .two])
    func `a message leaves without the loop being woken`(_ qos: QoS) async throws {
        try await withClient { test, loop in
            var texts = test.client.messages(String.self, from: "lone", qos: qos).makeAsyncIterator()
            try await test.client.subscribe(to: "lone", qos: qos)
            var isDirect = false
            var sent = 0
            // The loop may have something to do just then; not every time.
            while !isDirect {
                try await asleep(loop)
                let before = loop.wakeUpCount
                try test.client.publish(text: "message \(sent)", to: "lone", qos: qos)
                isDirect = loop.wakeUpCount == before
                #expect(try await texts.next() == "message \(sent)")
                sent += 1
            }
        }
    }

    @Test func `a message does not overtake the subscription of a loop that began before`() async throws {
        try await withClient { test, loop in
            for number in 0..<100 {
                let topic = "topic/\(number)"
                try await asleep(loop)
                var texts = test.client.messages(String.self, from: topic, qos: .zero).makeAsyncIterator()
                try test.client.publish(text: "first", to: topic, qos: .zero)
                #expect(try await texts.next() == "first")
            }
        }
    }

    @Test func `packets are seen on the loop's thread alone`() async throws {
        let observer = Observer()
        try await withClient(observer) { test, loop in
            let thread = await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: LoopThread.current) }
            }
            for number in 0..<50 {
                try await asleep(loop)
                try test.client.publish(text: "message \(number)", to: "lone", qos: .zero)
            }
            try await test.client.publish("last", to: "lone", qos: .one)
            #expect(observer.threads.withLock { $0 } == [thread])
        }
    }
}
