import CourierCore
import CourierMQTT
import CourierTransport
import Dispatch
import Foundation

#if canImport(TrialSupport)
    import TrialSupport
#else
    import TestSupport
#endif

/// One random walk of a client, its app, its store and its broker. All of them run on the walk's thread and one event
/// loop.
///
/// The walk uses the public API only. It records all events, and ``WalkChecker`` checks the record afterwards.
final class Walk {
    private let seed: UInt64
    private let machine: WalkMachine
    private let plan: WalkPlan
    private let transcript: WalkTranscript
    private let broker: WalkBroker
    private let store = WalkStore()
    private let executor = WalkExecutor()
    private let queue = DispatchQueue(label: "walk.delivery")
    private let client: any CourierClient
    private var random: SeededGenerator
    private var messages: [WalkMessage] = []
    private var tasks: [Int: Task<Void, Never>] = [:]
    private let enqueued = WalkEnqueued()
    private var subscription: AnyCancellable?
    private var storeMode = StoreMode.fast
    /// True if the client has read the session from the store.
    private var hasLoaded = false

    private enum StoreMode { case fast, slow, failing }

    init(seed: UInt64, _ machine: WalkMachine, fault: WalkFault?) {
        self.seed = seed
        self.machine = machine
        random = SeededGenerator(seed: seed)
        plan = WalkPlan(&random)
        transcript = WalkTranscript(machine.clock)
        broker = WalkBroker(
            transcript, capacity: plan.streamCapacity, receiveMaximum: plan.receiveMaximum, fault: fault)
        var config = MQTTClientConfig(
            authService: WalkProvider(), autoReconnectInterval: 1, maxAutoReconnectInterval: 8)
        config.deliveryQueue = queue
        config.environment.eventLoops = machine.group
        config.reconnect.jitter = .none
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        config.logHandler = nil
        config.protocolVersion = .version5
        config.session.acknowledgementTimeout = nil
        config.offline = plan.offline
        config.limits.maximumInFlight = plan.maximumInFlight
        config.session.lossPolicy = plan.sessionLossPolicy
        config.endpoint = { [broker] _ in broker.connect() }
        if plan.hasStore { config.messageStore = store }
        client = CourierClientFactory().makeMQTTClient(config: config)
        guard plan.isListening else { return }
        subscription = client.eventPublisher.sink { [transcript] event in
            // Each message has a different payload size, so the size identifies the message.
            switch event.type {
            case .messageSendSuccess(_, _, let size, _):
                transcript.append(.reported(Self.number(size: size), isFailure: false))
            case .messageSendFailure(_, _, _, let size):
                transcript.append(.reported(Self.number(size: size), isFailure: true))
            default: break
            }
        }
    }

    /// Performs the random steps, and then lets the client finish without failures.
    func run() {
        connect()
        for _ in 0..<plan.stepCount {
            step()
            settle()
            transcript.append(.settled)
        }
        finish()
        subscription?.cancel()
    }

    func result(_ rules: WalkRules) -> WalkResult {
        let lines = transcript.lines
        let found = WalkChecker.violation(in: lines, messages, plan, rules)
        return WalkResult(
            seed: seed, plan: plan, messages: messages, lines: lines, violation: found?.violation, line: found?.line)
    }

    // MARK: Steps

    private func step() {
        switch random.below(100) {
        case 0..<32: publish()
        case 32..<38: publishBurst(2 + random.below(6))
        case 38..<52: broker.answer(1 + random.below(4))
        case 52..<57: broker.setAnswersAtOnce(random.chance(40))
        case 57..<62: broker.cut(losingSession: false)
        case 62..<65: broker.cut(losingSession: true)
        case 65..<67: broker.refuse(1 + random.below(3))
        case 67..<70: if random.flag() { broker.stopReading() } else { broker.readAgain() }
        case 70..<76: _ = store.complete(1 + random.below(3), failing: storeMode == .failing)
        case 76..<80: storeMode = random.pick([.fast, .slow, .slow, .failing])
        case 80..<86: pass(.milliseconds(1 + random.below(200)))
        case 86..<91: pass(.milliseconds(500 + random.below(5_000)))
        case 91..<93: jump(.seconds(1 + random.below(60)))
        case 93..<94:
            client.disconnect()
            transcript.append(.disconnected)
        case 94..<97: connect()
        case 97..<98: destroy()
        case 98..<99: cancel()
        default: withdraw()
        }
    }

