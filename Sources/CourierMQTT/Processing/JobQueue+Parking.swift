import CourierCore
import Foundation
import MQTTEngine

/// Parks messages, and retries or removes parked messages.
extension JobQueue {
    /// Parks a job. If there is no room, the job waits for room, and no handler starts meanwhile.
    mutating func park(_ job: Job, _ error: any Error, now: Instant, time: StoreTime) {
        job.stage = .parking
        parking.append((job.id, error))
        parkWaiting(now: now, time: time)
    }

    /// Parks the first waiting jobs, one after the other, until the limits of parked messages leave no room.
    mutating func parkWaiting(now: Instant, time: StoreTime) {
        while let (id, error) = parking.first {
            guard let job = jobs[id] else {
                parking.removeFirst()
                continue
            }
            guard makeRoom(for: job.byteCount) else { return pause(full) }
            parking.removeFirst()
            steps.append(.tell(.messageParked(topic: job.topic, attempts: job.attempts, error: error)))
            if let change = change(job, .parked(at: time.date)) {
                steps.append(.write([change], for: nil))
            } else if settings.isStored {
                // A message that has just arrived has no row yet. Its job stays in the queue until the message is
                // stored as a parked message. Until then, `reserved` counts the message as parked.
                reserved += StoreSize(rows: 1, bytes: job.byteCount)
                job.isReserved = true
                store(job)
                continue
            } else if let received = job.received {
                steps.append(.acknowledge(received))
            }
            keepParked(job, job.row ?? StoredMessage.ID(rawValue: UInt64(id)), parkedAt: time, now: now)
        }
        resume()
    }

    /// Adds a job to the parked messages, and removes it from the jobs.
    mutating func keepParked(_ job: Job, _ row: StoredMessage.ID, parkedAt: StoreTime, now: Instant) {
        remove(job, now: now)
        (job.row, job.received) = (row, nil)
        parked.append(
            Parked(
                row: row, byteCount: job.byteCount, parkedAt: parkedAt, since: now, job: settings.isStored ? nil : job))
        parkedByteCount += job.byteCount
    }

    /// Returns true if there is room for a parked message of this size. With ``ParkingLimits/Overflow/removeOldest``,
    /// removes the oldest parked messages.
    private mutating func makeRoom(for byteCount: Int) -> Bool {
        let limits = settings.parked
        if limits.overflow == .removeOldest {
            while !parked.isEmpty, !hasParkingRoom(for: byteCount, limits) { removeParked(at: 0) }
        }
        return hasParkingRoom(for: byteCount, limits)
    }

    private func hasParkingRoom(for byteCount: Int, _ limits: ParkingLimits) -> Bool {
        let count = parked.count + reserved.rows
        return count == 0
            || count < max(limits.maximumCount, 1)
                && parkedByteCount + reserved.bytes + byteCount <= limits.maximumBytes
    }

    private mutating func removeParked(at index: Int) {
        let entry = parked.remove(at: index)
        parkedByteCount -= entry.byteCount
        if entry.job == nil { steps.append(.write([.removeJob(entry.row)], for: nil)) }
    }

    /// Removes the parked messages that are too old. Returns `false` if there are none.
    mutating func removeOldParked(now: Instant) -> Bool {
        guard let age = settings.parked.maximumAge else { return false }
        let count = parked.count
        while let first = parked.first, first.since.advanced(by: age) <= now { removeParked(at: 0) }
        return parked.count < count
    }

    /// Handles a parked message again, and counts its attempts from the beginning. `stored` is the job from the store,
    /// with its order key; `nil` if the job is only in memory. Returns `false` if the message is not parked here.
    mutating func retryParked(
        _ row: StoredMessage.ID, _ stored: (job: StoredJob, orderKey: String?)?, now: Instant, time: StoreTime
    ) -> Bool {
        guard let index = parked.firstIndex(where: { $0.row == row }) else { return false }
        let entry = parked[index]
        let key = entry.job?.deduplicationKey ?? stored?.job.state.deduplicationKey
        // If a copy of the message was handled meanwhile, or waits for its handler, only remove the parked message.
        if let key, keys.isCopy(key, now: now) { return removeParked(row, now: now, time: time) }
        if let job = entry.job {
            parked.remove(at: index)
            parkedByteCount -= entry.byteCount
            job.attempts = 0
            add(job)
            becameReady(job, now: now)
        } else {
            guard let stored else { return false }
            parked.remove(at: index)
            parkedByteCount -= entry.byteCount
            let state = stored.job.state.retried(at: time)
            steps.append(.write([.updateJob(row, state)], for: nil))
            restore(StoredJob(stored.job.message, state), orderKey: stored.orderKey, now: now, time: time)
        }
        parkWaiting(now: now, time: time)
        startReady(now: now)
        return true
    }

    /// False if parked messages are in the store, and the processor has ended. Another processor may then have them.
    var changesParked: Bool { !settings.isStored || !hasGivenBack }

    /// Removes a parked message. Returns `false` if it is not parked here.
    mutating func removeParked(_ row: StoredMessage.ID, now: Instant, time: StoreTime) -> Bool {
        guard let index = parked.firstIndex(where: { $0.row == row }) else { return false }
        removeParked(at: index)
        parkWaiting(now: now, time: time)
        startReady(now: now)
        return true
    }

    // MARK: Pauses

    private var full: String {
        "The processor \(settings.processor.quoted()) has \(parked.count) parked messages, and its policy allows no more. "
            + "Retry or remove parked messages, or raise the limits of the processor's policy."
    }

    mutating func pause(_ reason: String) {
        guard pauseReason == nil else { return }
        pauseReason = reason
        steps.append(.tell(.processingPaused(processor: settings.processor, reason: reason)))
    }

    /// Ends a pause of the processing, if no job waits to be stored or waits for room among the parked messages. After
    /// a stop, a pause does not end.
    mutating func resume() {
        guard pauseReason != nil, parking.isEmpty, unstored.isEmpty, !hasGivenBack else { return }
        pauseReason = nil
        steps.append(.tell(.processingResumed(processor: settings.processor)))
    }
}
