import CourierCore
import Foundation
import MQTTEngine

/// Loads the jobs of an earlier process, and ends the work.
extension JobQueue {
    /// Adds a job from the store. Its message stays in memory if there is room.
    mutating func restore(_ stored: StoredJob, orderKey: String?, now: Instant, time: StoreTime) {
        let message = Message(stored.message)
        let size = StoreSize(of: stored.message).bytes + Self.jobByteCount
        let receivedAt = StoreTime(date: stored.message.storedAt, bootTime: stored.message.bootTime)
        switch stored.state.stage {
        case .parked(let date):
            let parkedAt = StoreTime(date: date)
            let since = now.advanced(by: .zero - time.elapsed(since: parkedAt))
            // Insert the parked message at its place, because `parked` is sorted by the time of parking. The rows are
            // read in another order, the order of their arrival.
            parked.insert(
                Parked(row: stored.message.id, byteCount: size, parkedAt: parkedAt, since: since, job: nil),
                at: parked.firstIndex { $0.since > since } ?? parked.count)
            parkedByteCount += size
        case .waiting(let pause, let since):
            let fitsInMemory = memoryByteCount < Self.memoryByteLimit
            let job = Job(
                stored.message.id, fitsInMemory ? message : nil, topic: message.topic, byteCount: size,
                orderKey: orderKey, stored.state, receivedAt: receivedAt)
            add(job)
            let left = pause - time.elapsed(since: since)
            if left > .zero { wait(job, until: now.advanced(by: left.bounded)) } else { becameReady(job, now: now) }
        }
    }

    /// Remembers the keys of messages that an earlier process has handled.
    mutating func restore(_ handled: [ProcessedKey], now: Instant, time: StoreTime) {
        guard let limits = settings.keys else { return }
        var forgotten: [String] = []
        let aged = handled.map { (key: $0.key, age: time.elapsed(since: $0.handledAt)) }
        for (key, age) in aged.sorted(by: { $0.age > $1.age }) {
            if age >= limits.time {
                forgotten.append(key)
            } else {
                forgotten += keys.handled(key, now: now.advanced(by: .zero - age), limits.time, limits.maximumCount)
            }
        }
        if !forgotten.isEmpty {
            steps.append(.write([.forgetKeys(processor: settings.processor, keys: forgotten)], for: nil))
        }
    }

    /// Records that all jobs of an earlier process are loaded, so that handlers start.
    mutating func endLoading(now: Instant) {
        isLoading = false
        startReady(now: now)
    }

    /// Records that the subscription failed, for example because the broker refused it.
    mutating func refused(_ reason: String) {
        refusal = reason
        steps.append(.tell(.processingPaused(processor: settings.processor, reason: reason)))
    }

    /// Starts no more handlers.
    mutating func stop() { isStopped = true }

    /// Removes all jobs and parked messages, because the session was destroyed. The results of running handlers are
    /// ignored.
    mutating func reset() {
        var empty = JobQueue(settings, firstID: lastID)
        empty.orphans = orphans.union(jobs.filter { $0.value.stage == .running || $0.value.stage == .loading }.keys)
        // A running handler of the destroyed session keeps its timeout, because the handler still counts toward the
        // limit of concurrent handlers. Later handlers may have to wait for its end.
        empty.deadlines = deadlines
        empty.deadlines.removeAll { [orphans = empty.orphans] in !orphans.contains($0.id) }
        (empty.runningCount, empty.handledCount, empty.retriedCount) = (runningCount, handledCount, retriedCount)
        (empty.isStopped, empty.hasGivenBack, empty.isLoading) = (isStopped, hasGivenBack, isLoading)
        (empty.pauseReason, empty.refusal) = (pauseReason, refusal)
        self = empty
        resume()
    }

    /// Removes the jobs whose messages are not acknowledged and not being stored, and returns the messages for the next
    /// reader of the topic. The results of their running handlers are ignored. If a message is being stored now, but
    /// the store refuses it later, the step ``Step/giveBack(_:)`` returns this message.
    mutating func giveBack(now: Instant) -> [ReceivedMessage] {
        hasGivenBack = true
        (unstored, storeRetry) = ([], nil)
        let left = jobs.filter { $0.value.received != nil && !$0.value.isBeingStored }
        for (id, job) in left {
            if job.stage == .running { orphans.insert(id) }
            remove(job, now: now)
        }
        return left.sorted { $0.key < $1.key }.compactMap(\.value.received)
    }

    /// Removes and returns the messages that only this queue has: parked messages in memory, and messages that were
    /// retried. They must be kept, because they are acknowledged, so the broker does not send them again. Called after
    /// ``giveBack(now:)``.
    mutating func takeLeft(now: Instant) -> Left {
        guard !settings.isStored else { return Left() }
        let retried = jobs.filter { $0.value.stage != .running }.sorted { $0.key < $1.key }
        for (_, job) in retried { remove(job, now: now) }
        defer { (parked, parkedByteCount) = ([], 0) }
        return Left(parked: parked, retried: retried.map(\.value))
    }

    /// Adds the messages that the queue of an earlier processor with the same name left behind.
    mutating func adopt(_ left: Left, now: Instant) {
        parked += left.parked
        parkedByteCount += left.parked.reduce(0) { $0 + $1.byteCount }
        for job in left.retried {
            add(job)
            becameReady(job, now: now)
        }
    }

    /// Returns the numbers of the processor's jobs. `time` is the current time, from which the age of the oldest job is
    /// computed.
    func metrics(time: StoreTime) -> ProcessorMetrics {
        var metrics = ProcessorMetrics()
        metrics.runningCount = runningCount
        metrics.waitingCount = jobs.count - runningCount - recordingCount + orphans.count
        metrics.handledCount = handledCount
        metrics.retriedCount = retriedCount
        metrics.parkedCount = parked.count + reserved.rows
        metrics.oldestAge = jobs.values.map { time.elapsed(since: $0.receivedAt) }.max()
        metrics.pauseReason = refusal ?? pauseReason
        return metrics
    }
}

extension Message {
    /// Creates the message of a stored row.
    init(_ stored: StoredMessage) {
        self.init(
            data: Data(stored.payload), topic: stored.topic, qos: stored.qos, isRetained: stored.isRetained,
            properties: stored.properties)
    }
}
