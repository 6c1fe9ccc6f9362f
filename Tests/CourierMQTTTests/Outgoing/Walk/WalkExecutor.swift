import Synchronization

/// Runs the tasks of a walk on the walk's own thread, when the walk says so: chance is the seed's alone.
final class WalkExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs what waits, and what comes out of it. Returns how much that was.
    func drain() -> Int {
        var count = 0
        while true {
            let batch = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            if batch.isEmpty { return count }
            for job in batch { job.runSynchronously(on: asUnownedTaskExecutor()) }
            count += batch.count
        }
    }
}
