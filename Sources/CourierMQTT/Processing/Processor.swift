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

    /// A message that has arrived, and its keys.
    private struct Arrival {
        let message: ReceivedMessage
        var keys: (order: String?, deduplication: String?) = (nil, nil)
        /// The error if no adapter can decode the message.
        var problem: (any Error)?

        init(_ message: ReceivedMessage, _ work: Work) {
            self.message = message
            do { keys = try work.keys(message.message()) } catch { problem = error }
        }
    }

    struct State {
        var queue: JobQueue
        /// The results of the store that are not reported to the queue yet. The results of one commit are reported
        /// together.
        var storeResults: [StoreResult] = []
        /// The steps that the event loop performs in its next turn, in order.
        var loopSteps: [JobQueue.Step] = []
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
        /// The messages to leave when the last handler has returned after a stop; `nil` before the stop, and afterwards.
        var left: JobQueue.Left?
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
        grant = Task { try await granted.value() }
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

    func subscribed() async throws {
        try await client.withLock { $0 }?.connected(timeout: nil)
        try await grant.value
    }

    var now: ContinuousClock.Instant { parts.loop.clock.now }
    var time: StoreTime { parts.storeClock.time(at: now) }

    // MARK: Reading

    private func read() async {
        while await waitForRoom() {
            switch registration.queue.take(atMost: 64) {
            case .messages(let slices):
                let arrivals = slices.joined().map { Arrival($0, work) }
                perform { [registration] queue, now, time in
                    for arrival in arrivals {
                        // After a stop, the messages that are not claimed go to the next reader.
                        guard !queue.isStopped, registration.queue.claim() else { break }
                        queue.arrived(
                            arrival.message, orderKey: arrival.keys.order, deduplicationKey: arrival.keys.deduplication,
                            problem: arrival.problem, now: now, time: time)
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

    /// Changes the state, starts handlers, and passes the other steps to the event loop. From any thread.
    ///
    /// Each handled message needs a change, so a change takes the lock once, and calls the loop only if the loop does
    /// not perform steps anyway.
    func changeState(_ change: (inout State, ContinuousClock.Instant, StoreTime) -> Void) {
        let now = now
        let time = parts.storeClock.time(at: now)
        let effects = state.withLock { state in
            change(&state, now, time)
            return takeEffects(&state)
        }
        if effects.mustCallLoop { parts.loop.execute { [self] in performSteps() } }
        effects.oldTimer?.cancel()
        effects.reader?.resume(.success(()))
        for waiter in effects.idle { waiter.resume(.success(())) }
    }

    /// The effects of a change that must happen after the lock is released.
    private struct Effects: Sendable {
        var mustCallLoop = false
        /// The timer that an earlier one replaces.
        var oldTimer: LoopTimer?
        /// The waiters to resume; see ``State``.
        var reader: Waiter<Void>?
        var idle: [Waiter<Void>] = []
    }

    private func takeEffects(_ state: inout State) -> Effects {
        var effects = Effects()
        let isLoopCalled = !state.loopSteps.isEmpty
        for step in state.queue.takeSteps() {
            if case .start(let id) = step { start(id, &state) } else { state.loopSteps.append(step) }
        }
        effects.mustCallLoop = !isLoopCalled && !state.loopSteps.isEmpty
        effects.oldTimer = setTimer(&state)
        if state.reader != nil, state.queue.isStopped || state.isLoaded && state.queue.hasRoom {
            effects.reader = exchange(&state.reader, with: nil)
        }
        if !state.idle.isEmpty, state.queue.isIdle { effects.idle = exchange(&state.idle, with: []) }
        return effects
    }

    /// Sets the timer for the next time of the queue. Returns the timer that it replaces.
    private func setTimer(_ state: inout State) -> LoopTimer? {
        guard let next = state.queue.nextWake else { return nil }
        if let timer = state.timer, timer.at <= next { return nil }
        let old = state.timer?.timer
        let delay = parts.loop.clock.now.duration(to: next)
        state.timer = (LoopTimer(on: parts.loop, after: max(.zero, delay)) { [weak self] in self?.woke() }, next)
        return old
    }

    /// Performs the steps of the event loop.
    private func performSteps() {
        for step in state.withLock({ exchange(&$0.loopSteps, with: []) }) {
            switch step {
            case .start: break
            case .cancel(let id): cancel(id)
            case .store(let id): store(id)
            case .load(let id, let row): loadMessage(id, row)
            case .write(let changes, let id): write(changes, for: id)
            case .acknowledge(let message): acknowledge(message)
            case .tell(let event): parts.coordinator.tell(event)
            }
        }
    }

    private func woke() {
        state.withLock { $0.timer = nil }
        perform { queue, now, time in queue.wake(now: now, time: time) }
    }

    // MARK: Handlers

    private func start(_ id: JobQueue.JobID, _ state: inout State) {
        guard let job = state.queue.jobs[id], let message = job.message else { return }
        let context = ProcessingContext(
            message: message, attempt: job.attempts + 1, firstReceived: job.receivedAt.date, lastError: job.lastError)
        state.running[id] = Task { [self] in
            let outcome = await work.handle(message, context)
            var left: JobQueue.Left?
            changeState { state, now, time in
                state.running[id] = nil
                let result = outcome.explained(
                    isStopping: state.isCancelling, wasOverdue: state.overdue.remove(id) != nil,
                    state.queue.settings.handlerTimeout)
                let random = Double.random(in: 0...1, using: &state.random)
                state.queue.finished(id, result, now: now, time: time, random: random)
                if state.running.isEmpty { left = exchange(&state.left, with: nil) }
            }
            if let left { parts.processors.remove(self, leaving: left) }
        }
    }

    /// Cancels a handler that takes too long, if it still runs.
    private func cancel(_ id: JobQueue.JobID) {
        let task = state.withLock { state in
            if state.running[id] != nil { state.overdue.insert(id) }
            return state.running[id]
        }
        task?.cancel()
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
