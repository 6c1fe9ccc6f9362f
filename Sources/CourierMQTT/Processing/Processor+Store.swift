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
        let queue = state.withLock(\.queue.settings)
        let awaits = { [driver = parts.coordinator.driver] in driver.awaitsAcknowledgement($0) }
        inbox.addJob(received, as: row, awaits: awaits) { time in
            StoredJob.State(
                processor: queue.processor, deduplicationKey: job.deduplicationKey, lastError: job.lastError,
                stage: job.stage == .parking ? .parked(at: time.date) : .waiting(.zero, since: time))
        } settled: { [self] result in
            perform { queue, now, time in
                switch result {
                case .success: queue.stored(id, as: row, now: now, time: time)
                case .failure(let refusal): queue.notStored(id, refusal, now: now, time: time)
                }
            }
        }
    }

    /// Stores changes of jobs. On the event loop.
    func write(_ changes: [StoreChange], for id: JobQueue.JobID?) {
        parts.coordinator.durable?.inbox.changeJobs(changes) { [self] result in
            if let id, case .success = result { perform { queue, now, _ in queue.recorded(id, now: now) } }
        }
    }

    func loadMessage(_ id: JobQueue.JobID, _ row: StoredMessage.ID) {
        parts.loop.execute { [self] in
            guard let durable = parts.coordinator.durable, let scope = durable.inbox.scope else {
                return perform { queue, now, _ in queue.notLoaded(id, now: now) }
            }
            Task {
                do {
                    let job = try await durable.inbox.store.job(row, in: scope)
                    perform { queue, now, _ in queue.loaded(id, job.map { Message($0.message) }, now: now) }
                } catch {
                    perform { queue, now, _ in queue.notLoaded(id, now: now) }
                }
            }
        }
    }

    /// Acknowledges a message. A message that is only in memory may be of an earlier connection. Then the broker sends
    /// the message again, and the queue recognizes the copy.
    func acknowledge(_ message: ReceivedMessage) {
        guard !isStored, case .delivery(let handle)? = message.ticket?.receipt, handle.qos == .atLeastOnce else {
            return message.acknowledge()
        }
        parts.loop.execute { [self] in
            if !parts.coordinator.driver.awaitsAcknowledgement(handle) {
                perform { queue, _, _ in queue.copies.couldNotAcknowledge(message) }
            }
            message.acknowledge()
        }
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
