import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization
import Testing

@testable import CourierMQTT

/// The queue without an event loop, a session or a clock.
@Suite struct OutgoingQueueTests {
    private let start = ContinuousClock.Instant.now

    private func queue(
        _ policy: OfflinePolicy = OfflinePolicy(overflow: .fail), isConnected: Bool = true, hasStore: Bool = false
    ) -> OutgoingQueue {
        let queue = OutgoingQueue(policy, hasStore: hasStore)
        queue.beginSession()
        if isConnected { queue.connected() }
        return queue
    }

    @discardableResult
    private func accept(
        _ text: String, to topic: String = "t", _ qos: QoS = .one, isLatestOnly: Bool = false, expiry: Duration? = nil,
        in queue: OutgoingQueue, after time: Duration = .zero
    ) -> OutgoingQueue.Acceptance {
        var publish = OutgoingPublish(topic: topic, qos: qos, isLatestOnly: isLatestOnly)
        if let expiry {
            publish.properties = MessageProperties(messageExpiry: expiry)
        }
        let bytes = Array(text.utf8)
        return queue.accept(
            publish, bytes.span.bytes, array: bytes, for: .nobody, at: MonotonicInstant(start.advanced(by: time)))
    }

    private func take(
        _ queue: OutgoingQueue, quota: Int = 1_000, after time: Duration = .zero
    ) -> (texts: [String], tokens: [Token], taken: OutgoingQueue.Taken) {
        var views: [MessageView] = []
        let taken = queue.take(&views, quota: quota, canWrite: true, now: start.advanced(by: time))
        return (views.map { String(decoding: $0.payload, as: UTF8.self) }, views.map(\.header.token), taken)
    }

    // MARK: Order

    @Test func `take() returns messages of all QoS in the order in which they were accepted`() {
        let queue = queue()
        for (text, qos) in [("a", QoS.one), ("b", .zero), ("c", .two), ("d", .zero), ("e", .one)] {
            accept(text, qos, in: queue)
        }
        #expect(take(queue).texts == ["a", "b", "c", "d", "e"])
        #expect(queue.count == 3)  // QoS 0 has ended.
    }

    @Test func `if the send quota is used up, take() skips QoS 1 messages and returns QoS 0 messages`() {
        let queue = queue()
        for (text, qos) in [("a", QoS.one), ("b", .one), ("c", .zero), ("d", .one), ("e", .zero)] {
            accept(text, qos, in: queue)
        }
        #expect(take(queue, quota: 1).texts == ["a", "c", "e"])
        #expect(take(queue, quota: 0).texts == [])
        #expect(take(queue, quota: 5).texts == ["b", "d"])
    }

    @Test func `messages in flight that are put back into the queue are returned by take() in their old order`() {
        let queue = queue()
        for text in ["a", "b", "c", "d"] { accept(text, in: queue) }
        let first = take(queue, quota: 3)
        #expect(queue.end(first.tokens[1], .acknowledged(.success, [])) != nil)
        #expect(queue.returned([first.tokens[0], first.tokens[2]]).isEmpty)
        #expect(take(queue).texts == ["a", "c", "d"])
    }

    // MARK: Limits

    @Test func `messages in flight do not count toward maximumCount, even after they are put back into the queue`() {
        let queue = queue(OfflinePolicy(maximumCount: 2, overflow: .fail))
        accept("a", in: queue)
        accept("b", in: queue)
        guard case .full? = accept("c", in: queue).refusal else {
            Issue.record("accepted beyond the limit")
            return
        }
        let first = take(queue)
        #expect(first.texts == ["a", "b"])
        #expect(queue.waitingCount == 0)
        _ = queue.returned(first.tokens)
        #expect(queue.waitingCount == 0)
        #expect(accept("c", in: queue).refusal == nil)
        #expect(accept("d", in: queue).refusal == nil)
        guard case .full? = accept("e", in: queue).refusal else {
            Issue.record("accepted beyond the limit")
            return
        }
        #expect(take(queue).texts == ["a", "b", "c", "d"])
    }

    @Test func `dropOldest never drops a message that was already sent`() {
        let queue = queue(OfflinePolicy(maximumCount: 2, overflow: .dropOldest))
        accept("a", in: queue)
        let first = take(queue)
        _ = queue.returned(first.tokens)
        accept("b", in: queue)
        accept("c", in: queue)
        let acceptance = accept("d", in: queue)
        #expect(acceptance.consequences?.displaced.count == 1)
        #expect(take(queue).texts == ["a", "c", "d"])
    }

    @Test(arguments: [OfflinePolicy.Overflow.fail, .dropOldest, .dropNewest, .suspend(timeout: .seconds(1))])
    func `a message larger than maximumBytes is refused at once`(_ overflow: OfflinePolicy.Overflow) {
        let queue = queue(OfflinePolicy(maximumBytes: 10, overflow: overflow))
        accept("123456789", in: queue)
        guard case .tooLarge? = accept("1234567890", in: queue).refusal else {
            Issue.record("accepted")
            return
        }
        #expect(queue.waitingCount == 1)
    }

