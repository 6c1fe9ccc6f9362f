import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// The writing half of a client: from a value and a topic to a message on its way, and from its end to whoever waits.
final class Publishing: Sendable {
    /// What a publish is, beside its payload.
    struct Shape: Sendable {
        let topic: String
        let qos: QoS
        var isRetained = false
        var isLatestOnly = false
        var properties = MessageProperties()
        var contentType: String?
    }

    let ledger = PublishLedger()
    let gate: PublishGate
    /// The way of messages that are to survive the process; `nil` when none are.
    let durable: DurableOutbox?
    let ends: PublishEnds
    private let registry: AdapterRegistry
    private let events: EventHub
    let census: WaiterCensus
    let loop: EventLoop
    let texts: WireText
    /// Whether a broker may speak MQTT 5, so that messages carry properties.
    private let mayMeetVersion5: Bool
    /// What `%u` and `%c` stand for, and the options for events; known from the first attempt on.
    private let options = Mutex<ConnectOptions?>(nil)
    /// Whether `connect()` was called, and `destroy()` was not called since.
    private let hasSession = Atomic(false)

    init(
        _ policy: OfflinePolicy, texts: WireText, mayMeetVersion5: Bool, registry: AdapterRegistry, events: EventHub,
        census: WaiterCensus, on loop: EventLoop, deliver: @escaping PublishGate.Deliver,
        begin: @escaping @Sendable (_ session: Int) -> Void,
        requestDrain: @escaping @Sendable () -> Void, requestExpiryCheck: @escaping @Sendable () -> Void = {},
        completions: CompletionQueue,
        durable: ((PublishGate, PublishLedger, PublishEnds) -> DurableOutbox)? = nil
    ) {
        self.texts = texts
        self.mayMeetVersion5 = mayMeetVersion5
        self.registry = registry
        self.events = events
        self.census = census
        self.loop = loop
        let ends = PublishEnds(ledger, events, completions)
        self.ends = ends
        let link = durable.map { _ in OutboxLink() }
        gate = PublishGate(
            policy, now: { [clock = loop.clock] in clock.now }, deliver: deliver, begin: begin,
            requestDrain: requestDrain, requestExpiryCheck: requestExpiryCheck,
            ended: { ended in
                let outbox = link?.outbox.withLock { $0.value }
                for (token, code) in ended {
                    outbox?.ended(token)
                    ends.end(token, with: .queue(code))
                }
            })
        let outbox = durable?(gate, ledger, ends)
        self.durable = outbox
        link?.outbox.withLock { $0.value = outbox }
    }

    /// Notes what the connection's options are, or that they are the ones of the next.
    func use(_ options: ConnectOptions) {
        self.options.withLock { $0 = options }
        ends.use(options)
    }

    /// Notes whether there is a session to publish in.
    func setHasSession(_ hasSession: Bool) { self.hasSession.store(hasSession, ordering: .releasing) }

    /// Ends the publish of `token`, if it has not ended. On the loop.
    func ended(_ token: Token, with end: PublishEnds.End) {
        tellAnswers()  // They came before.
        durable?.ended(token)
        ends.end(token, with: end)
    }

    /// The broker has answered the publish of `token`; ``tellAnswers()`` follows. On the loop.
    func answered(_ token: Token, _ code: PacketReasonCode) {
        durable?.ended(token)
        ends.answered(token, code)
    }

    /// Ends the publishes that were answered. On the loop.
    func tellAnswers() { ends.tellAnswers() }

    /// What `%u` and `%c` stand for now.
    var identity: ConnectionIdentity? {
        options.withLock { $0 }.map { ConnectionIdentity(username: $0.username, clientID: $0.clientId) }
    }

    // MARK: From any thread

