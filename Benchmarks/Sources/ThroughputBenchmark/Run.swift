import BenchmarkHarness

/// What one run of one client took.
struct Run: Sendable {
    let count: Int
    let wallSeconds: Double
    /// Of the client's process; the sink is another.
    let cpuSeconds: Double
    /// How much the resident memory grew at most.
    let peakGrowth: Int
    /// The share of the messages' events that reached the handler; 1 without one.
    let heardShare: Double

    var messagesPerSecond: Double { Double(count) / wallSeconds }
    var cpuMicroseconds: Double { cpuSeconds / Double(count) * 1e6 }

    /// Measures in this process, which should not have done anything else before.
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
        // One that a message was taken and one of its end, or one that it came.
        let expected = cell.direction == .publish ? 2 * count : count
        heardShare = client.heardCount.map { min(1, Double($0) / Double(expected)) } ?? 1
    }

    /// Reads what ``line`` made.
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

    /// How a run in a process of its own reports itself.
    var line: String { "\(count) \(wallSeconds) \(cpuSeconds) \(peakGrowth) \(heardShare)" }
}

extension Run {
    /// Has this program measure in a process of its own, so that memory and processor time are this run's alone.
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
