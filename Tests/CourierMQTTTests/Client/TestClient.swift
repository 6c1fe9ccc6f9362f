import CourierCore
import CourierTransport
import Foundation
import Synchronization
import Testing

@testable import CourierMQTT

/// A client for tests that records its events. A test calls the client and then waits for the expected events.
final class TestClient: Sendable {
    let client: MQTTClient
    let queue: DispatchQueue
    private let record = Mutex(Record())
    private let subscription: AnyCancellable

    private struct Record {
        var events: [CourierEventType] = []
        var isListening = true
        var info: ConnectOptions?
        var waiters:
            [(condition: @Sendable ([CourierEventType]) -> Bool, waiter: CheckedContinuation<Void, any Error>)] =
                []
    }

    struct TooLate: Error, CustomStringConvertible {
        let what: String
        let events: [CourierEventType]
        var description: String { "waited in vain \(what); events: \(events.map(\.name))" }
    }

    /// Creates a client for the broker at `options`, without jitter and with short pauses.
    convenience init(
        _ options: ConnectOptions, on group: EventLoopGroup? = nil,
        _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) throws {
        try self.init(MQTTClientConfig(options: options), on: group, change)
    }

    /// Creates a client with a configuration that contains a provider, without jitter and with short pauses.
    init(
        _ config: MQTTClientConfig, on group: EventLoopGroup? = nil,
        _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) throws {
        var config = config
        queue = DispatchQueue(label: "test.delivery")
        config.deliveryQueue = queue
        config.autoReconnectInterval = 1
        config.reconnect.jitter = .none
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.logHandler = nil
        config.environment.eventLoops = group
        change(&config)
        client = MQTTClient(try ClientParts(config))
        let link = Link()
        subscription = client.eventPublisher.sink { [link] event in link.target?.note(event) }
        link.set(self)
    }

    private final class Link: Sendable {
        private let box = Mutex<WeakBox>(WeakBox())
        private struct WeakBox { weak var target: TestClient? }
        var target: TestClient? { box.withLock { $0.target } }
        func set(_ target: TestClient) { box.withLock { $0.target = target } }
    }

    /// Stops recording events. A client without event listeners publishes in a different way.
    func stopListening() {
        record.withLock { $0.isListening = false }
        subscription.cancel()
    }

    /// True while events are recorded.
    var isListening: Bool { record.withLock { $0.isListening } }

    var events: [CourierEventType] { record.withLock { $0.events } }
    var eventNames: [String] { events.map(\.name) }
    /// The options of the last event that had some.
    var info: ConnectOptions? { record.withLock { $0.info } }

    private func note(_ event: CourierEvent) {
        let ready = record.withLock { record in
            record.events.append(event.type)
            record.info = event.connectionInfo ?? record.info
            let events = record.events
            let ready = record.waiters.filter { $0.condition(events) }.map(\.waiter)
            record.waiters.removeAll { $0.condition(events) }
            return ready
        }
        for waiter in ready { waiter.resume() }
    }

    /// The longest wait for an event, in seconds. It is long because other tests run on the same cores.
    private static let patience = 150.0

    /// Waits until the events satisfy `condition`.
    func wait(_ what: String, for condition: @escaping @Sendable ([CourierEventType]) -> Bool) async throws {
        let watchdog = DispatchWorkItem { [self] in
            let waiters = record.withLock { record in
                defer { record.waiters = [] }
                return record.waiters
            }
            for (_, waiter) in waiters { waiter.resume(throwing: TooLate(what: what, events: events)) }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience, execute: watchdog)
        defer { watchdog.cancel() }
        try await withCheckedThrowingContinuation { continuation in
            let isThere = record.withLock { record in
                if condition(record.events) { return true }
                record.waiters.append((condition, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits until `count` events with this name were recorded.
    func wait(for name: String, count: Int = 1) async throws {
        try await wait("for \(name)") { events in events.count { $0.name == name } >= count }
    }

    func connect() async throws {
        client.connect()
        try await client.connected()
    }

    /// Disconnects, and checks that no caller of the client still waits.
    func end() async throws {
        await client.disconnectAndWait()
        #expect(client.waitingCount == 0, "a continuation was forgotten")
    }
}

extension CourierEventType {
    /// The name of the event's case, without its values.
    var name: String {
        let mirror = Mirror(reflecting: self)
        return mirror.children.first?.label ?? "\(self)"
    }
}

extension ConnectOptions {
    /// Returns options for a broker on this machine.
    static func local(_ port: UInt16, id: String = "test-%%%%%%%%", clean: Bool = false) -> ConnectOptions {
        ConnectOptions(
            host: "127.0.0.1", port: port, clientId: id, username: "", password: "", isCleanSession: clean)
    }
}
