import CourierCore
import CourierMQTT
import Dispatch
import Foundation

/// The client under test. Each method fills one buffer and then waits forever.
struct FloodedClient: Sendable {
    private let client: any CourierClient

    init(port: UInt16, keepsUnread: Bool) {
        let options = ConnectOptions(
            host: "127.0.0.1", port: port, clientId: "flooded", username: "", password: "", isCleanSession: true)
        var config = MQTTClientConfig(options: options)
        config.logHandler = nil  // No log, because failures are part of the trial.
        config.protocolVersion = .version5
        config.deliveryQueue = DispatchQueue(label: "flooded")
        config.messagePersistenceTTLSeconds = keepsUnread ? 3_600 : 0
        config.limits.maximumKeptMessages = .max
        client = CourierClientFactory().makeMQTTClient(config: config)
        client.connect()
    }

    /// Asks the broker to send the messages.
    private func begin() async throws {
        try await client.connected()
        try await client.publish(Data(), to: "begin", qos: .zero)
    }

    /// Waits until the process ends, which happens after its memory was measured.
    private func waitForever() async throws { try await Task.sleep(for: .seconds(86_400)) }

    /// Runs a loop that gets one message and then no more.
    func readSlowly(_ buffer: ReadBuffer, acknowledge mode: AcknowledgementMode = .onReceipt) async throws {
        let sequence = client.messages(Message.self, from: "flood/#", acknowledge: mode, buffer: buffer)
        var iterator = sequence.makeAsyncIterator()  // Creating the iterator subscribes.
        _ = try await client.subscribe(to: "flood/#", qos: .one)  // Waits for SUBACK.
        try await begin()
        _ = try await iterator.next()
        try await waitForever()
    }

    /// The same, with a second loop that reads the messages of `other` without delay.
    func readSlowly(_ buffer: ReadBuffer, besides other: String) async throws {
        let quick = Task { [client] in
            for try await _ in client.messages(Message.self, from: other, buffer: buffer) {}
        }
        _ = try await client.subscribe(to: other, qos: .one)
        try await readSlowly(buffer)
        try await quick.value
    }

    /// Receives messages without a reader.
    func receiveUnread() async throws {
        try await begin()
        try await waitForever()
    }

    /// Reads messages that can not be decoded, while the dead-letter sink blocks on the first one.
    func readUndecodable() async throws {
        let gate = DispatchSemaphore(value: 0)
        let letters = client.deadLetterPublisher.sink { _ in gate.wait() }
        let sequence = client.messages(Int.self, from: "flood/#", buffer: ReadBuffer(byteLimit: 1 << 20))
        var iterator = sequence.makeAsyncIterator()
        _ = try await client.subscribe(to: "flood/#", qos: .one)
        try await begin()
        while try await iterator.next() != nil {}
        letters.cancel()
    }

    /// Publishes `count` messages, while a handler blocks on the first event.
    func publish(_ count: Int, of byteCount: Int) async throws {
        let handler = BusyHandler()
        client.addEventHandler(handler)
        let bytes = Data(repeating: 1, count: byteCount)
        for _ in 0..<count { _ = try await client.publish(bytes, to: "sent", qos: .one) }
        try await waitForever()
        client.removeEventHandler(handler)
    }

    /// Receives messages without a reader, while a handler blocks on the first event.
    func receiveUnreadAndBlockEvents() async throws {
        let handler = BusyHandler()
        client.addEventHandler(handler)
        try await receiveUnread()
        client.removeEventHandler(handler)
    }
}

/// A handler that does not return from its first event.
private final class BusyHandler: ICourierEventHandler, Sendable {
    private let gate = DispatchSemaphore(value: 0)

    func onEvent(_ event: CourierEvent) { gate.wait() }
}
