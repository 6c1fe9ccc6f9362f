import CourierCore
import Foundation
import MQTTEngine
import TestSupport

@testable import CourierMQTT

/// The moves of the disk, and the ends of processes, processors and sessions.
extension JobQueueWorld {
    // MARK: Disk

    /// Writes the oldest changes of one list, or refuses a new job because the disk is full.
    mutating func commit(_ list: WritableKeyPath<JobQueueWorld, [Write]>) {
        guard !self[keyPath: list].isEmpty else { return }
        let write = self[keyPath: list].removeFirst()
        if write.row != nil, isDiskFull, let id = write.id {
            queue.notStored(id, .noRoom("The disk is full."), now: now, time: time)
            model.notStored(id, .noRoom(""), now)
            return perform()
        }
        for change in write.changes { apply(change) }
        reports.append(write)
    }

    private mutating func apply(_ change: StoreChange) {
        switch change {
        case .addJob(let job):
            if mistake != .losesJob || !job.message.id.rawValue.isMultiple(of: 5) { disk.append(job) }
        case .updateJob(let id, let state):
            guard let index = disk.firstIndex(where: { $0.message.id == id }) else { return }
            disk[index] = StoredJob(disk[index].message, state)
        case .removeJob(let id):
            removedRows.insert(id)
            removalCount += 1
            if mistake != .losesRemoval || !removalCount.isMultiple(of: 5) { disk.removeAll { $0.message.id == id } }
        case .rememberKey(let key):
            for list in [\JobQueueWorld.diskKeys, \.writtenKeys] {
                self[keyPath: list].removeAll { $0.key == key.key }
                if mistake != .losesKey || list == \.writtenKeys { self[keyPath: list].append(key) }
            }
        case .forgetKeys(_, let keys):
            diskKeys.removeAll { keys.contains($0.key) }
            writtenKeys.removeAll { keys.contains($0.key) }
        default: require(false, "the queue writes \(change)")
        }
    }

    /// Reports the end of the oldest written changes.
    mutating func report() {
        guard !reports.isEmpty else { return }
        let write = reports.removeFirst()
        guard let id = write.id else { return }
        if let row = write.row {
            queue.stored(id, as: row, now: now, time: time)
            model.stored(id, row, now)
        } else {
            queue.recorded(id, now: now)
            if let index = model.index(id), model.jobs[index].stage == .recording { model.remove(index) }
        }
        settleParking()
        perform()
    }

    /// Reads a message from the disk, or fails to read it.
    mutating func load(isFailing: Bool) {
        guard !loads.isEmpty else { return }
        let (id, row) = loads.removeFirst()
        let job = disk.first { $0.message.id == row }
        if isFailing {
            queue.notLoaded(id, now: now)
        } else {
            queue.loaded(id, job.map { Message($0.message) }, now: now)
        }
        if let index = model.index(id) {
            let end = now.advanced(by: .seconds(1))
            model.jobs[index].stage = isFailing ? .waiting(until: end) : .ready
            // While a job waits for room among the parked messages, no handler starts.
            if !isFailing, !model.isStopped, !model.isParkingBlocked { model.jobs[index].stage = .loading }
        } else {
            model.orphanCount -= 1
        }
        perform()
    }

    // MARK: Ends

    /// Ends the process. Only the disk is left.
    mutating func kill(isReboot: Bool) {
        if isReboot {
            bootID = UUID()
            now = now.advanced(by: .seconds(random.below(600)))
        }
        (handlers, additions, writes, reports, loads) = ([], [], [], [], [])
        loseConnection()
        restart()
    }

    /// Stops the processor, and starts another one with the same name in the same process.
    mutating func stop() {
        queue.stop()
        model.isStopped = true
        while !handlers.isEmpty, violation == nil { finish(0, random.flag() ? .handled : .stopped) }
        // A processor waits for the store for a limited time. So a commit may end after the messages are given back.
        if random.flag() { endStoreWork() }
        for received in queue.giveBack(now: now) { giveBack(received) }
        model.hasGivenBack = true
        if conditions.settings.isStored {
            model.removeUnstored { id in additions.contains { $0.id == id } || reports.contains { $0.id == id } }
            perform()
            endStoreWork()
        }
        if !conditions.settings.isStored {
            // Parked messages, also those that are retried, are only in the memory of the processor.
            for job in model.jobs where queue.jobs[job.id] != nil && job.stage != .parking {
                require(ended.contains(job.message.number), "message \(job.message.number) is not given back")
            }
        }
        restart()
    }

    private mutating func endStoreWork() {
        while violation == nil, !additions.isEmpty || !writes.isEmpty || !reports.isEmpty || !loads.isEmpty {
            commit(\.additions)
            commit(\.writes)
            report()
            load(isFailing: false)
        }
    }

    /// Passes a message of a stopped processor to the next processor, unless the broker sends the message again.
    mutating func giveBack(_ received: ReceivedMessage) {
        if deliveries[received.arrival].connection == connection { handedBack.append(received) }
    }

    /// Starts a processor, and loads its jobs from the disk.
    private mutating func restart() {
        queue = JobQueue(Self.settings(conditions, mistake))
        model = JobQueueModel(conditions.settings, after: model)
        isPaused = false
        doneInProcess = []
        guard conditions.settings.isStored else { return perform() }
        queue.isLoading = true
        queue.restore(diskKeys, now: now, time: time)
        restoreKeys()
        for job in disk.sorted(by: { $0.message.id < $1.message.id }) { restore(job) }
        let isWaiting = !queue.hasRoom && !queue.steps.contains { if case .start = $0 { true } else { false } }
        require(isWaiting, "a handler starts or a message may arrive before all jobs are loaded")
        queue.endLoading(now: now)
        perform()
    }

