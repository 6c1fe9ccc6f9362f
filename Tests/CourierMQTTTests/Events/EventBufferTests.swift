import CourierCore
import Foundation
import Testing

@testable import CourierMQTT

/// Which events a full buffer keeps, drops and reports.
@Suite struct EventBufferTests {
    private static let error = CourierError(.connectionLost, "lost")
    private static let received = CourierEventType.messageReceive(topic: "t", sizeBytes: 1)

    /// Appends an event if the buffer admits it.
    private func tell(_ buffer: inout EventBuffer, _ type: CourierEventType) {
        if buffer.admits(type) { buffer.append(type) }
    }

    /// Delivers all entries, and returns a text for each entry.
    private func delivered(_ buffer: inout EventBuffer) -> [String] {
        var words: [String] = []
        while !buffer.isEmpty {
            var batch = buffer.take()
            for _ in 0..<batch.count {
                switch batch.takeNext() {
                case .event(.eventsDropped(let count)): words.append("dropped \(count)")
                case .event(let type): words.append(type.name)
                case .options: words.append("options")
                case .reset: words.append("reset")
                case .finish: words.append("finish")
                case .delivered: words.append("twice")
                }
            }
            buffer.putBack(batch)
        }
        return words
    }

    @Test func `a full event buffer drops message events and reports how many events were dropped at each position`() {
        var buffer = EventBuffer(countLimit: 3)
        for _ in 0..<5 { tell(&buffer, Self.received) }
        tell(&buffer, .reconnect)
        tell(&buffer, .messageSend(topic: "t", qos: .one, sizeBytes: 1))
        tell(&buffer, .messageSendSuccess(topic: "t", qos: .one, sizeBytes: 1, data: Data()))
        buffer.appendReset()
        tell(&buffer, Self.received)
        let received = [String](repeating: "messageReceive", count: 3)
        #expect(delivered(&buffer) == received + ["dropped 2", "reconnect", "dropped 2", "reset", "dropped 1"])
        tell(&buffer, Self.received)
        #expect(delivered(&buffer) == ["messageReceive"])
        #expect(buffer.count == 0 && buffer.byteCount == 0)
    }

    @Test func `a full event buffer does not drop events about connections, subscriptions and failures`() {
        let kept: [CourierEventType] = [
            .connectionServiceAuthStart, .connectionServiceAuthSuccess(timeTaken: 1),
            .connectionServiceAuthFailure(timeTaken: 1, error: Self.error), .connectedPacketSent,
            .courierDisconnect(clearState: true), .connectionAttempt, .connectionSuccess(timeTaken: 1),
            .connectionFailure(timeTaken: 1, error: Self.error),
            .connectionLost(timeTaken: 1, error: Self.error, diffLastInbound: 1, diffLastOutbound: 1),
            .connectionDisconnect, .reconnect, .connectDiscarded(reason: "twice"), .subscribeAttempt(topics: ["a"]),
            .unsubscribeAttempt(topics: ["a"]), .subscribeSuccess(topics: [("a", .one)], timeTaken: 1),
            .unsubscribeSuccess(topics: ["a"], timeTaken: 1),
            .subscribeFailure(topics: [("a", .one)], timeTaken: 1, error: Self.error),
            .unsubscribeFailure(topics: ["a"], timeTaken: 1, error: Self.error), .ping(url: "u"),
            .pongReceived(timeTaken: 1), .pingFailure(timeTaken: 1, error: Self.error),
            .messageSendFailure(topic: "t", qos: .one, error: Self.error, sizeBytes: 1),
            .deliveryDowngraded(from: .two, to: .one), .messageStoreFailure(error: Self.error),
            .messageRejected(
                message: Message(data: Data("payload".utf8), topic: "t", qos: .one), error: Self.error),
            .appForeground, .appBackground, .connectionAvailable, .connectionUnavailable,
        ]
        var buffer = EventBuffer(countLimit: 1)
        tell(&buffer, Self.received)
        for _ in 0..<3 { for event in kept { tell(&buffer, event) } }
        #expect(delivered(&buffer) == ["messageReceive"] + (0..<3).flatMap { _ in kept.map(\.name) })
        #expect(buffer.byteCount == 0)
    }

    @Test func `messageReceiveFailure events are dropped only at twice the buffer limit`() {
        let failure = CourierEventType.messageReceiveFailure(topic: "t", error: Self.error, sizeBytes: 1)
        var buffer = EventBuffer(countLimit: 2)
        for _ in 0..<3 { tell(&buffer, Self.received) }
        for _ in 0..<3 { tell(&buffer, failure) }
        #expect(
            delivered(&buffer) == [
                "messageReceive", "messageReceive", "dropped 1", "messageReceiveFailure", "dropped 2",
            ])
    }

    @Test func `the bytes of topics and payloads count toward the buffer limit`() {
        let data = Data(repeating: 0, count: 1_000)
        let event = CourierEventType.messageSendSuccess(topic: "a/topic", qos: .one, sizeBytes: data.count, data: data)
        var buffer = EventBuffer(byteLimit: 10_000)
        for _ in 0..<100 { tell(&buffer, event) }
        #expect((9...10).contains(buffer.count))
        #expect(buffer.byteCount < 10_000 + 1_100)
        #expect(buffer.droppedCount == 100 - buffer.count)
        let count = buffer.count
        #expect(
            delivered(&buffer) == [String](repeating: "messageSendSuccess", count: count) + ["dropped \(100 - count)"])
        #expect(buffer.byteCount == 0)
        // One event may be larger than the buffer.
        let large = Data(repeating: 0, count: 20_000)
        tell(&buffer, .messageSendSuccess(topic: "t", qos: .one, sizeBytes: large.count, data: large))
        #expect(delivered(&buffer) == ["messageSendSuccess"])
    }

    @Test func `undelivered events of a batch count toward the buffer limit`() {
        var buffer = EventBuffer(countLimit: 4)
        for _ in 0..<4 { tell(&buffer, Self.received) }
        var batch = buffer.take()
        tell(&buffer, Self.received)
        #expect(buffer.count == 4 && buffer.droppedCount == 1)
        _ = batch.takeNext()
        _ = batch.takeNext()
        buffer.putBack(batch)
        for _ in 0..<3 { tell(&buffer, Self.received) }
        #expect(
            delivered(&buffer) == [
                "messageReceive", "messageReceive", "dropped 1", "messageReceive", "dropped 2",
            ])
    }

    @Test func `consecutive events of one connection share one buffer entry for the connect options`() {
        var buffer = EventBuffer()
        let options = ConnectOptions.local(1)
        for _ in 0..<3 {
            buffer.use(options)
            buffer.append(.reconnect)
        }
        buffer.use(nil)
        buffer.append(.reconnect)
        #expect(
            delivered(&buffer) == ["options", "reconnect", "reconnect", "reconnect", "options", "reconnect"])
    }
}
