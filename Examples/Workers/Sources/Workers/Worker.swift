import CourierMQTT

/// One worker of the pool. It receives a job, does the job, publishes the result, and receives the next job.
struct Worker {
    private static let workTime = Duration.milliseconds(20)

    let name: String
    let port: UInt16

    /// Works until the task is cancelled.
    func run() async throws {
        let client = CourierClientFactory().makeMQTTClient(
            config: MQTTClientConfig(named: "worker-\(name)", port: port))
        client.connect()
        try await client.connected()
        // A job is acknowledged when the loop requests the next one. An unfinished job is therefore never acknowledged.
        let jobs = client.messages(Job.self, from: Topics.sharedJobs, qos: .one, acknowledge: .afterProcessing)
        say("\(name) is ready")
        for try await job in jobs {
            try await Task.sleep(for: Self.workTime)
            let result = JobResult(number: job.number, worker: name, square: job.number * job.number)
            try await client.publish(result, to: Topics.results, qos: .one)
            say("\(name) did job \(job.number)")
        }
    }
}
