import CourierCore
import CourierTesting
import Foundation
import Synchronization
import Testing

@testable import CourierMQTT
@testable import CourierTransport

/// If the event loop sleeps, the thread that publishes a single message also sends it.
@Suite(.timeLimit(.minutes(5))) struct DirectSendTests {
    /// Records the threads on which packets were observed.
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

    /// Waits until the loop's thread sleeps. There is no notification for it.
    private func asleep(_ loop: EventLoop) async throws {
        while !loop.isAsleep.load(ordering: .acquiring) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test(arguments: [QoS.zero, .one, .two])
    func `a message is sent without waking the event loop`(_ qos: QoS) async throws {
        try await withClient { test, loop in
            var texts = test.client.messages(String.self, from: "lone", qos: qos).makeAsyncIterator()
            try await test.client.subscribe(to: "lone", qos: qos)
            var isDirect = false
            var sent = 0
            // The loop may be busy for some messages, but not for all of them.
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

    @Test func `a message is sent after the SUBSCRIBE of a loop that started before publish()`() async throws {
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

    @Test func `the packet observer is called only on the thread of the event loop`() async throws {
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
