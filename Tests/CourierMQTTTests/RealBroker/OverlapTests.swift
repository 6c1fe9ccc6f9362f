import CourierCore
import CourierTesting
import TestSupport
import Testing

@testable import CourierMQTT

/// Overlapping subscriptions. Some brokers send one copy of a message for all subscriptions that match. Others send one
/// copy for each subscription, as mosquitto does with MQTT 5.
@Suite(.timeLimit(.minutes(5))) struct OverlapTests {
    private static let last = "last"

    /// Reads until the last message.
    private static func texts(_ messages: MessageSequence<String>) async throws -> [String] {
        var texts: [String] = []
        for try await text in messages {
            if text == last { break }
            texts.append(text)
        }
        return texts
    }

    private static func check(
        port: UInt16, _ version: ProtocolVersionPolicy, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let test = try TestClient(.local(port)) { $0.protocolVersion = version }
        let client = test.client
        let everything = Series<String>()
        let subscription = client.messagePublisher().sink { everything.append($0.payloadString ?? "") }
        let loops = ["chat/#", "chat/+/notes", "chat/7/notes", "+/+/notes"].map { filter in
            client.messages(String.self, from: filter, qos: .two)
        }
        let tasks = loops.map { messages in Task { try await Self.texts(messages) } }
        try await test.connect()
        try await test.wait("for all subscriptions") { events in
            let granted = events.flatMap { event -> [String] in
                if case .subscribeSuccess(let topics, _) = event { topics.map(\.topic) } else { [] }
            }
            return Set(granted).count == loops.count
        }
        // This loop starts after the others. Now each other subscription must have its identifier.
        let late = Task { try await Self.texts(client.messages(String.self, from: "#", qos: .zero)) }
        try await test.wait("for the late one") { events in
            events.contains { event in
                if case .subscribeSuccess(let topics, _) = event { topics.contains { $0.topic == "#" } } else { false }
            }
        }
        let sent = (0..<30).map(String.init)
        for (number, text) in sent.enumerated() {
            try await client.publish(text, to: "chat/7/notes", qos: [.zero, .one, .two][number % 3])
        }
        try await client.publish(Self.last, to: "chat/7/notes", qos: .two)
        for task in tasks { #expect(try await task.value == sent, sourceLocation: sourceLocation) }
        #expect(try await late.value == sent, sourceLocation: sourceLocation)
        let deadline = ContinuousClock.now + .patience
        while !everything.values.contains(Self.last), .now < deadline { await Task.yield() }
        #expect(everything.values == sent + [Self.last], sourceLocation: sourceLocation)
        subscription.cancel()
        try await test.end()
    }

    @Test(arguments: [ProtocolVersionPolicy.version5, .version311])
    func `with overlapping filters, every reader receives each message from mosquitto once`(
        _ version: ProtocolVersionPolicy
    ) async throws {
        let broker = try await RealBroker()
        try await Self.check(port: broker.port, version)
        await broker.stop()
    }

    @Test(arguments: [ProtocolVersionPolicy.version5, .version311])
    func `with overlapping filters, every reader receives each message from LoopbackBroker once`(
        _ version: ProtocolVersionPolicy
    ) async throws {
        let broker = try LoopbackBroker.start()
        try await Self.check(port: broker.port, version)
        await broker.shutdown()
    }

    @Test(arguments: [AcknowledgementMode.onReceipt, .afterProcessing])
    func `if a reader ends, its messages are not delivered again to readers that already received them`(
        _ mode: AcknowledgementMode
    )
        async throws
    {
        let broker = try await RealBroker()
        let test = try TestClient(.local(broker.port)) { $0.protocolVersion = .version5 }
        let client = test.client
        try await test.connect()
        var other = client.messages(String.self, from: "a/#", qos: .two).makeAsyncIterator()
        var fence = client.messages(String.self, from: "fence", qos: .two).makeAsyncIterator()
        do {
            var leaving = client.messages(String.self, from: "a/+", qos: .two, acknowledge: mode).makeAsyncIterator()
            // The newer of the two readers that receive their own copies.
            var younger = client.messages(String.self, from: "+/b", qos: .two).makeAsyncIterator()
            try await test.wait("for all subscriptions") { events in
                let granted = events.flatMap { event -> [String] in
                    if case .subscribeSuccess(let topics, _) = event { topics.map(\.topic) } else { [] }
                }
                return Set(granted).count == 4
            }
            for text in ["1", "2"] { try await client.publish(text, to: "a/b", qos: .two) }
            try await client.publish("behind the copies", to: "fence", qos: .two)
            _ = try await fence.next()
            #expect(try await leaving.next() == "1")
            for text in ["1", "2"] { #expect(try await younger.next() == text) }
            leaving = client.messages(String.self, from: "none", qos: .zero).makeAsyncIterator()
            try await client.publish("3", to: "a/b", qos: .two)
            #expect(try await younger.next() == "3")
        }
        for text in ["1", "2", "3"] { #expect(try await other.next() == text) }
        try await test.end()
        await broker.stop()
    }
}
