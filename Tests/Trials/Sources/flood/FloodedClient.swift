import CourierCore
import CourierMQTT
import Dispatch
import Foundation

/// A client in a process of its own, and the ways to leave in it as much as there is room for. None of them returns.
struct FloodedClient: Sendable {
    private let client: any CourierClient

    init(port: UInt16, keepsUnread: Bool) {
        let options = ConnectOptions(
            host: "127.0.0.1", port: port, clientId: "flooded", username: "", password: "", isCleanSession: true)
        var config = MQTTClientConfig(options: options)
        config.protocolVersion = .version5
        config.deliveryQueue = DispatchQueue(label: "flooded")
        config.messagePersistenceTTLSeconds = keepsUnread ? 3_600 : 0
        config.maximumKeptMessages = .max
        client = CourierClientFactory().makeMQTTClient(config: config)
        client.connect()
    }

    /// Asks the broker for the flood.
    private func begin() async throws {
        try await client.connected()
        try await client.publish(Data(), to: "begin", qos: .zero)
    }

    private func waitForever() async throws { try await Task.sleep(for: .seconds(86_400)) }

    /// A loop that gets one message and then does nothing.
    func readSlowly(_ buffer: ReadBuffer, acknowledge mode: AcknowledgementMode = .onReceipt) async throws {
        let sequence = client.messages(Message.self, from: "flood/#", acknowledge: mode, buffer: buffer)
        var iterator = sequence.makeAsyncIterator()  // It subscribes.
        _ = try await client.subscribe(to: "flood/#", qos: .one)  // This waits for the broker's word.
        try await begin()
        _ = try await iterator.next()
        try await waitForever()
    }

    /// The same beside a loop that reads what is published to `other`.
    func readSlowly(_ buffer: ReadBuffer, besides other: String) async throws {
        let quick = Task { [client] in
            for try await _ in client.messages(Message.self, from: other, buffer: buffer) {}
        }
        _ = try await client.subscribe(to: other, qos: .one)
        try await readSlowly(buffer)
        try await quick.value
    }

    /// Nobody reads what comes.
    func readNothing() async throws {
        try await begin()
        try await waitForever()
    }

    /// A loop that can decode nothing, and a listener that is busy with the first dead letter.
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

    /// Publishes `count` messages while a handler is busy with the first event.
    func publish(_ count: Int, of byteCount: Int) async throws {
        let handler = BusyHandler()
        client.addEventHandler(handler)
        let bytes = Data(repeating: 1, count: byteCount)
        for _ in 0..<count { _ = try await client.publish(bytes, to: "sent", qos: .one) }
        try await waitForever()
        client.removeEventHandler(handler)
    }

    /// Nobody reads what comes, and a handler is busy with the first event.
    func readNothingAndHandleSlowly() async throws {
        let handler = BusyHandler()
        client.addEventHandler(handler)
        try await readNothing()
        client.removeEventHandler(handler)
    }
}

/// A handler that does not return from its first event.
private final class BusyHandler: ICourierEventHandler, Sendable {
    private let gate = DispatchSemaphore(value: 0)

    func onEvent(_ event: CourierEvent) { gate.wait() }
}
