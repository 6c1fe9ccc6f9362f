import CourierCore
import CourierTransport
import Foundation
import MQTTEngine
import Synchronization

/// Reads the messages of a topic, stores them as jobs, and runs their handlers. A ``JobQueue`` decides what happens
/// next.
final class Processor: MessageProcessor {
    /// The parts of a processor that depend on the type of its values.
    struct Work: Sendable {
        /// Returns the order key and the deduplication key of a message. Throws if no adapter can decode the message.
        let keys: @Sendable (Message) throws -> (order: String?, deduplication: String?)
        /// Decodes the message of the context, and calls the handler.
        let handle: @Sendable (ProcessingContext) async -> JobQueue.Outcome
    }

    struct State {
        var queue: JobQueue
        /// The results of the store that are not reported to the queue yet. The results of one commit are reported
        /// together.
        var storeResults: [StoreResult] = []
        /// The number of steps that change the store, and whose results are not reported to the queue yet.
        var openStoreSteps = 0
        /// The steps that the event loop performs in its next turn, in order.
        var loopSteps: [JobQueue.Step] = []
        /// The jobs whose handlers must start, in order. The workers take them.
        var starting = FirstInFirstOut<JobQueue.JobID>()
        var workers: [Worker] = []
        /// True if the newest worker has not begun yet.
        var hasNewWorker = false
        var timer: (timer: LoopTimer, at: JobQueue.Instant)?
        /// The task that reads messages.
        var reading: Task<Void, Never>?
        /// Resumes the reading task when the queue has room.
        var reader: Waiter<Void>?
        /// Waiters to resume when the processor is settled; see ``isSettled``.
        var idle: [Waiter<Void>] = []
        /// Waiters to resume when the jobs of an earlier process are loaded, or when the processor is stopped.
        var loaded: [Waiter<Void>] = []
        /// The scope whose jobs are being loaded, or were loaded; `nil` before the store was opened.
        var loadedScope: StoreScope?
        /// The number of loads that were started. The result of an earlier load is ignored.
        var loadCount = 0
        /// The task that ends the subscription; `nil` before the stop.
        var closing: Task<Void, Never>?
        /// The timer that loads the jobs again after the store failed.
        var loadTimer: LoopTimer?
        /// True from the end of the subscription until the processor has left the ``ProcessorList``. It leaves when it is
        /// settled.
        var mustLeave = false
        /// True if the running handlers are cancelled because the processor stops.
        var isCancelling = false
        /// The jobs whose handlers were cancelled because they took too long.
        var overdue: Set<JobQueue.JobID> = []
        var random: JitterSource

        /// The number of handlers that run or must start.
        var handlerCount: Int { starting.count + workers.count { $0.job != nil } }

        /// True if no handler runs, and all changes are stored or refused. After a stop, another processor may then
        /// take the name and load the jobs.
        var isSettled: Bool { handlerCount == 0 && openStoreSteps == 0 }
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
    /// The priority of the task that has started the processor. Handlers run with this priority.
    let priority: TaskPriority

    init(
        _ settings: JobQueue.Settings, number: Int, _ work: Work, of client: MQTTClient, _ request: SubscriptionRequest
    ) {
        name = settings.processor
        self.work = work
        parts = client.parts
        isStored = settings.isStored
        priority = Task.currentPriority
        self.client = Mutex(client)
        var queue = JobQueue(settings, firstID: number << 40)
        queue.isLoading = settings.isStored
        state = Mutex(State(queue: queue, random: JitterSource(seed: UInt64.random(in: 0...UInt64.max))))
        let granted = Waiter<Void>(parts.waiterCount)
        registration = parts.readers.registration(request, grant: granted)
        grant = Task { try await granted.value() }
    }

