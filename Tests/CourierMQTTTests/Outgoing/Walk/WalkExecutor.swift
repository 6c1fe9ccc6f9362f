import Synchronization

/// Runs the tasks of a walk on the walk's thread, at the times that the walk chooses. So only the seed determines the
/// order of the tasks.
final class WalkExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs the waiting jobs and the jobs that they add. Returns the number of jobs.
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
