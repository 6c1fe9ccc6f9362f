import CourierCore
import CourierTransport
import Foundation
import Synchronization
import Testing

@testable import CourierMQTT

/// A client of a test, with a record of its events: a test does something and awaits what must follow from it.
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

    /// A client for the broker at `options`, with jitter off and short pauses.
    convenience init(
        _ options: ConnectOptions, on group: EventLoopGroup? = nil,
        _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) throws {
        try self.init(MQTTClientConfig(options: options), on: group, change)
    }

    /// The same with a configuration that has a provider.
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

    /// Records no more events: a client that nobody listens to publishes another way.
    func stopListening() {
        record.withLock { $0.isListening = false }
        subscription.cancel()
    }

    /// Whether events are recorded.
    var isListening: Bool { record.withLock { $0.isListening } }

    var events: [CourierEventType] { record.withLock { $0.events } }
    var eventNames: [String] { events.map(\.name) }
    /// The options that came with the last event that had some.
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

    /// How many seconds something may still come: the other tests want the same cores.
    private static let patience = 150.0

    /// Waits until the events are as `condition` wants.
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

    /// Waits for the `count`th event of this name.
    func wait(for name: String, count: Int = 1) async throws {
        try await wait("for \(name)") { events in events.count { $0.name == name } >= count }
    }

    func connect() async throws {
        client.connect()
        try await client.connected()
    }

    /// Disconnects, and checks that no await was forgotten.
    func end() async throws {
        await client.disconnectAndWait()
        #expect(client.waitingCount == 0, "a continuation was forgotten")
    }
}

extension CourierEventType {
    /// The name of the case.
    var name: String {
        let mirror = Mirror(reflecting: self)
        return mirror.children.first?.label ?? "\(self)"
    }
}

extension ConnectOptions {
    /// A client of a broker on this machine.
    static func local(_ port: UInt16, id: String = "test-%%%%%%%%", clean: Bool = false) -> ConnectOptions {
        ConnectOptions(
            host: "127.0.0.1", port: port, clientId: id, username: "", password: "", isCleanSession: clean)
    }
}
