import CourierCore
import Foundation
import MQTTEngine

/// Handles the results of attempts, and removes jobs.
extension JobQueue {
    /// Records the result of an attempt. `random` is a number from 0 to 1. `time` is evaluated only for results that
    /// need the time.
    mutating func finished(
        _ id: JobID, _ outcome: Outcome, now: Instant, time: @autoclosure () -> StoreTime, random: Double
    ) {
        if !orphans.isEmpty, orphans.remove(id) != nil { return handlerReturned(now: now) }
        guard let job = jobs[id], job.stage == .running else { return }
        defer { handlerReturned(now: now) }
        switch outcome {
        case .handled: handled(job, now: now, time: time())
        case .stopped: job.stage = .ready
        case .undecodable(let error):
            job.lastError = Self.text(of: error)
            park(job, error, now: now, time: time())
        case .failed(let error):
            let time = time()
            job.attempts += 1
            job.lastError = Self.text(of: error)
            let attempts = job.attempts
            let chosen = (error as? Retry)?.pause
            if error is Park || chosen == nil && attempts >= max(settings.retries.maximumAttempts, 1) {
                return park(job, error, now: now, time: time)
            }
            let pause = chosen.map { max(.zero, $0) } ?? settings.retries.pause(after: attempts, random: random)
            retriedCount += 1
            steps.append(
                .tell(.messageProcessingFailure(topic: job.topic, attempt: attempts, error: error, pause: pause)))
            wait(job, until: now.advanced(by: pause.bounded))
            if let change = change(job, .waiting(pause, since: time)) { steps.append(.write([change], for: nil)) }
            forgetMessageIfLarge(job)
        }
    }

    mutating func handlerReturned(now: Instant) {
        runningCount -= 1
        startReady(now: now)
    }

    mutating func handled(_ job: Job, now: Instant, time: @autoclosure () -> StoreTime) {
        handledCount += 1
        var changes: [StoreChange] = []
        if let row = job.row { changes.append(.removeJob(row)) }
        if let key = job.deduplicationKey, let limits = settings.keys {
            let forgotten = keys.handled(key, now: now, limits.time, limits.maximumCount)
            changes.append(
                .rememberKey(ProcessedKey(processor: settings.processor, key: key, handledAt: time())))
            if !forgotten.isEmpty { changes.append(.forgetKeys(processor: settings.processor, keys: forgotten)) }
        }
        guard settings.isStored else {
            if let received = job.received { steps.append(.acknowledge(received)) }
            return remove(job, now: now)
        }
        job.stage = .recording
        recordingCount += 1
        steps.append(.write(changes, for: job.id))
    }

    /// Records that the removal of a handled job is stored.
    mutating func recorded(_ id: JobID, now: Instant) {
        guard let job = jobs[id], job.stage == .recording else { return }
        recordingCount -= 1
        remove(job, now: now)
        startReady(now: now)
    }

    /// Returns the change that stores the new stage of a job; `nil` if the job is only in memory.
    func change(_ job: Job, _ stage: StoredJob.Stage) -> StoreChange? {
        guard settings.isStored, let row = job.row else { return nil }
        return .updateJob(row, state(of: job, stage))
    }

    func state(of job: Job, _ stage: StoredJob.Stage) -> StoredJob.State {
        StoredJob.State(
            processor: settings.processor, deduplicationKey: job.deduplicationKey, attempts: job.attempts,
            lastError: job.lastError, stage: stage)
    }

    /// Removes a job, so that the next job with its order key becomes ready.
    mutating func remove(_ job: Job, now: Instant) {
        let id = job.id
        guard jobs.removeValue(forKey: id) != nil else { return }
        byteCount -= job.byteCount
        if job.message != nil { memoryByteCount -= job.byteCount }
        if let key = job.deduplicationKey { keys.ended(key) }
        copies.forget(job.received, id)
        if job.isReserved {
            job.isReserved = false
            reserved -= StoreSize(rows: 1, bytes: job.byteCount)
        }
        guard let lane = job.lane else { return }
        job.lane = nil
        guard lane.first == id else { return lane.followers.removeAll { $0 == id } }
        if let next = lane.followers.removeFirst() {
            lane.first = next
            if let next = jobs[next], next.stage == .ready { becameReady(next, now: now) }
        } else if let key = job.orderKey {
            lanes[key] = nil
        }
    }

    /// The text of a handler's error for logs, stored jobs and parked messages.
    static func text(of error: any Error) -> String {
        let text =
            switch error {
            case let error as Retry: error.reason
            case let error as Park: error.reason
            case let error as CourierError: error.message
            case let error as any LocalizedError: error.errorDescription ?? String(describing: error)
            default: String(describing: error)
            }
        return String(text.prefix(errorLength))
    }
}
