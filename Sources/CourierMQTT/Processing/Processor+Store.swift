import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Stores, loads and acknowledges the messages of a processor.
extension Processor {
    /// The fields of a job for its row.
    private struct NewRow {
        let id: StoredMessage.ID
        let received: ReceivedMessage
        let deduplicationKey: String?
        let lastError: String?
        let isParked: Bool
    }

    /// Stores a job. On the event loop.
    func store(_ id: JobQueue.JobID) {
        guard let inbox = parts.coordinator.durable?.inbox else { return settled(.nothing) }
        let row = state.withLock { state -> NewRow? in
            guard let job = state.queue.jobs[id], let received = job.received else { return nil }
            let row = job.plannedRow ?? inbox.nextID()
            job.plannedRow = row
            return NewRow(
                id: row, received: received, deduplicationKey: job.deduplicationKey, lastError: job.lastError,
                isParked: job.stage == .parking)
        }
        guard let row else { return settled(.nothing) }
        let awaits = { [driver = parts.coordinator.driver] in driver.awaitsAcknowledgement($0) }
        inbox.addJob(row.received, as: row.id, awaits: awaits) { [name] time in
            StoredJob.State(
                processor: name, deduplicationKey: row.deduplicationKey, lastError: row.lastError,
                stage: row.isParked ? .parked(at: time.date) : .waiting(.zero, since: time))
        } settled: { [self] result in
            settled(.addition(id, row.id, result))
        }
    }

    /// Stores changes of jobs. On the event loop.
    func write(_ changes: [StoreChange], for id: JobQueue.JobID?) {
        guard let inbox = parts.coordinator.durable?.inbox else { return settled(.nothing) }
        inbox.changeJobs(changes) { [self] _ in
            // Ignore the result of the commit. The commit fails only if the session was destroyed or the client has
            // ended, and in both cases the job ends, too.
            settled(id.map { .removal($0) } ?? .nothing)
        }
    }

    /// The result of a step that changes the store.
    enum StoreResult: Sendable {
        case addition(JobQueue.JobID, StoredMessage.ID, Result<Void, JobQueue.Refusal>)
        case removal(JobQueue.JobID)
        /// The step has ended, and the queue expects no result.
        case nothing
    }

    /// Reports the result of a step to the queue at the end of this turn of the event loop. The results of all steps in
    /// the same commit are reported together.
    private func settled(_ result: StoreResult) {
        let isFirst = state.withLock { state in
            state.storeResults.append(result)
            return state.storeResults.count == 1
        }
        guard isFirst else { return }
        parts.loop.execute { [self] in
            changeState { state, now in
                let time = time(at: now)
                let results = exchange(&state.storeResults, with: [])
                state.openStoreSteps -= results.count
                for result in results {
                    switch result {
                    case .nothing: break
                    case .addition(let id, let row, .success): state.queue.stored(id, as: row, now: now, time: time)
                    case .addition(let id, _, .failure(let refusal)):
                        state.queue.notStored(id, refusal, now: now, time: time)
                    case .removal(let id): state.queue.recorded(id, now: now)
                    }
                }
            }
        }
    }

    /// Reads the message of a job. On the event loop.
    func loadMessage(_ id: JobQueue.JobID, _ row: StoredMessage.ID) {
        guard let durable = parts.coordinator.durable, let scope = durable.inbox.scope else {
            return perform { queue, now, _ in queue.notLoaded(id, now: now) }
        }
        Task { [store = durable.inbox.store] in
            do {
                let job = try await store.job(row, in: scope)
                perform { queue, now, _ in queue.loaded(id, job.map { Message($0.message) }, now: now) }
            } catch {
                perform { queue, now, _ in queue.notLoaded(id, now: now) }
            }
        }
    }

    /// Acknowledges a message. If jobs are only in memory, a QoS 1 message may have arrived on an earlier connection.
    /// Such a message cannot be acknowledged. Therefore, the broker sends the message again, and the queue recognizes
    /// the copy. On the event loop.
    func acknowledge(_ message: ReceivedMessage) {
        if !isStored, case .delivery(let handle)? = message.ticket?.receipt, handle.qos == .atLeastOnce,
            !parts.coordinator.driver.awaitsAcknowledgement(handle)
        {
            perform { queue, _, _ in queue.copies.couldNotAcknowledge(message) }
        }
        message.acknowledge()
    }

