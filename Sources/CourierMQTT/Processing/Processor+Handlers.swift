import CourierCore
import Synchronization

/// Runs the handlers of a processor.
///
/// A worker is a task that runs handlers, one after the other, until no handler must start. Therefore, most messages
/// need no task of their own. When a new worker begins to run, it adds the next worker if another handler must start.
/// So each further worker is added only after the app had a free thread for the worker before it.
extension Processor {
    /// A worker and its job.
    ///
    /// Safe to share between threads: it is used under the lock of its processor only.
    final class Worker: @unchecked Sendable {
        var task: Task<Void, Never>?
        /// The job whose handler runs; `nil` before the first handler.
        var job: JobQueue.JobID?
    }

    /// A handler to start.
    private struct Start {
        let context: ProcessingContext
        /// True if the handler was cancelled before it started.
        let isCancelled: Bool
    }

    /// The largest number of handlers that a worker runs, 64. Then another worker follows, so that other tasks of the
    /// app can run in between.
    private static let handlersPerWorker = 64

    /// The processor whose handler runs in the current task.
    @TaskLocal static var current: ObjectIdentifier?

    /// Adds a worker if a handler must start and no new worker will start it. Called under the lock.
    func addWorker(_ state: inout State) {
        guard state.starting.count > 0, !state.hasNewWorker else { return }
        state.hasNewWorker = true
        let worker = Worker()
        // Use a detached task, because it has no task-local values. Another task would inherit the values of the caller
        // that adds this worker.
        worker.task = Task.detached(priority: priority) { [self] in
            await Self.$current.withValue(ObjectIdentifier(self)) { await work(worker) }
        }
        state.workers.append(worker)
    }

    private func work(_ worker: Worker) async {
        var start: Start?
        changeState { state, now in
            state.hasNewWorker = false
            start = nextStart(of: worker, &state, now)
        }
        var count = 0
        while let next = start {
            // If the handler is cancelled, cancel the task of this worker. This affects no other handler, because the
            // worker ends after a cancelled handler.
            if next.isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            let outcome = await work.handle(next.context)
            count += 1
            // If the handler has cancelled the task of its worker, the worker ends, because a cancelled task stays
            // cancelled.
            start = finished(outcome, worker, isLast: count == Self.handlersPerWorker || Task.isCancelled)
        }
    }

    /// Reports the result of a handler, and returns the next handler of the worker. Returns `nil` if the worker ends.
    private func finished(_ outcome: JobQueue.Outcome, _ worker: Worker, isLast: Bool) -> Start? {
        var start: Start?
        changeState { state, now in
            guard let id = worker.job else { return }
            let isOverdue = !state.overdue.isEmpty && state.overdue.remove(id) != nil
            let result = outcome.explained(
                isStopping: state.isCancelling, wasOverdue: isOverdue, state.queue.settings.handlerTimeout)
            let random = result.isHandled ? 0 : Double.random(in: 0...1, using: &state.random)
            state.queue.finished(id, result, now: now, time: time(at: now), random: random)
            takeSteps(&state)
            worker.job = nil
            // The worker ends after a cancelled handler, because its task stays cancelled, and later handlers would be
            // cancelled, too.
            if isLast || isOverdue || state.isCancelling {
                state.workers.removeAll { $0 === worker }
            } else {
                start = nextStart(of: worker, &state, now)
            }
        }
        return start
    }

    /// Returns the next handler of a worker. If no handler must start, returns `nil` and removes the worker. Called
    /// under the lock.
    private func nextStart(of worker: Worker, _ state: inout State, _ now: JobQueue.Instant) -> Start? {
        while let id = state.starting.removeFirst() {
            let isCancelled = state.isCancelling || !state.overdue.isEmpty && state.overdue.contains(id)
            if let job = state.queue.jobs[id], let message = job.message {
                worker.job = id
                let context = ProcessingContext(
                    message: message, attempt: job.attempts + 1, firstReceived: job.receivedAt.date,
                    lastError: job.lastError)
                return Start(context: context, isCancelled: isCancelled)
            }
            // The job or its message does not exist any more: the session was destroyed, or the message was passed to
            // the next reader. Start no handler for this job.
            state.overdue.remove(id)
            state.queue.finished(id, .stopped, now: now, time: time(at: now), random: 0)
            takeSteps(&state)
        }
        state.workers.removeAll { $0 === worker }
        return nil
    }

    /// Cancels a handler that takes too long, if it still runs.
    func cancel(_ id: JobQueue.JobID) {
        let task = state.withLock { state -> Task<Void, Never>? in
            let worker = state.workers.first { $0.job == id }
            // After an overdue handler, its worker runs no other handler. Therefore, the worker's task can be cancelled
            // after the lock is released, and no other handler is affected.
            if worker != nil || state.starting.waiting.contains(id) { state.overdue.insert(id) }
            return worker?.task
        }
        task?.cancel()
    }
}

extension JobQueue.Outcome {
    fileprivate var isHandled: Bool { if case .handled = self { true } else { false } }

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