    /// Begins to read and to handle messages. If the store is open, its jobs are loaded first.
    func start(_ request: SubscriptionRequest) {
        if isStored {
            parts.loop.execute { [self] in
                if let durable = parts.coordinator.durable, durable.isOpen, let scope = durable.scope { load(scope) }
            }
        }
        // Stop the processor when the subscription ends without an error. The reading task may not see this end while
        // it waits for room. This closure keeps the processor in memory until `close()` removes the closure.
        registration.whenEnded { [self] in Task { await stop() } }
        parts.loop.execute { [parts, registration] in parts.coordinator.opened(registration, request) }
        let reading = Task { await read() }
        // An earlier processor with this name may have left messages behind. This call also starts their handlers.
        changeState { state, _ in state.reading = reading }
    }

    var metrics: ProcessorMetrics { state.withLock { $0.queue.metrics(time: time) } }

    func subscribed() async throws {
        try await client.withLock { $0 }?.connected(timeout: nil)
        try await grant.value
    }

    var now: JobQueue.Instant { JobQueue.Instant(parts.loop.clock.now) }
    var time: StoreTime { time(at: now) }

    func time(at now: JobQueue.Instant) -> StoreTime { parts.storeClock.time(at: now.instant) }

    // MARK: Reading

    /// The job of a message that has arrived, and the error if no adapter can decode the message.
    private typealias Arrival = (job: JobQueue.Job, problem: (any Error)?)

    private func read() async {
        var arrivals = FirstInFirstOut<Arrival>()
        while let room = await waitForRoom() {
            if arrivals.count == 0 {
                switch registration.queue.take(atMost: min(room, 64), areClaimed: true) {
                case .messages(let slices):
                    let time = time
                    for message in slices.joined() { arrivals.append(arrival(of: message, at: time)) }
                case .nothing:
                    let waiter = Waiter<Void>(parts.waiterCount)
                    if registration.queue.wake({ waiter.resume(.success(())) }) { try? await waiter.value() }
                    continue
                case .ended(let error): return ended(error)
                }
            }
            perform { [registration] queue, now, time in
                // A message becomes a job only after it was claimed from the reader's queue. If the processor was
                // stopped, `hasRoom` is false, and the remaining messages stay unclaimed. `close()` passes the
                // unclaimed messages to the next reader.
                while queue.hasRoom, arrivals.count > 0, registration.queue.claim(), let next = arrivals.removeFirst() {
                    queue.arrived(next.job, problem: next.problem, now: now, time: time)
                }
            }
        }
    }

    private func arrival(of message: ReceivedMessage, at time: StoreTime) -> Arrival {
        do {
            let keys = try work.keys(message.message())
            return (JobQueue.Job(message, keys.order, keys.deduplication, receivedAt: time), nil)
        } catch {
            return (JobQueue.Job(message, nil, nil, receivedAt: time), error)
        }
    }

    /// Waits until the queue has room, and returns the number of messages that may arrive. Returns `nil` if the
    /// processor has stopped.
    private func waitForRoom() async -> Int? {
        while true {
            let (room, waiter) = state.withLock { state -> (Int?, Waiter<Void>?) in
                if state.queue.isStopped { return (nil, nil) }
                if state.queue.hasRoom { return (state.queue.room, nil) }
                let waiter = Waiter<Void>(parts.waiterCount)
                state.reader = waiter
                return (nil, waiter)
            }
            guard let waiter else { return room }
            try? await waiter.value()
        }
    }

    /// Handles the end of the subscription. If the subscription has failed, for example because the broker refused it,
    /// `error` is the reason. If the client was shut down, `error` is `nil`, and the closure in `start()` stops the
    /// processor.
    private func ended(_ error: CourierError?) {
        if let error { perform { queue, _, _ in queue.refused(error.message) } }
    }

    // MARK: Steps

    /// Changes the queue, and performs the steps that follow from the change. From any thread.
    func perform(_ change: (inout JobQueue, JobQueue.Instant, StoreTime) -> Void) {
        changeState { change(&$0.queue, $1, time(at: $1)) }
    }

