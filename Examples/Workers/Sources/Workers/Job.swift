/// What is to be done.
struct Job: Codable, Sendable {
    let number: Int
}

/// Who has done it, and what came of it.
struct JobResult: Codable, Sendable {
    let number: Int
    let worker: String
    let square: Int
}

/// Where jobs and results travel.
enum Topics {
    static let jobs = "workers/jobs"
    static let results = "workers/results"
    /// The broker gives each job to one of those that subscribe to this.
    static let sharedJobs = "$share/pool/\(jobs)"
}
