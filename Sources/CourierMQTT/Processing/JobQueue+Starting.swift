import CourierCore
import Foundation
import MQTTEngine

/// Starts handlers, and wakes waiting jobs.
extension JobQueue {
    /// Puts a job at the end of the ready jobs, if no earlier job with its order key exists.
    mutating func becameReady(_ job: Job, now: Instant) {
        job.stage = .ready
        if let lane = job.lane, lane.first != job.id { return }
        ready.append(job)
        startReady(now: now)
    }

    mutating func startReady(now: Instant) {
        guard !isStopped, !isLoading, parking.isEmpty else { return }
        while runningCount < max(settings.concurrency, 1), recordingCount < Self.recordingLimit,
            let job = ready.removeFirst()
        {
            guard job.stage == .ready else { continue }
            runningCount += 1
            if job.message != nil {
                start(job, now: now)
            } else if let row = job.row {
                job.stage = .loading
                steps.append(.load(job.id, row))
            }
        }
    }

    mutating func start(_ job: Job, now: Instant) {
        job.stage = .running
        deadlines.append((job.id, job.attempts, now.advanced(by: settings.handlerTimeout)))
        if deadlines.count > 2 * max(settings.concurrency, 1) + 64 {
            let (jobs, orphans) = (jobs, orphans)
            deadlines.removeAll {
                !orphans.contains($0.id) && (jobs[$0.id]?.stage != .running || jobs[$0.id]?.attempts != $0.attempt)
            }
        }
        steps.append(.start(job.id))
    }

    /// Records that the message of a job was read from the store. `message` is `nil` if the store has no such row.
    mutating func loaded(_ id: JobID, _ message: Message?, now: Instant) {
        if orphans.remove(id) != nil { return handlerReturned(now: now) }
        guard let job = jobs[id], job.stage == .loading else { return }
        guard let message else {
            runningCount -= 1
            remove(job, now: now)
            return startReady(now: now)
        }
        guard !isStopped, parking.isEmpty else {
            runningCount -= 1
            return becameReady(job, now: now)
        }
        job.message = message
        memoryByteCount += job.byteCount
        start(job, now: now)
    }

    /// Records that the message of a job could not be read. The read is repeated after a pause.
    mutating func notLoaded(_ id: JobID, now: Instant) {
        if orphans.remove(id) != nil { return handlerReturned(now: now) }
        guard let job = jobs[id], job.stage == .loading else { return }
        runningCount -= 1
        wait(job, until: now.advanced(by: Self.storePause))
        startReady(now: now)
    }

    mutating func wait(_ job: Job, until end: Instant) {
        job.stage = .waiting(until: end)
        due.add(job.id, at: end)
    }

    /// Handles the times that have come: repeats attempts, cancels slow handlers, stores jobs again, and removes parked
    /// messages that are too old.
    mutating func wake(now: Instant, time: StoreTime) {
        while let id = due.removeFirst(notAfter: now) {
            guard let job = jobs[id], case .waiting(let end) = job.stage, end <= now else { continue }
            becameReady(job, now: now)
        }
        while let first = deadlines.first, first.at <= now {
            _ = deadlines.removeFirst()
            if isRunning(first.id, first.attempt) { steps.append(.cancel(first.id)) }
        }
        if let retry = storeRetry, retry <= now {
            storeRetry = nil
            let waiting = exchange(&unstored, with: [])
            for job in waiting.compactMap({ jobs[$0] }) { store(job) }
        }
        if removeOldParked(now: now) {
            parkWaiting(now: now, time: time)
            startReady(now: now)
        }
    }

    /// True if the handler of this attempt runs.
    private func isRunning(_ id: JobID, _ attempt: Int) -> Bool {
        jobs[id].map { $0.stage == .running && $0.attempts == attempt } ?? orphans.contains(id)
    }
}
