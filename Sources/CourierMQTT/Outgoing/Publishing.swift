import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Implements the publishing calls of a client: encodes a value, checks the message, adds it to the ``OutgoingQueue``,
/// and waits for the result.
final class Publishing: Sendable {
    let queue: OutgoingQueue
    let results: PublishResults
    /// Connects the queue with the message store; `nil` without a store.
    let store: OutgoingStore?
    let texts: WireText
    let waiterCount: WaiterCount
    let loop: EventLoop
    /// Adds trace contexts to messages; `nil` if the app has not set a tracing system, or if MQTT 5 is not used.
    let tracing: MessageTracing?
    private let registry: AdapterRegistry
    private let driver: SessionDriver
    /// Makes the event loop set the timer that ends expired messages.
    private let watchExpiry: @Sendable () -> Void
    /// The connect options. They contain the user name and client id that replace `%u` and `%c` in topics. The value is
    /// `nil` before the first attempt to connect.
    private let options = Mutex<ConnectOptions?>(nil)

    init(
        _ driver: SessionDriver, store: OutgoingStore?, texts: WireText,
        tracing: MessageTracing? = nil, registry: AdapterRegistry, results: PublishResults, waiterCount: WaiterCount,
        watchExpiry: @escaping @Sendable () -> Void
    ) {
        self.driver = driver
        queue = driver.outgoing
        loop = driver.loop
        self.store = store
        self.texts = texts
        self.tracing = tracing
        self.registry = registry
        self.results = results
        self.waiterCount = waiterCount
        self.watchExpiry = watchExpiry
    }

    /// Sets the options of the present or next connection.
    func use(_ options: ConnectOptions) {
        self.options.withLock { $0 = options }
        results.use(options)
    }

    /// The user name and client id that replace `%u` and `%c` in topics; `nil` before the first attempt to connect.
    var identity: ConnectionIdentity? {
        options.withLock { $0 }.map { ConnectionIdentity(username: $0.username, clientID: $0.clientId) }
    }

    // MARK: Publishing without waiting

    /// Encodes a value, and adds the message to the queue. Only events report the result.
    func publish<Value>(_ value: Value, to topic: String, _ qos: QoS) throws(CourierError) {
        let (bytes, contentType) = try registry.encode(value, topic: topic)
        let message = try message(to: topic, qos, contentType: contentType)
        try bytes.withBytes { payload throws(CourierError) in
            try publish(payload, array: bytes, message, told: nil)
        }
    }

    /// Adds a message to the queue. The result is reported to `completion`, unless this function throws.
    func publish(
        _ payload: RawSpan, array: [UInt8]? = nil, _ publish: borrowing OutgoingPublish,
        told completion: PublishCompletion?
    ) throws(CourierError) {
        if publish.isObserved { results.began(publish.topic, publish.qos, payload.byteCount) }
        let acceptance = queue.accept(
            publish, payload, array: array, for: completion.map { .completion($0) } ?? .nobody, at: now(for: publish))
        follow(acceptance)
        guard let refusal = acceptance.refusal else {
            guard publish.qos == .zero else { return }
            if let completion { results.call(completion, .success(PublishReceipt())) }
            if publish.isObserved { results.report(.success(PublishReceipt()), of: publish, payload: payload) }
            return
        }
        let error = error(refusal, publish)
        results.report(.failure(error), of: publish, payload: payload)
        if case .dropped = refusal {
            if let completion { results.call(completion, .failure(error)) }
        } else {
            throw error
        }
    }

    // MARK: Publishing and waiting for the result

    /// Encodes a value, adds the message to the queue, and waits for the result. If the queue is full, also waits for
    /// room, as long as the policy allows.
    nonisolated(nonsending) func publishAndWait<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt {
        try await publishAndWait(
            value, to: topic(of: request), request.qos, isRetained: request.isRetained,
            isLatestOnly: request.isLatestOnly, request.properties)
    }

    /// Does the same as `publishAndWait(_:as:)`, but without a `PublishRequest`, because moving a request in memory
    /// costs more than moving the message. The function is inlined, because each asynchronous call costs extra time
    /// when the task resumes.
    @inline(__always)
    nonisolated(nonsending) func publishAndWait<Value>(
        _ value: Value, to topic: String, _ qos: QoS, isRetained: Bool, isLatestOnly: Bool = false,
        _ properties: MessageProperties
    ) async throws -> PublishReceipt {
        let (bytes, contentType) = try registry.encode(value, topic: topic, properties: properties)
        return try await publishAndWait(
            bytes,
            message(
                to: topic, qos, isRetained: isRetained, isLatestOnly: isLatestOnly, properties, contentType: contentType
            ))
    }

