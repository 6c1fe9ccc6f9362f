import CourierCore
import Foundation
import MQTTEngine

/// Adds the messages that arrive, and recognizes copies.
extension JobQueue {
    /// Adds the job of a message that has arrived. `problem` is the error if no adapter can decode the message; the
    /// message is then parked.
    mutating func arrived(_ job: Job, problem: (any Error)?, now: Instant, time: StoreTime) {
        guard let received = job.received else { return }
        // First compare the message with the unacknowledged messages. If it is a repetition of one of them, it replaces
        // the earlier delivery. If the keys were compared first, the message would be acknowledged as a copy of itself.
        // It would then be lost if the process ends before its handler returns.
        switch copies.find(received, in: jobs) {
        case .new: break
        case .again(let id):
            jobs[id]?.received = received
            jobs[id]?.isSentAgain = true
            return
        case .handled: return steps.append(.acknowledge(received))
        }
        if let key = job.deduplicationKey, keys.isCopy(key, now: now) { return steps.append(.acknowledge(received)) }
        add(job)
        copies.note(received, job.id)
        if let problem {
            job.lastError = Self.text(of: problem)
            park(job, problem, now: now, time: time)
        } else if settings.isStored {
            store(job)
        } else {
            becameReady(job, now: now)
        }
    }

    mutating func store(_ job: Job) {
        job.isBeingStored = true
        steps.append(.store(job.id))
    }

    /// Adds a job to the queue, at the end of its lane (the jobs with the same order key).
    mutating func add(_ job: Job) {
        lastID += 1
        job.id = lastID
        jobs[lastID] = job
        byteCount += job.byteCount
        memoryByteCount += job.message == nil ? 0 : job.byteCount
        if let key = job.deduplicationKey { keys.began(key) }
        guard let key = job.orderKey else { return }
        if let lane = lanes[key] {
            lane.followers.append(lastID)
            job.lane = lane
        } else {
            let lane = Lane(lastID)
            lanes[key] = lane
            job.lane = lane
        }
    }

    /// Records that a job is stored, so that its message is acknowledged and its handler may start.
    mutating func stored(_ id: JobID, as row: StoredMessage.ID, now: Instant, time: StoreTime) {
        guard let job = jobs[id] else { return }
        (job.row, job.isBeingStored) = (row, false)
        if let received = job.received { steps.append(.acknowledge(received)) }
        copies.forget(job.received, id)
        job.received = nil
        if job.stage == .parking {
            keepParked(job, row, parkedAt: job.receivedAt, now: now)
            // The message is now parked. With `removeOldest`, it can now be removed to make room for the next job to
            // park.
            parkWaiting(now: now, time: time)
            startReady(now: now)
        } else {
            becameReady(job, now: now)
            forgetMessageIfLarge(job)
        }
        resume()
    }

    /// Why a job was not stored.
    enum Refusal: Error {
        /// The broker sends the message again, so this delivery of it is dropped.
        case sentAgain
        /// The store has no room, or failed.
        case noRoom(String)
    }

    mutating func notStored(_ id: JobID, _ refusal: Refusal, now: Instant, time: StoreTime) {
        guard let job = jobs[id] else { return }
        job.isBeingStored = false
        switch refusal {
        case .sentAgain where job.isSentAgain:
            job.isSentAgain = false
            store(job)
            return
        case .sentAgain: break
        case .noRoom where hasGivenBack:
            if let received = job.received { steps.append(.giveBack(received)) }
        case .noRoom(let text):
            unstored.append(id)
            storeRetry = storeRetry ?? now.advanced(by: Self.storePause)
            return pause(text)
        }
        remove(job, now: now)
        parkWaiting(now: now, time: time)
        startReady(now: now)
    }

    mutating func forgetMessageIfLarge(_ job: Job) {
        guard settings.isStored, memoryByteCount > Self.memoryByteLimit, job.message != nil, job.stage != .running
        else { return }
        job.message = nil
        memoryByteCount -= job.byteCount
    }
}