    /// Encodes a value and hands it over; the outcome is told by events only.
    func publish<Value>(_ value: Value, to topic: String, _ qos: QoS) throws(CourierError) {
        let (bytes, contentType) = try registry.encode(value, topic: topic)
        let properties = try packetProperties(contentType, topic)
        if publishAtOnce(bytes.span.bytes, to: topic, qos, isRetained: false, properties) { return }
        try publish(bytes, Shape(topic: topic, qos: qos, contentType: contentType), for: .nobody)
    }

    /// Hands bytes over if nothing stands in their way, which is how most messages go: a legal topic, a connection with
    /// room, no store, and nobody who listens to events. Else `false`: they have to go the long way, which knows what to
    /// do and what to say.
    func publishAtOnce(
        _ payload: RawSpan, to topic: String, _ qos: QoS, isRetained: Bool, _ properties: PacketProperties = [],
        told completion: PublishLedger.Completion? = nil
    ) -> Bool {
        let session = gate.session
        guard mayPass(topic, qos) else { return false }
        let isEntered = completion != nil && qos != .zero
        let token = isEntered ? ledger.enter(completion, topic, qos) : PublishLedger.anonymous
        guard gate.pass(Self.header(qos, isRetained, token), topic, payload, properties, of: session) else {
            // If it is not there any more it has ended, because the session was given up, and its completion was told.
            return isEntered && ledger.take(token) == nil
        }
        if qos == .zero, let completion { ends.tell(completion, .success) }
        return true
    }

    /// Hands bytes over in the same way and waits for their end; `nil` when they have to go the long way.
    ///
    /// The task enters its continuation itself, and its cancellation takes that out again: `entered` is where the two
    /// learn of each other, whichever comes first.
    @inline(__always)
    private nonisolated(nonsending) func publishAtOnceAndWait(
        _ bytes: [UInt8], to topic: String, _ qos: QoS, isRetained: Bool, _ properties: PacketProperties
    ) async throws -> PublishReceipt? {
        let session = gate.session
        guard mayPass(topic, qos) else { return nil }
        if qos == .zero {  // Nobody waits for its end: it has none.
            let header = Self.header(qos, isRetained, PublishLedger.anonymous)
            return gate.pass(header, topic, bytes.span.bytes, properties, of: session) ? PublishReceipt() : nil
        }
        let entered = Atomic<UInt64>(Self.notEntered)
        let word = await withTaskCancellationHandler {
            await withUnsafeContinuation { (task: PublishLedger.Continuation) in
                let token = ledger.enter(task, topic, qos)
                let header = Self.header(qos, isRetained, token)
                let isPassed = gate.pass(header, topic, bytes.span.bytes, properties, of: session)
                if !isPassed { resume(token, .notTaken) }
                let isWaiting = entered.compareExchange(
                    expected: Self.notEntered, desired: token.rawValue, ordering: .acquiringAndReleasing
                ).exchanged
                if !isWaiting { resume(token, .cancelled) }
            }
        } onCancel: {
            let token = entered.exchange(Self.cancelled, ordering: .acquiringAndReleasing)
            if token != Self.notEntered { resume(Token(rawValue: token), .cancelled) }
        }
        switch word {
        case .answered(let code):
            if let error = CourierError(code, of: .message(topic: topic)) { throw error }
            return PublishReceipt(code, [])
        case .ended(let outcome): return try outcome.get()
        case .cancelled: throw CancellationError()
        case .notTaken: return nil
        }
    }

    /// No token is one of these: the first is the anonymous one, the second has a use of 0.
    private static let notEntered: UInt64 = 0
    private static let cancelled: UInt64 = 1

    /// Ends the waiting of a task, if it still waits.
    private func resume(_ token: Token, _ word: PublishLedger.Word) {
        if case .task(let task)? = ledger.take(token)?.recipient { task.resume(returning: word) }
    }

    private func mayPass(_ topic: String, _ qos: QoS) -> Bool {
        hasSession.load(ordering: .acquiring) && gate.isPassable && !events.isListenedTo
            && (durable == nil || !qos.isPersisted) && texts.allows(topicName: topic)
    }

