import CourierCore
import CourierTransport
import Foundation
import Synchronization

/// Reads the messages of a topic, stores them as jobs, and runs their handlers. A ``JobQueue`` decides what happens
/// next.
final class Processor: MessageProcessor {
    /// The parts of a processor that depend on the type of its values.
    struct Work: Sendable {
        /// Returns the order key and the deduplication key of a message. Throws if no adapter can decode the message.
        let keys: @Sendable (Message) throws -> (order: String?, deduplication: String?)
        /// Decodes a message, and calls the handler.
        let handle: @Sendable (Message, ProcessingContext) async -> JobQueue.Outcome
    }

    struct State {
        var queue: JobQueue
        /// True while a thread performs steps. It also performs the steps that other threads add meanwhile.
        var isPerforming = false
        var running: [JobQueue.JobID: Task<Void, Never>] = [:]
        var timer: (timer: LoopTimer, at: ContinuousClock.Instant)?
        /// The task that reads messages.
        var reading: Task<Void, Never>?
        /// Resumes the reading task when the queue has room.
        var reader: Waiter<Void>?
        /// Called when all handlers have returned and all messages are stored.
        var idle: [Waiter<Void>] = []
        /// True if the jobs of an earlier process are loaded, or if there is no store.
        var isLoaded: Bool
        /// The number of loads that were started. The result of an earlier load is ignored.
        var loadCount = 0
        /// The timer that loads the jobs again after the store failed.
        var loadTimer: LoopTimer?
        /// True if the running handlers are cancelled because the processor stops.
        var isCancelling = false
        /// The jobs whose handlers were cancelled because they took too long.
        var overdue: Set<JobQueue.JobID> = []
        var random: JitterSource
    }

    let name: String
    let work: Work
    let parts: ClientParts
    let registration: ReaderRegistration
    let grant: Task<Void, any Error>
    let state: Mutex<State>
    /// Keeps the client alive until the processor has stopped.
    let client: Mutex<MQTTClient?>
    let isStored: Bool

    init(
        _ settings: JobQueue.Settings, number: Int, _ work: Work, of client: MQTTClient, _ request: SubscriptionRequest
    ) {
        name = settings.processor
        self.work = work
        parts = client.parts
        isStored = settings.isStored
        self.client = Mutex(client)
        state = Mutex(
            State(
                queue: JobQueue(settings, firstID: number << 40), isLoaded: !settings.isStored,
                random: JitterSource(seed: UInt64.random(in: 0...UInt64.max))))
        let granted = Waiter<Void>(parts.waiterCount)
        registration = parts.readers.registration(request, grant: granted)
        grant = Task { [weak client] in
            try await client?.connected(timeout: nil)
            try await granted.value()
        }
        parts.loop.execute { [parts, registration] in parts.coordinator.opened(registration, request) }
    }

    /// Begins to read and to handle messages. If the store is open, its jobs are loaded first.
    func start() {
        if isStored {
            parts.loop.execute { [self] in
                if let durable = parts.coordinator.durable, durable.isOpen, let scope = durable.scope { load(scope) }
            }
        }
        let reading = Task { await read() }
        state.withLock { $0.reading = reading }
    }

    var metrics: ProcessorMetrics { state.withLock { $0.queue.metrics(time: time) } }

    func subscribed() async throws { try await grant.value }

    var now: ContinuousClock.Instant { parts.loop.clock.now }
    var time: StoreTime { parts.storeClock.time(at: now) }

    // MARK: Reading

    private func read() async {
        while await waitForRoom() {
            switch registration.queue.take(atMost: 1) {
            case .messages(let slices):
                for slice in slices {
                    for message in slice {
                        _ = registration.queue.claim()
                        arrived(message)
                    }
                }
            case .nothing:
                let waiter = Waiter<Void>(parts.waiterCount)
                if registration.queue.wake({ waiter.resume(.success(())) }) { try? await waiter.value() }
            case .ended(let error): return ended(error)
            }
        }
    }

    /// Waits until the queue has room. Returns `false` if the processor has stopped.
    private func waitForRoom() async -> Bool {
        while true {
            let waiter: Waiter<Void>? = state.withLock { state in
                if state.queue.isStopped || state.isLoaded && state.queue.hasRoom { return nil }
                let waiter = Waiter<Void>(parts.waiterCount)
                state.reader = waiter
                return waiter
            }
            guard let waiter else { return state.withLock { !$0.queue.isStopped } }
            try? await waiter.value()
        }
    }