    private func connect() {
        let opened = broker.openCount
        client.connect()
        settle()
        // Before the first attempt of a session, the client reads the store in tasks on other threads.
        if plan.hasStore, !hasLoaded { wait { broker.openCount > opened } }
        hasLoaded = true
        settle()
    }

    private func destroy() {
        storeMode = .fast  // The next session waits for the end of this one.
        client.destroy()
        transcript.append(.destroyed)
        hasLoaded = false
        settle()
        connect()
    }

    private func cancel() {
        guard !tasks.isEmpty else { return }
        tasks[random.pick(tasks.keys.sorted())]?.cancel()
    }

    private func withdraw() {
        let numbers = enqueued.numbers
        guard !numbers.isEmpty else { return }
        let number = random.pick(numbers)
        guard let message = enqueued[number] else { return }
        Task(executorPreference: executor) { @Sendable [transcript] in
            // If the call throws, the store did not remove the message, and destroy() or the end of the client is the
            // reason.
            guard (try? await message.withdraw()) == true else { return }
            transcript.append(.ended(number, .failed(.messageWithdrawn)))
        }
        _ = executor.drain()
    }

    // MARK: Publishing

    /// Publishes while the loop is busy, so that all messages wait at the same time.
    private func publishBurst(_ count: Int) {
        let (began, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        machine.loop.execute {
            began.signal()
            go.wait()
        }
        began.wait()
        for _ in 0..<count { publish() }
        go.signal()
    }

    private static let sizes = [0, 400, 900]

    private static func number(size: Int) -> Int { (size - 4) % 400 }

    private func publish() {
        let number = messages.count
        let qos = random.pick([
            QoS.zero, .one, .one, .two, .oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry,
        ])
        let form = random.pick(WalkMessage.Form.allCases)
        let isLatestOnly = (form == .task || form == .enqueue) && random.chance(30)
        let expiry = form != .nobody && random.chance(20) ? Duration.seconds(1 + random.below(10)) : nil
        // Each size is used once, so that an event identifies its message.
        let size = 4 + random.pick([0, 0, 0, 1, 2]) * 400 + number
        let age = [plan.maximumAge, expiry].compactMap { $0 }.min()
        let topic = random.pick(["a", "b"])
        var message = WalkMessage(
            number: number, topic: topic, qos: qos, byteCount: size, form: form, isLatestOnly: isLatestOnly, age: age)
        message.mayWaitForRoom = plan.suspends && (form == .task || form == .enqueue)
        messages.append(message)
        var properties = MessageProperties(messageExpiry: expiry)
        if plan.hasProperties { properties.userProperties = [MessageProperties.UserProperty("k", "v")] }
        offer(message, properties)
    }

    private func offer(_ message: WalkMessage, _ properties: MessageProperties) {
        let (number, transcript, client, enqueued) = (message.number, transcript, client, enqueued)
        let payload = WalkPayload.bytes(number, count: message.byteCount)
        let request = PublishRequest(
            topic: TopicTemplate(exactly: message.topic), qos: message.qos, isLatestOnly: message.isLatestOnly,
            properties: properties)
        transcript.append(.offered(number))
        switch message.form {
        case .completion:
            do {
                try client.publish(
                    bytes: payload, to: message.topic, qos: message.qos, retain: false, properties: properties
                ) { result in
                    switch result {
                    case .success: transcript.append(.ended(number, .succeeded))
                    case .failure(let error): transcript.append(.ended(number, .failed(error.code)))
                    }
                }
            } catch {
                transcript.append(.refused(number, Self.code(error)))
            }
        case .nobody:
            do {
                try client.publishMessage(payload, topic: message.topic, qos: message.qos)
            } catch {
                transcript.append(.refused(number, Self.code(error)))
            }
        case .task:
            tasks[number] = Task(executorPreference: executor) { @Sendable in
                do {
                    _ = try await client.publish(payload, as: request)
                    transcript.append(.ended(number, .succeeded))
                } catch {
                    transcript.append(.ended(number, Self.end(error)))
                }
            }
            _ = executor.drain()
        case .enqueue:
            tasks[number] = Task(executorPreference: executor) { @Sendable in
                do {
                    enqueued[number] = try await client.enqueue(payload, as: request)
                } catch is CancellationError {
                    transcript.append(.ended(number, .cancelled))
                } catch {
                    transcript.append(.refused(number, Self.code(error)))
                }
            }
            _ = executor.drain()
        }
    }

    private static func end(_ error: any Error) -> WalkEnd {
        error is CancellationError ? .cancelled : .failed(code(error))
    }

    private static func code(_ error: any Error) -> CourierError.Code {
        (error as? CourierError)?.code ?? .connectionFailed
    }

    // MARK: Time

    /// Advances the time, and stops at each timer.
    private func pass(_ duration: Duration) {
        let end = machine.clock.now + duration
        while let next = machine.clock.nextDeadline, next <= end {
            machine.clock.advance(to: next)
            settle()
        }
        machine.clock.advance(to: end)
    }

    /// Advances the time in one step, as while the machine sleeps.
    private func jump(_ duration: Duration) { machine.clock.advance(to: machine.clock.now + duration) }

    /// Waits until all work that needs no time is done.
    private func settle() {
        while true {
            let reads = store.readCount
            let wakes = machine.clock.waitUntilIdle(machine.loop)
            let count = transcript.count
            queue.sync {}
            queue.sync {}  // The delivery queue may take several turns.
            var work = executor.drain()
            if storeMode == .fast { work += store.complete(.max) }
            if store.readCount > reads { wait { machine.loop.wakeUpCount > wakes } }
            if plan.hasStore { awaitTasks() }
            if work == 0, transcript.count == count, machine.loop.wakeUpCount == wakes { return }
        }
    }

    /// Waits until the short tasks that the client has started are done.
    private func awaitTasks() {
        let done = DispatchSemaphore(value: 0)
        for _ in 0..<2 {
            Task { @Sendable in done.signal() }
            done.wait()
        }
    }

    /// Waits for tasks of the client on other threads. Nothing reports the end of such a task, so this method polls. If the
    /// condition never becomes true, for example because the store has not committed, the method waits for `limit`.
    private func wait(atMost limit: Duration = .milliseconds(200), for condition: () -> Bool) {
        let end = ContinuousClock.now + limit
        while !condition(), ContinuousClock.now < end {
            usleep(20)
            machine.clock.waitUntilIdle(machine.loop)
            queue.sync {}
            _ = executor.drain()
            if storeMode == .fast { _ = store.complete(.max) }
        }
    }

    // MARK: The end

    /// Uses a correct broker, a correct store and enough time.
    private func finish() {
        storeMode = .fast
        broker.refuse(0)
        broker.readAgain()
        broker.setAnswersAtOnce(true)
        connect()
        for _ in 0..<200 {
            settle()
            guard isAnythingOpen else { break }
            // Without a timer, only a task on a busy machine can still end the open calls.
            if machine.clock.nextDeadline == nil {
                wait(atMost: .seconds(5)) { machine.clock.nextDeadline != nil || !isAnythingOpen }
            }
            guard let next = machine.clock.nextDeadline else { break }
            machine.clock.advance(to: next)
        }
        settle()
        transcript.append(.settled)
        transcript.append(.finished)
        client.destroy()
        settle()
    }

    /// True if the end of a message is still missing, as far as the app can see.
    private var isAnythingOpen: Bool {
        var open: Set<Int> = []
        for line in transcript.lines {
            switch line.entry {
            case .offered(let number):
                let form = messages[number].form
                if plan.isListening || form == .completion || form == .task { open.insert(number) }
            case .refused(let number, _), .reported(let number, _): open.remove(number)
            case .ended(let number, _): if !plan.isListening { open.remove(number) }
            case .connected, .sent, .answered, .completed, .stalled, .disconnected, .destroyed, .settled, .finished:
                break
            }
        }
        return !open.isEmpty || store.rowCount > 0
    }
}

/// Returns the same options each time, at once.
private final class WalkProvider: IConnectionServiceProvider {
    let clientId = "walk"
    private let options = ConnectOptions(
        host: "broker.invalid", port: 1_883, keepAlive: 0, clientId: "walk", username: "", password: "")

    var existingConnectOptions: ConnectOptions? { options }

    func getConnectOptions(completion: @escaping @Sendable (Result<ConnectOptions, AuthError>) -> Void) {
        completion(.success(options))
    }
}