    /// Changes the state, starts handlers, and passes the other steps to the event loop. From any thread.
    ///
    /// The function must be fast, because it is called for each handled message. Therefore, it takes the lock only
    /// once. It also calls the event loop only if the loop was not called before for steps that are still to be
    /// performed.
    func changeState(_ change: (inout State, JobQueue.Instant) -> Void) {
        let now = now
        let effects = state.withLock { state in
            let isLoopCalled = !state.loopSteps.isEmpty
            change(&state, now)
            takeSteps(&state)
            return takeEffects(&state, now, isLoopCalled)
        }
        if effects.mustCallLoop { parts.loop.execute { [self] in performSteps() } }
        effects.oldTimer?.cancel()
        effects.reader?.resume(.success(()))
        for waiter in effects.waiters { waiter.resume(.success(())) }
        if let left = effects.left { parts.processors.remove(self, leaving: left) }
    }

    /// The effects of a change that must happen after the lock is released.
    private struct Effects: Sendable {
        var mustCallLoop = false
        /// The timer to cancel, because a timer that fires earlier has replaced it; `nil` if no timer was replaced.
        var oldTimer: LoopTimer?
        /// The waiter of the reading task, if it must be resumed; see ``State/reader``.
        var reader: Waiter<Void>?
        /// The other waiters to resume, from ``State/idle`` and ``State/loaded``.
        var waiters: [Waiter<Void>] = []
        /// The messages that the stopped processor leaves behind in memory; `nil` while it still works, or while one of
        /// its handlers or store changes has not ended.
        var left: JobQueue.Left?
    }

    /// Moves the steps of the queue into `starting` and `loopSteps`. Called under the lock.
    func takeSteps(_ state: inout State) {
        for index in state.queue.steps.indices {
            let step = state.queue.steps[index]
            if case .start(let id) = step {
                state.starting.append(id)
            } else {
                if step.changesStore { state.openStoreSteps += 1 }
                state.loopSteps.append(step)
            }
        }
        state.queue.steps.removeAll(keepingCapacity: state.queue.steps.count < 1_024)
    }

    private func takeEffects(_ state: inout State, _ now: JobQueue.Instant, _ isLoopCalled: Bool) -> Effects {
        var effects = Effects()
        addWorker(&state)
        effects.mustCallLoop = !isLoopCalled && !state.loopSteps.isEmpty
        effects.oldTimer = setTimer(&state)
        if state.reader != nil, state.queue.isStopped || state.queue.hasRoom {
            effects.reader = exchange(&state.reader, with: nil)
        }
        if !state.idle.isEmpty, state.isSettled { effects.waiters = exchange(&state.idle, with: []) }
        if !state.loaded.isEmpty, state.queue.isStopped || !state.queue.isLoading {
            effects.waiters += exchange(&state.loaded, with: [])
        }
        if state.mustLeave, state.isSettled {
            state.mustLeave = false
            effects.left = state.queue.takeLeft(now: now)
        }
        return effects
    }

    /// Sets the timer for the next time of the queue. Returns the timer that it replaces.
    ///
    /// The timer keeps the processor in memory until the processor stops. The timer has no weak reference to the
    /// processor, because a weak reference would make each other reference to the processor slower.
    private func setTimer(_ state: inout State) -> LoopTimer? {
        guard state.closing == nil, let next = state.queue.nextWake else { return nil }
        if let timer = state.timer, timer.at <= next { return nil }
        let old = state.timer?.timer
        let delay = now.duration(to: next)
        state.timer = (LoopTimer(on: parts.loop, after: max(.zero, delay)) { [self] in woke() }, next)
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
            case .giveBack(let message): parts.coordinator.closed(registration, [message])
            case .tell(let event): parts.coordinator.tell(event)
            }
        }
    }

    private func woke() {
        state.withLock { $0.timer = nil }
        perform { queue, now, time in queue.wake(now: now, time: time) }
    }
}
