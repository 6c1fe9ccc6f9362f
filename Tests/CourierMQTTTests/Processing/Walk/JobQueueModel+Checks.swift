import CourierCore
import Foundation
import MQTTEngine

@testable import CourierMQTT

/// Compares a queue with its model.
extension JobQueueModel {
    /// Returns the first rule that the queue violates; `nil` if it violates none.
    func violation(of queue: JobQueue, _ now: Instant, _ time: StoreTime) -> String? {
        stageViolation(queue) ?? countViolation(queue, time) ?? limitViolation(queue) ?? startViolation
            ?? timeViolation(queue, now)
    }

    private func stageViolation(_ queue: JobQueue) -> String? {
        for job in jobs {
            guard let other = queue.jobs[job.id] else { return "the queue has lost message \(job.message.number)" }
            if other.stage != job.stage {
                return "message \(job.message.number) is \(other.stage) instead of \(job.stage)"
            }
            if other.attempts != job.attempts {
                return "message \(job.message.number) has \(other.attempts) attempts instead of \(job.attempts)"
            }
        }
        guard queue.jobs.count == jobs.count else { return "the queue has \(queue.jobs.count) jobs, not \(jobs.count)" }
        let rows = (queue.parked.map(\.row).sorted(), parked.map(\.row).sorted())
        guard rows.0 == rows.1 else { return "the rows \(rows.0) are parked instead of \(rows.1)" }
        let mustPause = jobs.contains { $0.stage == .parking && !$0.isReserved || $0.isRefused }
        let mayPause = mustPause || jobs.contains { $0.wasRefused && $0.row == nil }
        if !hasGivenBack, mustPause != (queue.pauseReason != nil), mustPause || !mayPause {
            return "the reason of a pause is \(queue.pauseReason ?? "nil")"
        }
        return nil
    }

    private func countViolation(_ queue: JobQueue, _ time: StoreTime) -> String? {
        let bytes = queue.jobs.values.reduce(0) { $0 + $1.byteCount }
        guard bytes == queue.byteCount else { return "the queue counts \(queue.byteCount) bytes instead of \(bytes)" }
        let inMemory = queue.jobs.values.reduce(0) { $0 + ($1.message == nil ? 0 : $1.byteCount) }
        guard inMemory == queue.memoryByteCount else {
            return "the queue counts \(queue.memoryByteCount) bytes in memory instead of \(inMemory)"
        }
        let parkedBytes = parked.reduce(0) { $0 + $1.byteCount }
        guard parkedBytes == queue.parkedByteCount else {
            return "the queue counts \(queue.parkedByteCount) parked bytes instead of \(parkedBytes)"
        }
        var expected = ProcessorMetrics()
        expected.runningCount = runningCount
        expected.waitingCount = jobs.count {
            switch $0.stage {
            case .storing, .ready, .waiting, .parking: true
            case .loading, .running, .recording: false
            }
        }
        (expected.handledCount, expected.retriedCount) = (handledCount, retriedCount)
        expected.parkedCount = parked.count + jobs.count(where: \.isReserved)
        var metrics = queue.metrics(time: time)
        guard (metrics.oldestAge == nil) == jobs.isEmpty else { return "the oldest age is wrong" }
        (metrics.oldestAge, metrics.pauseReason) = (nil, nil)
        guard metrics == expected else { return "the numbers are \(metrics) instead of \(expected)" }
        return nil
    }

    private func limitViolation(_ queue: JobQueue) -> String? {
        guard runningCount <= max(settings.concurrency, 1) else { return "\(runningCount) handlers run" }
        let hasRoom =
            !isStopped && !jobs.contains(where: \.isRefused) && jobs.count < settings.waiting.maximumCount
            && jobs.reduce(0) { $0 + $1.byteCount } < settings.waiting.maximumBytes
        guard queue.hasRoom == hasRoom else { return "hasRoom is \(queue.hasRoom)" }
        return nil
    }

    /// A job must start as soon as a handler is free and no earlier job with its order key exists.
    private var startViolation: String? {
        guard mayStart, let index = jobs.indices.first(where: { jobs[$0].stage == .ready && isFirst(at: $0) }) else {
            return nil
        }
        return "the handler of message \(jobs[index].message.number) does not start"
    }

    private func timeViolation(_ queue: JobQueue, _ now: Instant) -> String? {
        var times: [Instant] = []
        for job in jobs {
            if case .waiting(let end) = job.stage { times.append(end) }
            if let start = job.startedAt, !job.isCancelled {
                times.append(start.advanced(by: settings.handlerTimeout))
            }
        }
        if let storeRetry { times.append(storeRetry) }
        if let age = settings.parked.maximumAge { times += parked.map { $0.since.advanced(by: age) } }
        guard let first = times.min() else { return nil }
        guard let wake = queue.nextWake, wake <= first else {
            return "the queue wakes at \(String(describing: queue.nextWake)), after \(first)"
        }
        return first > now ? nil : "the time \(first) has passed without an effect"
    }
}
