import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// A session for tests that records its events. A test calls the session and then waits for the expected events.
final class TestSession: Sendable {
    struct Received: Hashable, Sendable {
        let topic: String
        let payload: [UInt8]
        let qos: PacketQoS
        let isRetained: Bool
    }

    struct Record: Sendable {
        var messages: [Received] = []
        var actions: [EngineAction] = []
        var ends: [CloseReason] = []
        var causes: [ChannelCloseReason] = []
        var acknowledged: [Token: PacketReasonCode] = [:]
        var failed: [Token: EngineAction.Failure] = [:]
        var connections = 0

        var isConnected: Bool { connections > ends.count }
    }

    let loop: EventLoop
    let driver: SessionDriver
    private let recorder: Recorder
    private let waiterCount = WaiterCount()

    /// Creates a session. For each message, the driver calls `onMessage` on the loop.
    init(
        _ version: ProtocolVersion = .v5, id: String = "test", on loop: EventLoop,
        answerLimit: Int = SessionDriver.defaultAnswerLimit,
        _ change: (inout EngineConfiguration) -> Void = { _ in },
        onMessage: (@Sendable (SessionDriver, IncomingMessage) -> Void)? = nil
    ) {
        var configuration = EngineConfiguration(
            connect: Connect(version: version, clientID: id, isCleanStart: false, keepAlive: 60))
        if version >= .v5 { configuration.connect.properties = [.sessionExpiryInterval(3_600)] }
        change(&configuration)
        self.loop = loop
        let queue = OutgoingQueue(OfflinePolicy(maximumCount: 100_000), hasStore: false)
        queue.beginSession()
        recorder = Recorder(queue)
        driver = SessionDriver(configuration, on: loop, observer: recorder, outgoing: queue, answerLimit: answerLimit)
        recorder.setDriver(driver)
        if let onMessage {
            recorder.setHook { [weak driver] message in
                if let driver { onMessage(driver, message) }
            }
        }
    }

    /// Connects, and waits for CONNACK. `tap` observes the packets of the connection.
    func connect(to endpoint: TransportEndpoint, tls: TLSContext? = nil, tap: PacketTap? = nil) async throws {
        let before = record.connections
        loop.execute { [driver] in driver.open(endpoint, tls: tls, tap: tap) }
        try await wait("to connect") { $0.connections > before }
    }

    func disconnect() async throws {
        let before = record.ends.count
        loop.execute { [driver] in driver.disconnect() }
        try await wait("to disconnect") { $0.ends.count > before }
    }

    func subscribe(_ filter: String, qos: PacketQoS, token: Token = 1) async throws {
        loop.execute { [driver] in driver.subscribe([Subscription(filter, qos: qos)], token: token) }
        try await wait("for SUBACK") { record in
            record.actions.contains { if case .subscribed(token, _) = $0 { true } else { false } }
        }
    }

    /// Adds a message to the queue. If the queue is full, waits for room.
    func publish(
        _ topic: String, _ payload: [UInt8], qos: PacketQoS, isRetained: Bool = false, token: Token
    ) async throws {
        let publish = OutgoingPublish(topic: topic, qos: QoS(qos), isRetained: isRetained)
        while !recorder.accept(publish, payload, as: token) {
            try await driver.outgoing.roomWaiter(waiterCount, for: payload.count + topic.utf8.count, QoS(qos)).value()
        }
        driver.wakeForMessages()
    }

    var record: Record { recorder.record }

    /// Waits until `condition` is true for the record. Fails after the time `.patience`.
    func wait(
        _ purpose: String, sourceLocation: SourceLocation = #_sourceLocation,
        until condition: @escaping @Sendable (Record) -> Bool
    ) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [recorder] in
                await recorder.wait(until: condition)
                return true
            }
            group.addTask {
                try await Task.sleep(for: .patience)
                return false
            }
            guard try await group.next() == true else {
                recorder.giveUp()
                let record = record
                Issue.record(
                    """
                    waited in vain \(purpose): \(record.connections) connections, ends \(record.ends), \
                    \(record.messages.count) messages, \(record.acknowledged.count) acknowledged
                    """, sourceLocation: sourceLocation)
                throw CancellationError()
            }
            group.cancelAll()
        }
    }
}

