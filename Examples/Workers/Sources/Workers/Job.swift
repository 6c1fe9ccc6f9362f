/// A job for a worker.
struct Job: Codable, Sendable {
    let number: Int
}

/// The result of a job, and the worker that did it.
struct JobResult: Codable, Sendable {
    let number: Int
    let worker: String
    let square: Int
}

/// The topics of jobs and results.
enum Topics {
    static let jobs = "workers/jobs"
    static let results = "workers/results"
    /// A shared subscription: the broker sends each job to only one of its subscribers.
    static let sharedJobs = "$share/pool/\(jobs)"
}