    /// Adds a message to the queue, and waits for the result. If the queue is full, also waits for room, as long as the
    /// policy allows.
    @inline(__always)
    nonisolated(nonsending) func publishAndWait(
        _ payload: [UInt8], _ publish: borrowing OutgoingPublish
    ) async throws -> PublishReceipt {
        if publish.isObserved { results.began(publish.topic, publish.qos, payload.count) }
        if publish.qos == .zero {  // The publish of a QoS 0 message succeeds when the message is accepted.
            _ = try await enqueue(payload, publish, waitsForStore: false)
            return PublishReceipt()
        }
        var answer = await enter(payload, publish, nil, .end)
        if case .notAccepted(let refusal) = answer {
            answer = try await enterWithRoom(payload, publish, after: refusal, .end)
        }
        switch answer {
        case .acknowledged(let code):
            if let error = CourierError(code, of: .message(topic: publish.topic)) { throw error }
            return PublishReceipt(code, [])
        case .ended(let outcome): return try outcome.get()
        case .stored, .cancelled, .notAccepted: throw CancellationError()
        }
    }

    /// Encodes a value, adds the message to the queue, and waits until the message is accepted. A message for the
    /// message store is accepted when it is stored. If the queue is full, also waits for room, as long as the policy
    /// allows.
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> EnqueuedMessage {
        try await enqueue(
            value, to: topic(of: request), request.qos, isRetained: request.isRetained,
            isLatestOnly: request.isLatestOnly, request.properties)
    }

