import CourierCore
import Foundation
import MQTTEngine

@testable import CourierMQTT

/// A message of a walk. Its payload contains its number.
struct JobWalkMessage {
    let number: Int
    let topic: String
    /// The key of ``ProcessingOrder/by(_:)``.
    let customer: String
    /// The key of ``Deduplication``.
    let key: String
    let isDecodable: Bool
}

/// A naive model of a ``JobQueue``: plain arrays, which every call searches from the start. It repeats the rules of the
/// queue, but leaves the choice of the next handler to the queue.
struct JobQueueModel {
    typealias Instant = JobQueue.Instant

    /// A job, with the stage that the queue must have for it.
    struct Job {
        let id: JobQueue.JobID
        let message: JobWalkMessage
        let orderKey: String?
        let key: String?
        let byteCount: Int
        var row: StoredMessage.ID?
        var attempts = 0
        var stage: JobQueue.Stage
        /// The time at which the handler started.
        var startedAt: Instant?
        var isCancelled = false
        /// True if the store has refused the job, until the job is stored again.
        var isRefused = false
        /// True if the store has refused the job at least once.
        var wasRefused = false
        /// True if the job counts as parked while it is being stored.
        var isReserved = false
    }

    struct Parked {
        let row: StoredMessage.ID
        let message: JobWalkMessage
        let byteCount: Int
        let since: Instant
    }

    let settings: JobQueue.Settings
    /// The jobs in the order of their arrival. So an earlier job with the same order key is at a smaller index.
    var jobs: [Job] = []
    /// The ids of the jobs in the stage `parking`, in the order in which they must be parked.
    var parking: [JobQueue.JobID] = []
    var parked: [Parked] = []
    /// The keys of handled messages, oldest first.
    var keys: [(key: String, at: Instant)] = []
    /// The keys of parked messages that were retried. Copies of these messages may be handled, too.
    var retriedKeys: Set<String> = []
    /// The number of handlers that still run although the session was destroyed.
    var orphanCount = 0
    var handledCount = 0
    var retriedCount = 0
    var isStopped = false
    /// True if the stopped queue has given back its messages.
    var hasGivenBack = false
    /// The time at which refused jobs are stored again.
    var storeRetry: Instant?
    /// Messages that were removed from the parked messages by a limit.
    var removed: [JobWalkMessage] = []

    init(_ settings: JobQueue.Settings) { self.settings = settings }

    func index(_ id: JobQueue.JobID) -> Int? { jobs.firstIndex { $0.id == id } }

    var runningCount: Int { jobs.count { $0.stage == .running || $0.stage == .loading } + orphanCount }

    /// True if the key belongs to a message that was handled, and the time of the key is not over.
    func isRemembered(_ key: String, _ now: Instant) -> Bool {
        guard let time = settings.keys?.time else { return false }
        return keys.contains { $0.key == key && $0.at.advanced(by: time) > now }
    }

    /// True if no earlier job has the order key of this job.
    func isFirst(at index: Int) -> Bool {
        guard let key = jobs[index].orderKey else { return true }
        return !jobs[..<index].contains { $0.orderKey == key }
    }

    /// True if a job waits for room among the parked messages.
    var isParkingBlocked: Bool { parking.contains { id in jobs.contains { $0.id == id && !$0.isReserved } } }

    /// True if the queue may start handlers.
    var mayStart: Bool {
        !isStopped && !isParkingBlocked
            && runningCount < max(settings.concurrency, 1)
            && jobs.count { $0.stage == .recording } < JobQueue.recordingLimit
    }

    // MARK: Inputs

    mutating func stored(_ id: JobQueue.JobID, _ row: StoredMessage.ID, _ now: Instant) {
        guard let index = index(id) else { return }
        jobs[index].row = row
        if jobs[index].isReserved { return keepParked(index, since: now) }
        jobs[index].stage = .ready
    }

    mutating func notStored(_ id: JobQueue.JobID, _ refusal: JobQueue.Refusal, _ now: Instant) {
        guard let index = index(id) else { return }
        switch refusal {
        case .sentAgain: remove(index)
        case .noRoom where hasGivenBack: remove(index)
        case .noRoom:
            (jobs[index].isRefused, jobs[index].wasRefused) = (true, true)
            storeRetry = storeRetry ?? now.advanced(by: .seconds(1))
        }
        settleParking(now)
    }