    @Test func `maximumBytes counts topic, properties and payload`() {
        let queue = queue(OfflinePolicy(maximumBytes: 100, overflow: .fail))
        var publish = OutgoingPublish(topic: "topic", qos: .one)
        publish.properties = MessageProperties(contentType: "text/plain")
        let bytes = [UInt8](repeating: 1, count: 20)
        for _ in 0..<2 {
            #expect(
                queue.accept(publish, bytes.span.bytes, array: nil, for: .nobody, at: MonotonicInstant(.now)).refusal
                    == nil)
        }
        // 5 bytes of the topic, 20 of the payload, and 13 of the property each.
        guard
            case .full? = queue.accept(publish, bytes.span.bytes, array: nil, for: .nobody, at: MonotonicInstant(.now))
                .refusal
        else {
            Issue.record("properties do not count")
            return
        }
    }

    // MARK: Latest only

    @Test func `a newer latest-only message replaces a waiting message, but never a message in flight`() {
        let queue = queue()
        accept("a1", to: "a", isLatestOnly: true, in: queue)
        #expect(take(queue, quota: 1).texts == ["a1"])
        accept("a2", to: "a", isLatestOnly: true, in: queue)
        accept("b", in: queue)
        let acceptance = accept("a3", to: "a", isLatestOnly: true, in: queue)
        #expect(acceptance.consequences?.displaced.map(\.topic) == ["a"])
        #expect(take(queue).texts == ["b", "a3"])
    }

    @Test func `a latest-only message in flight that is put back into the queue is dropped if a newer message waits`() {
        let queue = queue()
        accept("a1", to: "a", isLatestOnly: true, in: queue)
        let first = take(queue)
        accept("a2", to: "a", isLatestOnly: true, in: queue)
        let ended = queue.returned(first.tokens)
        #expect(ended.count == 1)
        #expect(take(queue).texts == ["a2"])
    }

    // MARK: Ages

    @Test func `waiting messages expire, and messages in flight do not`() {
        let queue = queue(OfflinePolicy(maximumAge: .seconds(2), overflow: .fail))
        for index in 0..<5 { accept("\(index)", in: queue) }
        accept("own", expiry: .seconds(1), in: queue)
        #expect(take(queue, quota: 2).texts == ["0", "1"])
        let (early, next) = queue.endExpired(now: start.advanced(by: .seconds(1)))
        #expect(early.ended.count == 1)
        #expect(next == start.advanced(by: .seconds(2)))
        let (late, last) = queue.endExpired(now: start.advanced(by: .seconds(2)))
        #expect(late.ended.count == 3)
        #expect(last == nil)
        #expect(queue.count == 2)
    }

    @Test func `take() does not return an expired message, even before the expiry timer fires`() {
        let queue = queue()
        accept("late", expiry: .seconds(1), in: queue)
        accept("in time", in: queue)
        let first = take(queue, after: .seconds(1))
        #expect(first.texts == ["in time"])
        #expect(first.taken.ended.count == 1)
    }

    // MARK: Pacing

    @Test func `after a reconnect, take() returns messages in batches with a pause between two batches`() {
        let policy = OfflinePolicy(overflow: .fail, drainCount: 10, drainInterval: .milliseconds(10))
        let queue = queue(policy, isConnected: false)
        for index in 0..<25 { accept("\(index)", in: queue) }
        queue.connected()
        #expect(take(queue).texts.count == 10)
        let blocked = take(queue)
        #expect(blocked.texts.isEmpty)
        #expect(blocked.taken.nextBatch?.instant == start.advanced(by: .milliseconds(10)))
        #expect(take(queue, after: .milliseconds(10)).texts.count == 10)
        #expect(take(queue, after: .milliseconds(20)).texts.count == 5)
        accept("later", in: queue)
        #expect(take(queue, after: .milliseconds(20)).texts == ["later"])
    }

    // MARK: Waking the loop

    @Test func `accept() wakes the event loop once, and again only after take() has found no message to send`() {
        let queue = queue()
        #expect(take(queue).texts.isEmpty)
        #expect(accept("a", in: queue).wakes.contains(.session))
        #expect(!accept("b", in: queue).wakes.contains(.session))
        _ = take(queue)
        #expect(!accept("c", in: queue).wakes.contains(.session))  // The loop calls take() until no message is left.
        _ = take(queue)
        #expect(take(queue, quota: 0).texts.isEmpty)
        #expect(!accept("d", in: queue).wakes.contains(.session))
        #expect(accept("e", .zero, in: queue).wakes.contains(.session))
    }

    // MARK: Memory

    @Test func `the memory of finished messages is freed even if other messages remain in the queue`() {
        let queue = queue(OfflinePolicy(maximumCount: 1_000_000, maximumBytes: 1 << 30, overflow: .fail))
        let long = String(repeating: "x", count: 1_000)
        for round in 0..<200 {
            accept("kept \(round)", in: queue)
            var tokens: [Token] = []
            for _ in 0..<100 { tokens.append(accept(long, to: "short", in: queue).token) }
            for token in tokens { _ = queue.end(token, .expired) }
        }
        _ = take(queue, quota: 0)
        #expect(queue.count == 200)
        #expect(queue.state.withLock { $0.table.heldByteCount } < 4 << 20)
        #expect(take(queue).texts == (0..<200).map { "kept \($0)" })
    }
}