    /// Does the same as `enqueue(_:as:)`, but without a `PublishRequest`, because moving a request in memory costs more
    /// than moving the message.
    @inline(__always)
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, to topic: String, _ qos: QoS, isRetained: Bool, isLatestOnly: Bool = false,
        _ properties: MessageProperties
    ) async throws -> EnqueuedMessage {
        let (bytes, contentType) = try registry.encode(value, topic: topic, properties: properties)
        let publish = try message(
            to: topic, qos, isRetained: isRetained, isLatestOnly: isLatestOnly, properties, contentType: contentType)
        if publish.isObserved { results.began(publish.topic, publish.qos, bytes.count) }
        let token = try await enqueue(bytes, publish, waitsForStore: store != nil && publish.qos.isPersisted)
        guard let token else { return EnqueuedMessage() }
        return EnqueuedMessage { try await self.withdraw(token) }
    }

    /// Adds a message to the queue, and waits until it is accepted.
    ///
    /// - Returns: The token of the message's entry; `nil` if the message has ended.
    @inline(__always)
    private nonisolated(nonsending) func enqueue(
        _ payload: [UInt8], _ publish: borrowing OutgoingPublish, waitsForStore: Bool
    ) async throws -> Token? {
        let wait = waitsForStore ? Wait.storing : .nothing
        var answer = await enter(payload, publish, nil, wait)
        if case .notAccepted(let refusal) = answer {
            answer = try await enterWithRoom(payload, publish, after: refusal, wait)
        }
        switch answer {
        case .stored(let token):
            if publish.qos == .zero {
                payload.withBytes { results.report(.success(PublishReceipt()), of: publish, payload: $0) }
            }
            return token
        case .acknowledged: return nil
        case .ended(let outcome):
            _ = try outcome.get()
            return nil
        case .cancelled, .notAccepted: throw CancellationError()
        }
    }

    // MARK: Adding messages to the queue

    /// The event that a task waits for.
    private enum Wait {
        case nothing
        /// The task waits until the message is stored.
        case storing
        case end
    }

    /// Adds a message to the queue without a task that waits for the message's result.
    private func enterForNobody(_ payload: [UInt8], _ publish: borrowing OutgoingPublish, _ epoch: Int?)
        -> PublishAnswer
    {
        let acceptance = payload.withBytes {
            queue.accept(publish, $0, array: payload, for: .nobody, epoch: epoch, at: now(for: publish))
        }
        follow(acceptance)
        return acceptance.refusal.map { .notAccepted($0) } ?? .stored(acceptance.token)
    }

    /// Adds a message to the queue, and waits for the answer.
    ///
    /// The task adds its continuation to the entry. If the task is cancelled, the continuation is removed. The task and
    /// its cancellation may run at the same time. The atomic variable `entered` records which of the two was first.
    @inline(__always)
    private nonisolated(nonsending) func enter(
        _ payload: [UInt8], _ publish: borrowing OutgoingPublish, _ epoch: Int?, _ wait: Wait
    ) async -> PublishAnswer {
        if wait == .nothing { return enterForNobody(payload, publish, epoch) }
        let entered = Atomic<UInt64>(Self.notEntered)
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { (task: PublishContinuation) in
                let acceptance = payload.withBytes {
                    queue.accept(
                        publish, $0, array: payload, for: wait == .end ? .task(task) : .acceptance(task),
                        epoch: epoch, at: now(for: publish))
                }
                if let refusal = acceptance.refusal {
                    follow(acceptance)
                    return task.resume(returning: .notAccepted(refusal))
                }
                let isWaiting = entered.compareExchange(
                    expected: Self.notEntered, desired: acceptance.token.rawValue, ordering: .acquiringAndReleasing
                ).exchanged
                if !isWaiting { cancel(acceptance.token) }
                follow(acceptance)
            }
        } onCancel: {
            let token = entered.exchange(Self.cancelled, ordering: .acquiringAndReleasing)
            if token != Self.notEntered { cancel(Token(rawValue: token)) }
        }
    }

    /// Special values of the variable `entered`, which otherwise contains the message's token. With `notEntered`, the
    /// message has no token yet. With `cancelled`, the task was cancelled.
    private static let notEntered: UInt64 = 0
    private static let cancelled: UInt64 = .max

    /// Resumes the task that waits for this message, with the answer `cancelled`. Does nothing if no task waits.
    private func cancel(_ token: Token) {
        switch queue.takeRecipient(token) {
        case .task(let task), .acceptance(let task): task.resume(returning: .cancelled)
        case .nobody, .completion: break
        }
    }

    /// Waits for room as long as the policy allows, and adds a message to the queue.
    ///
    /// - Throws: The reason why the message was not accepted. An event has also reported this reason.
    private nonisolated(nonsending) func enterWithRoom(
        _ payload: [UInt8], _ publish: borrowing OutgoingPublish, after refusal: OutgoingQueue.Refusal,
        _ wait: Wait
    ) async throws -> PublishAnswer {
        var last = refusal
        do {
            if case .full(let byteCount, let epoch) = refusal, let end = endOfWaiting {
                var isInTime = true
                while isInTime {
                    let waiter = queue.roomWaiter(waiterCount, for: byteCount, publish.qos)
                    isInTime = try await room(waiter, until: end)
                    // Try again even after the timeout, because there may be room now: waiting callers are woken in
                    // groups, only after several messages have left the queue.
                    let answer = await enter(payload, publish, epoch, wait)
                    guard case .notAccepted(let refusal) = answer else { return answer }
                    last = refusal
                    // This caller was woken, but does not use the room. So wake the next callers that wait for room.
                    queue.passOnRoom()
                    guard case .full = refusal else { break }
                }
            }
            throw self.error(last, publish)
        } catch {
            queue.passOnRoom()
            let failure = error as? CourierError ?? self.error(last, publish)
            payload.withBytes { results.report(.failure(failure), of: publish, payload: $0) }
            throw error
        }
    }

    /// Does the work that remains after the queue accepted or refused a message.
    @inline(__always)
    private func follow(_ acceptance: OutgoingQueue.Acceptance) {
        if !acceptance.wakes.isEmpty { wake(acceptance.wakes) }
        guard let consequences = acceptance.consequences else { return }
        results.report(consequences.displaced)
        for waiter in consequences.roomWaiters { waiter.resume(.success(())) }
    }

    @inline(never)
    private func wake(_ wakes: OutgoingQueue.Acceptance.Wakes) {
        if wakes.contains(.session) { driver.wakeForMessages() }
        if wakes.contains(.store), let store { loop.execute { store.commitNext() } }
        if wakes.contains(.timer) { watchExpiry() }
    }

    /// Returns the current time. The time is exact if the client has a store, the message may expire, or there is no
    /// connection.
    ///
    /// Otherwise, the result is the time when the event loop's last round began, because reading the clock takes long
    /// compared with the rest of a publish. With a connection, the message is sent soon, so its exact age seldom
    /// matters.
    @inline(__always)
    private func now(for publish: borrowing OutgoingPublish) -> MonotonicInstant {
        let mustBeExact =
            store != nil || queue.policy.maximumAge != nil || !queue.isProbablyConnected.load(ordering: .relaxed)
            || (!publish.properties.isEmpty && publish.properties.messageExpiry != nil)
        return mustBeExact ? exactNow() : MonotonicInstant(nanoseconds: loop.lastRoundTime)
    }

    /// Returns the exact current time. The function is not inlined, because inlined code would reserve memory for the
    /// clock's type on each publish.
    @inline(never)
    private func exactNow() -> MonotonicInstant { MonotonicInstant(loop.clock.now) }
}

// MARK: - End of a session

extension Publishing {
    /// Reports the messages of a session that ended, and resumes the callers that waited for room in the queue. May be
    /// called from any thread.
    func report(_ remains: OutgoingQueue.Remains, _ error: CourierError) {
        results.report(remains.ended)
        let roomError = CourierError(
            error.code, "The client was destroyed while a publisher waited for room in the queue.")
        for waiter in remains.roomWaiters { waiter.resume(.failure(roomError)) }
    }
}