    private func arrived(_ received: ReceivedMessage) {
        do {
            let keys = try work.keys(received.message())
            perform { queue, now, time in
                queue.arrived(
                    received, orderKey: keys.order, deduplicationKey: keys.deduplication, problem: nil, now: now,
                    time: time)
            }
        } catch {
            perform { queue, now, time in
                queue.arrived(
                    received, orderKey: nil, deduplicationKey: nil, problem: error, now: now, time: time)
            }
        }
    }

    /// Handles the end of the subscription: the broker has refused it, or the client was shut down.
    private func ended(_ error: CourierError?) {
        if let error {
            perform { queue, _, _ in queue.refused(error.message) }
        } else {
            Task { await stop() }
        }
    }

    // MARK: Steps

    /// Changes the queue, and performs the steps that follow from the change. From any thread.
    func perform(_ change: (inout JobQueue, ContinuousClock.Instant, StoreTime) -> Void) {
        changeState { change(&$0.queue, $1, $2) }
    }

    /// Changes the state, and performs the steps that follow from the change. From any thread.
    func changeState(_ change: (inout State, ContinuousClock.Instant, StoreTime) -> Void) {
        let (now, time) = (now, time)
        let mustPerform = state.withLock { state in
            change(&state, now, time)
            defer { state.isPerforming = true }
            return !state.isPerforming
        }
        guard mustPerform else { return }
        while true {
            let steps: [JobQueue.Step]? = state.withLock { state in
                let steps = state.queue.takeSteps()
                state.isPerforming = !steps.isEmpty
                return steps.isEmpty ? nil : steps
            }
            guard let steps else { break }
            for step in steps { perform(step) }
        }
        setTimer()
        wakeWaiters()
    }

    private func perform(_ step: JobQueue.Step) {
        switch step {
        case .start(let id): start(id)
        case .cancel(let id):
            state.withLock { state -> Task<Void, Never>? in
                guard let task = state.running[id] else { return nil }
                state.overdue.insert(id)
                return task
            }?.cancel()
        case .store(let id): parts.loop.execute { [self] in store(id) }
        case .load(let id, let row): loadMessage(id, row)
        case .write(let changes, let id): parts.loop.execute { [self] in write(changes, for: id) }
        case .acknowledge(let message): acknowledge(message)
        case .tell(let event): parts.loop.execute { [parts] in parts.coordinator.tell(event) }
        }
    }

    private func wakeWaiters() {
        let (reader, idle) = state.withLock { state -> (Waiter<Void>?, [Waiter<Void>]) in
            let mayRead = state.queue.isStopped || state.isLoaded && state.queue.hasRoom
            let reader = mayRead ? exchange(&state.reader, with: nil) : nil
            let isDone = !state.idle.isEmpty && state.queue.isIdle
            return (reader, isDone ? exchange(&state.idle, with: []) : [])
        }
        reader?.resume(.success(()))
        for waiter in idle { waiter.resume(.success(())) }
    }

    private func setTimer() {
        let old: LoopTimer? = state.withLock { state in
            guard let next = state.queue.nextWake else { return nil }
            if let timer = state.timer, timer.at <= next { return nil }
            let old = state.timer?.timer
            let delay = parts.loop.clock.now.duration(to: next)
            state.timer = (LoopTimer(on: parts.loop, after: max(.zero, delay)) { [weak self] in self?.woke() }, next)
            return old
        }
        old?.cancel()
    }

    private func woke() {
        state.withLock { $0.timer = nil }
        perform { queue, now, time in queue.wake(now: now, time: time) }
    }

    // MARK: Handlers

    private func start(_ id: JobQueue.JobID) {
        state.withLock { state in
            guard let job = state.queue.jobs[id], let message = job.message else { return }
            let context = ProcessingContext(
                message: message, attempt: job.attempts + 1, firstReceived: job.receivedAt.date,
                lastError: job.lastError)
            state.running[id] = Task { [self] in
                let outcome = await work.handle(message, context)
                changeState { state, now, time in
                    state.running[id] = nil
                    let result = outcome.explained(
                        isStopping: state.isCancelling, wasOverdue: state.overdue.remove(id) != nil,
                        state.queue.settings.handlerTimeout)
                    let random = Double.random(in: 0...1, using: &state.random)
                    state.queue.finished(id, result, now: now, time: time, random: random)
                }
            }
        }
    }
}

extension JobQueue.Outcome {
    /// Replaces a `CancellationError` by the reason of the cancellation.
    fileprivate func explained(isStopping: Bool, wasOverdue: Bool, _ timeout: Duration) -> Self {
        guard case .failed(let error) = self, error is CancellationError else { return self }
        if wasOverdue {
            return .failed(
                CourierError(
                    .timedOut,
                    "The handler was cancelled, because it took longer than \(timeout). "
                        + "Make the handler faster, or raise handlerTimeout of the policy."))
        }
        return isStopping ? .stopped : self
    }
}