    /// Whether a message may take the place of one that only the store has, which it does on the long way.
    private func mayReplaceStored(_ isLatestOnly: Bool) -> Bool { isLatestOnly && durable != nil }

    private static func header(_ qos: QoS, _ isRetained: Bool, _ token: Token) -> OutgoingHeader {
        OutgoingHeader(PacketQoS(qos), isRetained: isRetained, isRetried: qos.isRetried, token: token)
    }

    /// Hands bytes over; the outcome is told to `recipient`, unless this throws.
    func publish(_ bytes: [UInt8], _ shape: Shape, for recipient: PublishLedger.Recipient) throws(CourierError) {
        let session = try check(shape)
        if let durable, shape.qos.isPersisted {
            let arrival = DurableOutbox.Arrival(shape: shape, payload: bytes, recipient: recipient, acceptance: nil)
            guard try durable.add(arrival, to: session) else { throw Self.queueFull(shape, gate.policy) }
            return
        }
        let message = outgoing(bytes, shape, recipient)
        guard let error = refusal(submit(message, shape, session), message, shape) else { return }
        if ends.withdraw(message.token, error) { throw error }
    }

    /// Encodes a value, hands it over, and waits for its end; also for room, if the policy says so.
    nonisolated(nonsending) func publishAndWait<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt {
        try await publishAndWait(
            value, to: topic(of: request), request.qos, isRetained: request.isRetained,
            isLatestOnly: request.isLatestOnly, request.properties)
    }

    /// The same without the request, whose parts cost more to move about than the message. In one piece with what it calls,
    /// because a task pays for every asynchronous call when it goes on.
    @inline(__always)
    nonisolated(nonsending) func publishAndWait<Value>(
        _ value: Value, to topic: String, _ qos: QoS, isRetained: Bool, isLatestOnly: Bool = false,
        _ properties: MessageProperties
    ) async throws -> PublishReceipt {
        let (bytes, contentType) = try registry.encode(value, topic: topic, properties: properties)
        if properties.isEmpty, !mayReplaceStored(isLatestOnly),
            let receipt = try await publishAtOnceAndWait(
                bytes, to: topic, qos, isRetained: isRetained, try packetProperties(contentType, topic))
        {
            return receipt
        }
        return try await publishAndWait(
            bytes,
            Shape(
                topic: topic, qos: qos, isRetained: isRetained, isLatestOnly: isLatestOnly, properties: properties,
                contentType: contentType))
    }

    /// Hands bytes over the long way, and waits for their end; also for room, if the policy says so.
    nonisolated(nonsending) func publishAndWait(
        _ bytes: [UInt8], _ shape: Shape
    ) async throws -> PublishReceipt {
        let session = try check(shape)
        if let durable, shape.qos.isPersisted {
            let waiter = Waiter<PublishReceipt>(census)
            try await store(
                DurableOutbox.Arrival(shape: shape, payload: bytes, recipient: .waiter(waiter), acceptance: nil),
                durable, session)
            return try await waiter.value()
        }
        let waiter = Waiter<PublishReceipt>(census)
        // Nobody waits for the end of QoS 0: it has none.
        try await handOver(outgoing(bytes, shape, shape.qos == .zero ? .nobody : .waiter(waiter)), shape, session)
        return shape.qos == .zero ? PublishReceipt() : try await waiter.value()
    }

    /// Encodes a value and hands it over, and waits until it is accepted: stored, where there is a store, and else taken by
    /// the queue; also for room, if the policy says so.
    nonisolated(nonsending) func enqueue<Value>(_ value: Value, as request: PublishRequest) async throws {
        try await enqueue(
            value, to: topic(of: request), request.qos, isRetained: request.isRetained,
            isLatestOnly: request.isLatestOnly, request.properties)
    }

