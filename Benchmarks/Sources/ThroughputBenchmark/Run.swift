import BenchmarkHarness

/// The result of one run of one client.
struct Run: Sendable {
    let count: Int
    let wallSeconds: Double
    /// The CPU time of the client's process. The sink is a separate process, so its CPU time is not included.
    let cpuSeconds: Double
    /// The maximum growth of the resident memory in bytes.
    let peakGrowth: Int
    /// The fraction of the expected events that reached the handler; 1 if there is no handler.
    let heardShare: Double

    var messagesPerSecond: Double { Double(count) / wallSeconds }
    var cpuMicroseconds: Double { cpuSeconds / Double(count) * 1e6 }

    /// Measures in this process. The process should not have done other work before.
    init(measuring contender: Contender, _ cell: Cell, count: Int) async throws {
        let sink = try Sink(for: cell, contender, count: count)
        defer { sink.stop() }
        let workload = Workload(
            port: sink.port, qos: cell.qos, userPropertyCount: contender.userPropertyCount)
        ProcessUsage.forgetPeak()
        let memoryBefore = ProcessUsage.peakBytes
        let client = try await contender.connect(workload)
        let cpuBefore = ProcessUsage.cpuSeconds
        let start = ContinuousClock.now
        switch cell.direction {
        case .publish:
            try await client.publish(count)
            try sink.waitForAll()
        case .receive:
            let received = try await client.receive(count)
            guard received == count * workload.payloadSize else {
                throw Failure("\(received) bytes arrived: \(sink.complaint ?? "the sink sees nothing wrong")")
            }
        }
        let wall = ContinuousClock.now - start
        cpuSeconds = ProcessUsage.cpuSeconds - cpuBefore
        peakGrowth = ProcessUsage.peakBytes - memoryBefore
        wallSeconds = Double(wall.components.seconds) + Double(wall.components.attoseconds) / 1e18
        self.count = count
        await client.close()
        // A published message has two events: accepted and ended. A received message has one event.
        let expected = cell.direction == .publish ? 2 * count : count
        heardShare = client.heardCount.map { min(1, Double($0) / Double(expected)) } ?? 1
    }

    /// Parses the output of ``line``.
    init?(line: String) {
        let fields = line.split(whereSeparator: \.isWhitespace)
        guard fields.count == 5, let count = Int(fields[0]), let wall = Double(fields[1]), let cpu = Double(fields[2]),
            let peak = Int(fields[3]), let share = Double(fields[4])
        else { return nil }
        self.count = count
        wallSeconds = wall
        cpuSeconds = cpu
        peakGrowth = peak
        heardShare = share
    }

    /// The result as one line, which a separate process prints.
    var line: String { "\(count) \(wallSeconds) \(cpuSeconds) \(peakGrowth) \(heardShare)" }
}

extension Run {
    /// Runs the measurement in a separate process, so that memory and CPU time belong to this run only.
    init(inOwnProcess contender: Contender, _ cell: Cell, count: Int) throws {
        let output = try OwnProcess.output(of: [
            "run", contender.name, cell.direction.rawValue, "\(cell.qos)", "\(count)",
        ])
        guard let run = Run(line: output) else {
            throw Failure("\(cell.name) with \(contender.title): no result")
        }
        self = run
    }
}
