import CourierMQTT

/// Publishes jobs for the pool, and waits for the result of each job.
struct Employer {
    /// The time after which a job without a result is published again, because its worker may have crashed.
    private static let patience = Duration.seconds(3)

    let jobCount: Int
    let port: UInt16

    /// Returns when every job has a result.
    func run() async throws {
        let client = CourierClientFactory().makeMQTTClient(config: MQTTClientConfig(named: "employer", port: port))
        client.connect()
        try await client.connected()
        let ledger = Ledger(jobCount)
        let results = client.messages(JobResult.self, from: Topics.results, qos: .one)
        try await client.subscribe(to: Topics.results, qos: .one)
        // The task that ends first cancels the other one. Reading ends when all jobs are done; publishing ends only
        // with an error.
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await give(ledger, by: client) }
            group.addTask { for try await result in results where await ledger.isLast(result) { return } }
            try await group.next()
            group.cancelAll()
        }
        for (worker, count) in await ledger.shares { say("\(worker) did \(count) of them") }
        say("all \(jobCount) jobs are done, \(await ledger.repeatedCount) of them twice")
        await client.disconnectAndWait()
    }

    /// Publishes all jobs that have no result, and repeats this until it is cancelled.
    private func give(_ ledger: Ledger, by client: any CourierClient) async throws {
        var isFirst = true
        while true {
            let open = await ledger.open
            if !isFirst { say("\(open.count) jobs have no result yet; they are given again") }
            isFirst = false
            for number in open { try await client.publish(Job(number: number), to: Topics.jobs, qos: .one) }
            try await Task.sleep(for: Self.patience)
        }
    }
}

/// Records the jobs without a result, and the worker of each finished job.
private actor Ledger {
    private(set) var open: [Int]
    private(set) var repeatedCount = 0
    private var workers: [Int: String] = [:]

    init(_ jobCount: Int) { open = Array(1...jobCount) }

    /// Records a result. Returns true if every job has a result now.
    func isLast(_ result: JobResult) -> Bool {
        if workers.updateValue(result.worker, forKey: result.number) != nil { repeatedCount += 1 }
        open.removeAll { $0 == result.number }
        return open.isEmpty
    }

    /// The number of jobs that each worker has done, largest number first.
    var shares: [(worker: String, count: Int)] {
        Dictionary(grouping: workers.values, by: \.self).map { ($0.key, $0.value.count) }
            .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }
}