/// Records the driver's events, and resumes the waiters whose condition is satisfied.
private final class Recorder: SessionObserver {
    private struct Waiter {
        let condition: @Sendable (TestSession.Record) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var record = TestSession.Record()
        var waiters: [Waiter] = []
        /// The tests' tokens of messages, by the queue's tokens.
        var names: [Token: Token] = [:]
        weak var driver: SessionDriver?
    }

    private let state = Mutex(State())
    private let queue: OutgoingQueue
    private let hook = Mutex<(@Sendable (IncomingMessage) -> Void)?>(nil)

    init(_ queue: OutgoingQueue) { self.queue = queue }

    func setDriver(_ driver: SessionDriver) { state.withLock { $0.driver = driver } }

    /// Adds a message to the queue under a test's token. Returns false if the queue has no room.
    func accept(_ publish: borrowing OutgoingPublish, _ payload: [UInt8], as name: Token) -> Bool {
        state.withLock { state in
            let acceptance = queue.accept(
                publish, payload.span.bytes, array: nil, for: .nobody, at: MonotonicInstant(.now))
            guard acceptance.refusal == nil else { return false }
            state.names[acceptance.token] = name
            return true
        }
    }

    func setHook(_ hook: @escaping @Sendable (IncomingMessage) -> Void) { self.hook.withLock { $0 = hook } }

    var record: TestSession.Record { state.withLock { $0.record } }

    func wait(until condition: @escaping @Sendable (TestSession.Record) -> Bool) async {
        await withCheckedContinuation { continuation in
            let holds = state.withLock { state in
                if condition(state.record) { return true }
                state.waiters.append(Waiter(condition: condition, continuation: continuation))
                return false
            }
            if holds { continuation.resume() }
        }
    }

    func giveUp() { for waiter in state.withLock({ take(&$0.waiters) }) { waiter.continuation.resume() } }

    private func note(_ change: (inout TestSession.Record) -> Void) {
        let ready = state.withLock { state -> [Waiter] in
            change(&state.record)
            let record = state.record
            let ready = state.waiters.filter { $0.condition(record) }
            if !ready.isEmpty { state.waiters.removeAll { $0.condition(record) } }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, properties: RawSpan) {
        let received = TestSession.Received(
            topic: topic.withUnsafeBytes { String(decoding: $0, as: UTF8.self) },
            payload: payload.withUnsafeBytes { Array($0) }, qos: message.view.delivery.qos,
            isRetained: message.view.isRetained)
        note { $0.messages.append(received) }
        let hook = hook.withLock { $0 }
        hook?(message)
    }

    func performed(_ action: EngineAction) {
        switch action {
        case .connected:
            queue.connected()
            if let driver = state.withLock({ $0.driver }) { driver.loop.enqueue(driver) }
        case .acknowledged(let token, let code, let properties):
            _ = queue.end(token, .acknowledged(code, properties))
        case .failed(let token, let failure): _ = queue.end(token, .engine(failure))
        case .returned(let token): _ = queue.returned([token])
        default: break
        }
        let names = state.withLock { $0.names }
        func name(_ token: Token) -> Token { names[token] ?? token }
        note { record in
            switch action {
            case .connected: record.connections += 1
            case .acknowledged(let token, let code, _): record.acknowledged[name(token)] = code
            case .failed(let token, let failure): record.failed[name(token)] = failure
            case .sent, .receivedByServer, .givenUp, .incomingReleased, .incomingReplaced: return
            default: break
            }
            record.actions.append(action)
        }
    }

    func tookMessages(_ taken: OutgoingQueue.Taken) {
        for waiter in taken.roomWaiters { waiter.resume(.success(())) }
    }

    func closed(_ reason: CloseReason, _ cause: ChannelCloseReason) {
        tookMessages(queue.disconnected())
        note {
            $0.ends.append(reason)
            $0.causes.append(cause)
        }
    }
}

private func take<Element>(_ array: inout [Element]) -> [Element] {
    defer { array = [] }
    return array
}