    mutating func started(_ id: JobQueue.JobID, _ now: Instant) {
        guard let index = index(id) else { return }
        (jobs[index].stage, jobs[index].startedAt, jobs[index].isCancelled) = (.running, now, false)
    }

    /// Records the result of an attempt. `pause` is the pause that the queue has reported.
    mutating func finished(_ id: JobQueue.JobID, _ outcome: JobQueue.Outcome, _ pause: Duration?, _ now: Instant) {
        guard let index = index(id) else { return }
        jobs[index].startedAt = nil
        switch outcome {
        case .handled:
            handledCount += 1
            if let key = jobs[index].key, let limit = settings.keys { remember(key, at: now, limit.maximumCount) }
            if settings.isStored { jobs[index].stage = .recording } else { remove(index) }
        case .stopped: jobs[index].stage = .ready
        case .undecodable: park(index)
        case .failed:
            jobs[index].attempts += 1
            if let pause {
                retriedCount += 1
                jobs[index].stage = .waiting(until: now.advanced(by: pause))
            } else {
                park(index)
            }
        }
        settleParking(now)
    }

    mutating func remember(_ key: String, at instant: Instant, _ maximumCount: Int) {
        keys.removeAll { $0.key == key }
        keys.append((key, instant))
        if let time = settings.keys?.time { keys.removeAll { $0.at.advanced(by: time) <= instant } }
        if keys.count > maximumCount { keys.removeFirst(keys.count - maximumCount) }
    }

    mutating func remove(_ index: Int) {
        let job = jobs.remove(at: index)
        parking.removeAll { $0 == job.id }
    }

    /// Removes the jobs without a row that the queue has given back. `isBeingStored` is true for a job whose commit has
    /// begun.
    mutating func removeUnstored(_ isBeingStored: (JobQueue.JobID) -> Bool) {
        for job in jobs where job.row == nil && !isBeingStored(job.id) { index(job.id).map { remove($0) } }
        storeRetry = nil
    }

    /// Ends the pauses and the ages that are over.
    mutating func wake(_ now: Instant) {
        for index in jobs.indices {
            if case .waiting(let end) = jobs[index].stage, end <= now { jobs[index].stage = .ready }
        }
        if let retry = storeRetry, retry <= now {
            storeRetry = nil
            for index in jobs.indices { jobs[index].isRefused = false }
        }
        if let age = settings.parked.maximumAge {
            removed += parked.filter { $0.since.advanced(by: age) <= now }.map(\.message)
            parked.removeAll { $0.since.advanced(by: age) <= now }
        }
        settleParking(now)
    }

    // MARK: Parked messages

    mutating func park(_ index: Int) {
        jobs[index].stage = .parking
        parking.append(jobs[index].id)
    }

    private func hasParkingRoom(for byteCount: Int) -> Bool {
        let reserved = jobs.filter(\.isReserved)
        let count = parked.count + reserved.count
        let bytes = parked.reduce(0) { $0 + $1.byteCount } + reserved.reduce(0) { $0 + $1.byteCount }
        let limits = settings.parked
        return count == 0 || count < max(limits.maximumCount, 1) && bytes + byteCount <= limits.maximumBytes
    }

    /// Parks the waiting jobs, as far as there is room.
    mutating func settleParking(_ now: Instant) {
        for id in parking {
            guard let index = index(id), !jobs[index].isReserved else { continue }
            let byteCount = jobs[index].byteCount
            while settings.parked.overflow == .removeOldest, !hasParkingRoom(for: byteCount),
                let oldest = parked.indices.min(by: { parked[$0].since < parked[$1].since })
            {
                removed.append(parked.remove(at: oldest).message)
            }
            guard hasParkingRoom(for: byteCount) else { return }
            if settings.isStored, jobs[index].row == nil {
                jobs[index].isReserved = true
            } else {
                keepParked(index, since: now)
            }
        }
    }

    private mutating func keepParked(_ index: Int, since: Instant) {
        let job = jobs[index]
        remove(index)
        let row = job.row ?? StoredMessage.ID(rawValue: UInt64(job.id))
        parked.append(Parked(row: row, message: job.message, byteCount: job.byteCount, since: since))
    }
}