    // MARK: Jobs of an earlier process

    /// The progress of a load.
    private struct Load: Sendable {
        let scope: StoreScope
        /// The number of this load; see ``State/loadCount``.
        let number: Int
        /// True if the handled keys are loaded.
        var hasKeys = false
        /// The id of the last row that was loaded; `nil` before the first page.
        var last: StoredMessage.ID?
    }

    /// Loads the handled keys and the jobs of an earlier process, page by page. If the store cannot be read, tries
    /// again after a pause. Does nothing if the jobs of this scope are already being loaded. On the event loop.
    func load(_ scope: StoreScope) {
        let number: Int? = state.withLock { state in
            guard state.queue.isLoading, !state.queue.isStopped, state.loadedScope != scope else { return nil }
            state.loadedScope = scope
            state.loadCount += 1
            return state.loadCount
        }
        if let number { proceed(with: Load(scope: scope, number: number)) }
    }

    private func proceed(with load: Load) {
        guard let store = parts.coordinator.durable?.inbox.store else { return }
        Task { [self] in
            var load = load
            do {
                while try await loadPage(&load, from: store) {}
            } catch {
                repeatLater(load, after: error)
            }
        }
    }

    /// Repeats a load after a pause, because the store could not be read. Does nothing if the processor has stopped, or
    /// if another load has begun.
    private func repeatLater(_ load: Load, after error: any Error) {
        let isRepeated = state.withLock { state in
            guard isCurrent(load, state) else { return false }
            state.loadTimer = LoopTimer(on: parts.loop, after: JobQueue.storePause) { [self] in proceed(with: load) }
            return true
        }
        guard isRepeated else { return }
        parts.log.log(
            .warning, source: "processing", clientID: load.scope.clientID,
            "The processor \(name.quoted()) cannot load its messages, and tries again: "
                + CourierError.summary(of: error))
    }

    private func isCurrent(_ load: Load, _ state: borrowing State) -> Bool {
        state.loadCount == load.number && !state.queue.isStopped
    }

    /// Loads the next page of jobs. Before the first page, also loads the handled keys. Returns `false` if no further
    /// page must be loaded.
    private func loadPage(_ load: inout Load, from store: any MessageStore) async throws -> Bool {
        let keys = load.hasKeys ? [] : try await store.processedKeys(of: name, in: load.scope)
        let page = try await store.jobs(in: load.scope, after: load.last, limit: StoredSession.pageSize)
        let jobs = page.filter { $0.state.processor == name }.map { (job: $0, orderKey: orderKey(of: $0)) }
        var isMore = page.count == StoredSession.pageSize
        changeState { [load] state, now in
            guard isCurrent(load, state) else {
                isMore = false
                return
            }
            let time = time(at: now)
            state.queue.restore(keys, now: now, time: time)
            for (job, orderKey) in jobs { state.queue.restore(job, orderKey: orderKey, now: now, time: time) }
            if !isMore { state.queue.endLoading(now: now) }
        }
        (load.hasKeys, load.last) = (true, page.last?.message.id)
        return isMore
    }

    func orderKey(of job: StoredJob) -> String? { (try? work.keys(Message(job.message)))?.order }

    /// Removes all jobs, because the session was destroyed.
    func sessionDestroyed() {
        var timer: LoopTimer?
        changeState { state, _ in
            timer = exchange(&state.loadTimer, with: nil)
            state.loadCount += 1
            state.loadedScope = nil
            // Remove the changes that are not written yet, because a row of the next session may have the same id as a
            // row of this session.
            let stepCount = state.loopSteps.count
            state.loopSteps.removeAll { if case .write = $0 { true } else { false } }
            state.openStoreSteps -= stepCount - state.loopSteps.count
            state.queue.reset()
            state.queue.isLoading = isStored
        }
        timer?.cancel()
        // The store has no parked messages any more. Therefore, callers of `isLoaded()` need not wait for the next
        // load.
        for waiter in state.withLock({ exchange(&$0.loaded, with: []) }) { waiter.resume(.success(())) }
    }
}
