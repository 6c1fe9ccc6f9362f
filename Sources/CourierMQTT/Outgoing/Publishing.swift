import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// The publishing calls of a client: encode a value, check the message, hand it to the ``OutgoingQueue``, and wait for its end.
final class Publishing: Sendable {
    let queue: OutgoingQueue
    let results: PublishResults
    /// The message store's side of the queue; `nil` without a store.
    let store: OutgoingStore?
    let texts: WireText
    let waiterCount: WaiterCount
    let loop: EventLoop
    private let registry: AdapterRegistry
    private let driver: SessionDriver
    /// Asks the loop to end expired messages in time.
    private let watchExpiry: @Sendable () -> Void
    /// The options with the values of `%u` and `%c`; known from the first attempt on.
    private let options = Mutex<ConnectOptions?>(nil)

    init(
        _ driver: SessionDriver, store: OutgoingStore?, texts: WireText,
        registry: AdapterRegistry, results: PublishResults, waiterCount: WaiterCount,
        watchExpiry: @escaping @Sendable () -> Void
    ) {
        self.driver = driver
        queue = driver.outgoing
        loop = driver.loop
        self.store = store
        self.texts = texts
        self.registry = registry
        self.results = results
        self.waiterCount = waiterCount
        self.watchExpiry = watchExpiry
    }

    /// Notes the connection's options, or those of the next connection.
    func use(_ options: ConnectOptions) {
        self.options.withLock { $0 = options }
        results.use(options)
    }

    /// The present values of `%u` and `%c`.
    var identity: ConnectionIdentity? {
        options.withLock { $0 }.map { ConnectionIdentity(username: $0.username, clientID: $0.clientId) }
    }

    // MARK: Without waiting

    /// Encodes a value and hands it over; only events report the end.
    func publish<Value>(_ value: Value, to topic: String, _ qos: QoS) throws(CourierError) {
        let (bytes, contentType) = try registry.encode(value, topic: topic)
        try publish(bytes.span.bytes, array: bytes, try message(to: topic, qos, contentType: contentType), told: nil)
    }

    /// Hands bytes over; the end is reported to `completion`, unless this throws.
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

    // MARK: Waiting

    /// Encodes a value, hands it over, and waits for its end; also for room, if the policy says so.
    nonisolated(nonsending) func publishAndWait<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt {
        try await publishAndWait(
            value, to: topic(of: request), request.qos, isRetained: request.isRetained,
            isLatestOnly: request.isLatestOnly, request.properties)
    }

    /// The same without the request, whose parts cost more to move than the message. Inlined, because a task pays for each
    /// asynchronous call when it continues.
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

    /// Hands bytes over, and waits for their end; also for room, if the policy says so.
    @inline(__always)
    nonisolated(nonsending) func publishAndWait(
        _ payload: [UInt8], _ publish: borrowing OutgoingPublish
    ) async throws -> PublishReceipt {
        if publish.isObserved { results.began(publish.topic, publish.qos, payload.count) }
        if publish.qos == .zero {  // It has no end but its acceptance.
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

    /// Encodes a value, hands it over, and waits until the message is accepted: stored, if there is a store. Also waits for
    /// room, if the policy says so.
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> EnqueuedMessage {
        try await enqueue(
            value, to: topic(of: request), request.qos, isRetained: request.isRetained,
            isLatestOnly: request.isLatestOnly, request.properties)
    }

    /// The same without the request, whose parts cost more to move than the message.
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

    /// Hands bytes over, and waits until they are accepted.
    ///
    /// - Returns: The message's name; `nil` if the message has ended.
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
                results.report(.success(PublishReceipt()), of: publish, payload: payload.span.bytes)
            }
            return token
        case .acknowledged: return nil
        case .ended(let outcome):
            _ = try outcome.get()
            return nil
        case .cancelled, .notAccepted: throw CancellationError()
        }
    }

    // MARK: Steps

    /// The event that a task waits for.
    private enum Wait {
        case nothing
        /// The message is stored.
        case storing
        case end
    }

    /// Adds a message without a waiting caller.
    private func enterForNobody(_ payload: [UInt8], _ publish: borrowing OutgoingPublish, _ epoch: Int?)
        -> PublishAnswer
    {
        let acceptance = queue.accept(
            publish, payload.span.bytes, array: payload, for: .nobody, epoch: epoch, at: now(for: publish))
        follow(acceptance)
        return acceptance.refusal.map { .notAccepted($0) } ?? .stored(acceptance.token)
    }

    /// Hands a message over and waits for the answer.
    ///
    /// The task enters its continuation itself, and its cancellation removes the continuation. `entered` is where the two
    /// learn of each other, whichever comes first.
    @inline(__always)
    private nonisolated(nonsending) func enter(
        _ payload: [UInt8], _ publish: borrowing OutgoingPublish, _ epoch: Int?, _ wait: Wait
    ) async -> PublishAnswer {
        if wait == .nothing { return enterForNobody(payload, publish, epoch) }
        let entered = Atomic<UInt64>(Self.notEntered)
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { (task: PublishContinuation) in
                let acceptance = queue.accept(
                    publish, payload.span.bytes, array: payload, for: wait == .end ? .task(task) : .acceptance(task),
                    epoch: epoch, at: now(for: publish))
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

    /// No token has these values.
    private static let notEntered: UInt64 = 0
    private static let cancelled: UInt64 = .max

    /// Ends the waiting of a task, if it still waits.
    private func cancel(_ token: Token) {
        switch queue.takeRecipient(token) {
        case .task(let task), .acceptance(let task): task.resume(returning: .cancelled)
        case .nobody, .completion: break
        }
    }

    /// Waits for room as long as the policy allows, and hands a message over.
    ///
    /// - Throws: The reason why the message was not accepted. Events have reported it.
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
                    // After the timeout there may be room, too, because callers are not woken for each place.
                    let answer = await enter(payload, publish, epoch, wait)
                    guard case .notAccepted(let refusal) = answer else { return answer }
                    last = refusal
                    // Other callers wait for the room that this caller was woken for.
                    queue.passOnRoom()
                    guard case .full = refusal else { break }
                }
            }
            throw self.error(last, publish)
        } catch {
            queue.passOnRoom()
            let failure = error as? CourierError ?? self.error(last, publish)
            results.report(.failure(failure), of: publish, payload: payload.span.bytes)
            throw error
        }
    }

    /// Does what the queue asks for after it accepted or refused a message.
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

    /// The present, for messages whose age counts.
    @inline(__always)
    private func now(for publish: borrowing OutgoingPublish) -> MonotonicInstant? {
        let counts =
            store != nil || queue.policy.maximumAge != nil
            || (!publish.properties.isEmpty && publish.properties.messageExpiry != nil)
        return counts ? now() : nil
    }

    /// Apart from its callers, which would need memory for the clock's type with each message.
    @inline(never)
    private func now() -> MonotonicInstant { MonotonicInstant(loop.clock.now) }
}

// MARK: - Sessions

extension Publishing {
    /// Reports what remained of a session. From any thread.
    func report(_ remains: OutgoingQueue.Remains, _ error: CourierError) {
        results.report(remains.ended)
        let roomError = CourierError(error.code, "The client was destroyed while a publisher waited for room.")
        for waiter in remains.roomWaiters { waiter.resume(.failure(roomError)) }
    }
}