    /// The same without the request, whose parts cost more to move about than the message.
    @inline(__always)
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, to topic: String, _ qos: QoS, isRetained: Bool, isLatestOnly: Bool = false,
        _ properties: MessageProperties
    ) async throws {
        let (bytes, contentType) = try registry.encode(value, topic: topic, properties: properties)
        if properties.isEmpty, !mayReplaceStored(isLatestOnly),
            publishAtOnce(
                bytes.span.bytes, to: topic, qos, isRetained: isRetained, try packetProperties(contentType, topic))
        {
            return
        }
        let shape = Shape(
            topic: topic, qos: qos, isRetained: isRetained, isLatestOnly: isLatestOnly, properties: properties,
            contentType: contentType)
        let session = try check(shape)
        if let durable, shape.qos.isPersisted {
            let waiter = Waiter<Void>(census)
            try await store(
                DurableOutbox.Arrival(shape: shape, payload: bytes, recipient: .nobody, acceptance: waiter), durable,
                session)
            return try await waiter.value()
        }
        try await handOver(outgoing(bytes, shape, .nobody), shape, session)
    }

    /// Hands a message over, when there is room for it; throws when it is given up, which nobody else may tell.
    private nonisolated(nonsending) func handOver(
        _ message: OutgoingMessage, _ shape: Shape, _ session: Int
    ) async throws {
        var admission = submit(message, shape, session)
        if admission == .full, let end = endOfWaiting {
            let size = OfflineQueue.size(message)
            var waiter = gate.roomWaiter(census, for: size)
            do {
                var isWaiting = true
                while isWaiting {
                    let isInTime = try await room(waiter, until: end, forget: { [gate] in gate.forget($0) })
                    // Also when its time is over: there may be a place for which nobody is woken.
                    admission = submit(message, shape, session)
                    isWaiting = admission == .full && isInTime
                    if isWaiting { waiter = gate.roomWaiter(census, for: size) }
                    // Others were left waiting for the place that it was woken for.
                    if !admission.isTaken { gate.passOnRoom() }
                }
            } catch {
                // Who gives up waiting has not sent it.
                ends.withdraw(message.token, error as? CourierError ?? Self.queueFull(shape, gate.policy))
                gate.passOnRoom()
                throw error
            }
        }
        if admission == .givenUp { throw PublishEnds.queueError(.queueFull, shape.topic) }
        guard let error = refusal(admission, message, shape) else { return }
        ends.withdraw(message.token, error)
        throw error
    }

    /// Hands a message to the store's outbox, when that has room.
    private nonisolated(nonsending) func store(
        _ arrival: DurableOutbox.Arrival, _ durable: DurableOutbox, _ session: Int
    ) async throws {
        if try durable.add(arrival, to: session) { return }
        if let end = endOfWaiting {
            while try await room(durable.roomWaiter(census), until: end, forget: { durable.forget($0) }) {
                if try durable.add(arrival, to: session) { return }
            }
        }
        throw Self.queueFull(arrival.shape, gate.policy)
    }

    // MARK: Steps

    private func topic(of request: PublishRequest) throws -> String {
        try request.topic.exactName ?? request.topic.name(for: identity).string
    }

    /// The properties of a message about which the app says nothing.
    private func packetProperties(_ contentType: String?, _ topic: String) throws(CourierError) -> PacketProperties {
        guard mayMeetVersion5, let contentType else { return [] }
        try check(contentType: contentType, topic)
        return [.contentType(contentType)]
    }

    /// Checks a topic name before a message is published to it.
    func check(topic: String) throws(CourierError) {
        do {
            _ = try TopicName(topic)
        } catch {
            throw error as? CourierError
                ?? CourierError(.invalidTopicName, "The topic \(topic.quoted()) is not legal.", cause: error)
        }
        try texts.check(topicName: topic)
    }

    /// Checks a content type that came from an adapter, or from a received message that the app sends on.
    private func check(contentType: String?, _ topic: String) throws(CourierError) {
        guard let contentType, let problem = texts.problem(contentType) else { return }
        throw CourierError(
            .invalidMessage, "The message to \(topic.quoted()) can not be sent: its content type \(problem).")
    }

    /// Throws what is wrong with a message; returns the session that it belongs to.
    private func check(_ shape: Shape) throws(CourierError) -> Int {
        let session = gate.session
        guard hasSession.load(ordering: .acquiring) else {
            throw CourierError(
                .sessionMissing,
                "The message to \(shape.topic.quoted()) can not be sent: there is no session; call connect() first.")
        }
        try check(topic: shape.topic)
        if !shape.properties.isEmpty { try shape.properties.check(topic: shape.topic, texts) }
        try check(contentType: shape.contentType, shape.topic)
        return session
    }

    private func outgoing(_ bytes: [UInt8], _ shape: Shape, _ recipient: PublishLedger.Recipient) -> OutgoingMessage {
        let isListenedTo = events.isListenedTo
        if isListenedTo {  // First: once it is entered, another thread may tell its end.
            events.tell(
                .messageSend(topic: shape.topic, qos: shape.qos, sizeBytes: bytes.count), options.withLock { $0 })
        }
        let token: Token
        if case .nobody = recipient, !isListenedTo {
            token = PublishLedger.anonymous
        } else {
            token = ledger.enter(
                PublishLedger.Entry(
                    recipient: recipient, topic: shape.topic, qos: shape.qos, payload: isListenedTo ? bytes : nil))
        }
        let hasProperties = mayMeetVersion5 && (shape.contentType != nil || !shape.properties.isEmpty)
        return OutgoingMessage(
            topic: shape.topic, payload: bytes, qos: PacketQoS(shape.qos), isRetained: shape.isRetained,
            properties: hasProperties
                ? PacketProperties(publishing: shape.properties, contentType: shape.contentType) : PacketProperties(),
            expiry: shape.properties.messageExpiry.map { loop.clock.now.advanced(by: $0) },
            isRetried: shape.qos.isRetried, token: token)
    }

    /// Hands a message to the gate, which is the end of one of QoS 0.
    private func submit(_ message: OutgoingMessage, _ shape: Shape, _ session: Int) -> PublishGate.Admission {
        let stamp = shape.isLatestOnly ? durable?.arrivals.nextStamp() : nil
        let admission = gate.submit(message, of: session, isLatestOnly: shape.isLatestOnly, stamp: stamp ?? 0)
        switch admission {
        case .delivered, .queued:
            if let stamp { durable?.replaceOnDisk(to: shape.topic, before: stamp, of: session) }
            if shape.qos == .zero { ends.end(message.token, with: .success(PublishReceipt())) }
        case .givenUp, .full, .offline, .late: break
        }
        return admission
    }

    /// Why the gate did not take a message, unless it has told that itself. The gate notes what had no room.
    private func refusal(
        _ admission: PublishGate.Admission, _ message: OutgoingMessage, _ shape: Shape
    ) -> CourierError? {
        switch admission {
        case .delivered, .queued, .givenUp: return nil
        case .full:
            gate.noteRefusal(of: OfflineQueue.size(message))
            return Self.queueFull(shape, gate.policy)
        case .offline: return Self.offline(shape)
        case .late: return PublishEnds.queueError(.clientDestroyed, shape.topic)
        }
    }

    private static func queueFull(_ shape: Shape, _ policy: OfflinePolicy) -> CourierError {
        CourierError(
            .queueFull,
            "The message to \(shape.topic.quoted()) was not taken: \(policy.maximumCount) messages or "
                + "\(policy.maximumBytes) bytes wait already; await readyToPublish() or raise the limits of `offline`.")
    }

    private static func offline(_ shape: Shape) -> CourierError {
        CourierError(
            .connectionLost,
            "The message to \(shape.topic.quoted()) was not sent: there is no connection, and messages of QoS 0 do not "
                + "wait for one; await connected(), use QoS 1, or set `offline.queuesQoS0`.")
    }
}

/// Where the gate finds the outbox, which is made after it and holds it.
private final class OutboxLink: Sendable {
    struct Reference { weak var value: DurableOutbox? }

    let outbox = Mutex(Reference())
}