    private mutating func restoreKeys() {
        guard let limits = conditions.settings.keys else { return }
        let aged = writtenKeys.map { (key: $0.key, age: elapsed(since: $0.handledAt)) }
        for (key, age) in aged.sorted(by: { $0.age > $1.age }) where age < limits.time {
            model.remember(key, at: now.advanced(by: .zero - age), limits.maximumCount)
        }
    }

    private mutating func restore(_ job: StoredJob) {
        let number = JobWalkConditions.number(of: job.message)
        let message = messages[number]
        let orderKey = (try? conditions.keys(of: message))?.order
        // After a step of the date, the key of an accepted message may be remembered again.
        if let key = job.state.deduplicationKey, model.isRemembered(key, now) { model.retriedKeys.insert(key) }
        queue.restore(job, orderKey: orderKey, now: now, time: time)
        switch job.state.stage {
        case .parked(let date):
            let byteCount = queue.parked.first { $0.row == job.message.id }?.byteCount ?? 0
            let since = now.advanced(by: .zero - time.elapsed(since: StoreTime(date: date)))
            model.parked.append(
                JobQueueModel.Parked(row: job.message.id, message: message, byteCount: byteCount, since: since))
        case .waiting(let pause, let since):
            let left = pause - elapsed(since: since)
            model.jobs.append(
                JobQueueModel.Job(
                    id: queue.lastID, message: message, orderKey: orderKey, key: job.state.deduplicationKey,
                    byteCount: queue.jobs[queue.lastID]?.byteCount ?? 0, row: job.message.id,
                    attempts: job.state.attempts,
                    stage: left > .zero ? .waiting(until: now.advanced(by: left)) : .ready))
        }
    }

    /// The time since an earlier point in time. In the same boot, a change of the date has no effect.
    private func elapsed(since earlier: StoreTime) -> Duration {
        guard let boot = earlier.bootTime, boot.bootID == bootID else { return time.elapsed(since: earlier) }
        return Self.beginning.duration(to: now) - boot.sinceBoot
    }

    /// Destroys the session: the broker and the store forget all messages.
    mutating func destroy() {
        for (_, message) in unacknowledged { ended.insert(message.number) }
        for job in model.jobs { ended.insert(job.message.number) }
        for job in disk { ended.insert(JobWalkConditions.number(of: job.message)) }
        (unacknowledged, additions, writes, disk, diskKeys, writtenKeys) = ([], [], [], [], [], [])
        loseConnection()
        for index in handlers.indices { handlers[index].isOrphan = true }
        let (orphans, running) = (model.orphanCount, model.jobs.count { $0.stage == .running || $0.stage == .loading })
        queue.reset()
        let counts = (model.handledCount, model.retriedCount)
        model = JobQueueModel(conditions.settings, after: model)
        model.orphanCount = orphans + running
        (model.handledCount, model.retriedCount) = counts
        perform()
    }

    // MARK: End of a walk

    /// Lets all work end without failures. Checks that no message is lost.
    mutating func settle() {
        isDiskFull = false
        loseConnection()
        for _ in 0..<3_000 where violation == nil {
            if isDone { return checkEnds() }
            let before = (arriving.count, handedBack.count, unsent.count)
            deliver()
            let isMoving = before != (arriving.count, handedBack.count, unsent.count)
            let isWorking =
                isMoving || !handlers.isEmpty || !additions.isEmpty || !writes.isEmpty || !reports.isEmpty
                || !loads.isEmpty
            if !handlers.isEmpty { finish(0, .handled) }
            commit(\.additions)
            commit(\.writes)
            report()
            load(isFailing: false)
            if isWorking { continue }
            if queue.parking.isEmpty || model.parked.isEmpty {
                advance(by: max(queue.nextWake.map { now.duration(to: $0) } ?? .zero, .seconds(1)))
            } else {
                changeParked(isRetried: false)
            }
        }
        let counts = "\(queue.jobs.count) jobs, \(arriving.count + unsent.count) messages at the broker"
        require(false, "the walk does not end: \(counts)")
    }

    private var isDone: Bool {
        unsent.isEmpty && arriving.isEmpty && handedBack.isEmpty && unacknowledged.isEmpty && queue.jobs.isEmpty
            && additions.isEmpty && writes.isEmpty && reports.isEmpty && handlers.isEmpty
    }

    private mutating func checkEnds() {
        let onDisk = Set(disk.map { JobWalkConditions.number(of: $0.message) })
        let done = handled.union(ended).union(onDisk)
        let keys = Set(messages.filter { done.contains($0.number) }.map(\.key))
        for message in messages where !done.contains(message.number) {
            let isCopy = copies.contains { $0.number == message.number } && keys.contains(message.key)
            require(isCopy, "message \(message.number) is lost")
        }
        let count = diskKeys.count
        require(count <= conditions.settings.keys?.maximumCount ?? 0, "\(count) keys of handled messages are stored")
    }
}

extension JobQueueModel {
    /// A model of the next queue, without jobs.
    init(_ settings: JobQueue.Settings, after model: JobQueueModel) {
        self.init(settings)
        retriedKeys = model.retriedKeys
    }
}
