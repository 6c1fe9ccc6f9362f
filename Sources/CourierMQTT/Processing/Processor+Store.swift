import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Stores, loads and acknowledges the messages of a processor.
extension Processor {
    /// Stores a job. On the event loop.
    func store(_ id: JobQueue.JobID) {
        guard let inbox = parts.coordinator.durable?.inbox,
            let job = state.withLock({ $0.queue.jobs[id] }), let received = job.received
        else { return }
        let row = job.plannedRow ?? inbox.nextID()
        state.withLock { $0.queue.jobs[id]?.plannedRow = row }
        let awaits = { [driver = parts.coordinator.driver] in driver.awaitsAcknowledgement($0) }
        inbox.addJob(received, as: row, awaits: awaits) { [name] time in
            StoredJob.State(
                processor: name, deduplicationKey: job.deduplicationKey, lastError: job.lastError,
                stage: job.stage == .parking ? .parked(at: time.date) : .waiting(.zero, since: time))
        } settled: { [self] result in
            settled(.addition(id, row, result))
        }
    }

    /// Stores changes of jobs. On the event loop.
    func write(_ changes: [StoreChange], for id: JobQueue.JobID?) {
        parts.coordinator.durable?.inbox.changeJobs(changes) { [self] result in
            if let id, case .success = result { settled(.removal(id)) }
        }
    }

    /// The result of a commit for one job.
    enum StoreResult: Sendable {
        case addition(JobQueue.JobID, StoredMessage.ID, Result<Void, JobQueue.Refusal>)
        case removal(JobQueue.JobID)
    }

    /// Reports a result at the end of this turn of the event loop, together with the other results of the commit.
    private func settled(_ result: StoreResult) {
        let isFirst = state.withLock { state in
            state.storeResults.append(result)
            return state.storeResults.count == 1
        }
        guard isFirst else { return }
        parts.loop.execute { [self] in
            changeState { state, now, time in
                for result in exchange(&state.storeResults, with: []) {
                    switch result {
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

    /// Acknowledges a message. A message that is only in memory may be of an earlier connection. Then the broker sends
    /// the message again, and the queue recognizes the copy. On the event loop.
    func acknowledge(_ message: ReceivedMessage) {
        if !isStored, case .delivery(let handle)? = message.ticket?.receipt, handle.qos == .atLeastOnce,
            !parts.coordinator.driver.awaitsAcknowledgement(handle)
        {
            perform { queue, _, _ in queue.copies.couldNotAcknowledge(message) }
        }
        message.acknowledge()
    }

    /// Loads the jobs and the handled keys of an earlier process. Repeats this until the store can be read.
    func load(_ scope: StoreScope) {
        guard let store = parts.coordinator.durable?.inbox.store else { return }
        let number: Int? = state.withLock { state in
            guard !state.isLoaded else { return nil }
            state.loadCount += 1
            return state.loadCount
        }
        guard let number else { return }
        Task { [self] in
            do {
                try await load(scope, from: store, number)
            } catch {
                parts.log.log(
                    .warning, source: "processing", clientID: scope.clientID,
                    "The processor \(name.quoted()) cannot load its messages, and tries again: "
                        + CourierError.summary(of: error))
                let timer = LoopTimer(on: parts.loop, after: JobQueue.storePause) { [weak self] in self?.load(scope) }
                state.withLock { $0.loadTimer = timer }
            }
        }
    }

    private func load(_ scope: StoreScope, from store: any MessageStore, _ number: Int) async throws {
        var (jobs, last): ([(job: StoredJob, orderKey: String?)], StoredMessage.ID?) = ([], nil)
        while true {
            let page = try await store.jobs(in: scope, after: last, limit: StoredSession.pageSize)
            for job in page where job.state.processor == name { jobs.append((job, orderKey(of: job))) }
            guard page.count == StoredSession.pageSize else { break }
            last = page.last?.message.id
        }
        let keys = try await store.processedKeys(of: name, in: scope)
        changeState { state, now, time in
            guard state.loadCount == number else { return }
            state.isLoaded = true
            state.queue.restore(keys, now: now, time: time)
            for (job, orderKey) in jobs { state.queue.restore(job, orderKey: orderKey, now: now, time: time) }
        }
    }

    func orderKey(of job: StoredJob) -> String? { (try? work.keys(Message(job.message)))?.order }

    /// Removes all jobs, because the session was destroyed.
    func sessionDestroyed() {
        changeState { state, _, _ in
            state.loadCount += 1
            state.isLoaded = !isStored
            state.queue.reset()
        }
    }
}
