import BenchmarkHarness
import CPeers
import CourierCore
import CourierMQTT
import Dispatch
import Synchronization

/// The libraries and APIs whose echo time is compared.
enum Contender: String, CaseIterable {
    /// Courier with a `for try await` loop over messages. The loop publishes the next message.
    case loop
    /// Courier with the sink of a publisher. The sink publishes the next message on the delivery queue.
    case sink
    /// libmosquitto. The callback on its network thread publishes the next message.
    case callback
    /// libmosquitto. The callback wakes the app's thread, which publishes the next message.
    case thread

    var title: String {
        switch self {
        case .loop: "Courier, for await"
        case .sink: "Courier, sink"
        case .callback: "mosquitto, callback"
        case .thread: "mosquitto, app's thread"
        }
    }

    private static let topic = "bench/echo"
    private static let payloadSize = 64

    /// Sends `count` messages one after the other. Returns the time until each came back, in nanoseconds.
    func echo(_ count: Int, port: UInt16) async throws -> [UInt64] {
        switch self {
        case .loop: try await Self.loop(count, try await Self.client(port))
        case .sink: try await Self.sink(count, try await Self.client(port))
        case .callback: try Self.peer(count, port, fromCaller: false)
        case .thread: try Self.peer(count, port, fromCaller: true)
        }
    }

    private static func peer(_ count: Int, _ port: UInt16, fromCaller: Bool) throws -> [UInt64] {
        var times = [UInt64](repeating: 0, count: count)
        guard mosquitto_echo(port, topic, Int32(payloadSize), fromCaller, UInt64(count), &times) else {
            throw Failure("libmosquitto did not get every message back")
        }
        return times
    }

    private static func client(_ port: UInt16) async throws -> any CourierClient {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: port, clientId: "courier", username: "", password: "", isCleanSession: true))
        config.protocolVersion = .version311
        config.deliveryQueue = DispatchQueue(label: "bench")
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        let client = CourierClientFactory().makeMQTTClient(config: config)
        client.connect()
        try await client.connected()
        try await client.subscribe(to: topic, qos: .zero)
        return client
    }

    private static func loop(_ count: Int, _ client: any CourierClient) async throws -> [UInt64] {
        let payload = [UInt8](repeating: 0, count: payloadSize)
        var times: [UInt64] = []
        times.reserveCapacity(count)
        var messages = client.messages(Message.self, from: topic, qos: .zero).makeAsyncIterator()
        while times.count < count {
            let start = DispatchTime.now().uptimeNanoseconds
            try client.publish(bytes: payload, to: topic, qos: .zero)
            guard try await messages.next() != nil else { throw Failure("the messages ended early") }
            times.append(DispatchTime.now().uptimeNanoseconds - start)
        }
        await client.disconnectAndWait()
        return times
    }

    private static func sink(_ count: Int, _ client: any CourierClient) async throws -> [UInt64] {
        let payload = [UInt8](repeating: 0, count: payloadSize)
        let echo = Echo(count)
        let subscription = client.messagePublisher(topic: topic).sink { (_: Message) in
            echo.received { try? client.publish(bytes: payload, to: topic, qos: .zero) }
        }
        let times = try await echo.times {
            try client.publish(bytes: payload, to: topic, qos: .zero)
        }
        subscription.cancel()
        await client.disconnectAndWait()
        return times
    }
}

/// Collects the echo times of the sink until `count` messages have come back.
private final class Echo: Sendable {
    private struct State {
        var times: [UInt64] = []
        var start: UInt64 = 0
        var waiter: CheckedContinuation<[UInt64], any Error>?
    }

    private let count: Int
    private let state = Mutex(State())

    init(_ count: Int) { self.count = count }

    func received(_ publishNext: () -> Void) {
        let now = DispatchTime.now().uptimeNanoseconds
        let (hasNext, waiter) = state.withLock { state in
            state.times.append(now - state.start)
            state.start = DispatchTime.now().uptimeNanoseconds
            guard state.times.count == count else { return (true, nil as CheckedContinuation<[UInt64], any Error>?) }
            return (false, state.waiter)
        }
        if hasNext { publishNext() }
        waiter?.resume(returning: state.withLock { $0.times })
    }

    func times(_ publishFirst: () throws -> Void) async throws -> [UInt64] {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { state in
                state.times.reserveCapacity(count)
                state.waiter = continuation
                state.start = DispatchTime.now().uptimeNanoseconds
            }
            do {
                try publishFirst()
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
