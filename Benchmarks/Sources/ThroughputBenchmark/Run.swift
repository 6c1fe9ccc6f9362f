import Glibc

/// What one run of one client took.
struct Run: Sendable {
    let count: Int
    let wallSeconds: Double
    /// Of the client's process; the sink is another.
    let cpuSeconds: Double
    /// How much the resident memory grew at most.
    let peakGrowth: Int

    var messagesPerSecond: Double { Double(count) / wallSeconds }
    var cpuMicroseconds: Double { cpuSeconds / Double(count) * 1e6 }

    /// Measures in this process, which should not have done anything else before.
    init(measuring contender: Contender, _ cell: Cell, count: Int) async throws {
        let sink = try Sink(for: cell, count: count)
        defer { sink.stop() }
        let workload = Workload(port: sink.port, qos: cell.qos)
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
    }

    /// Reads what ``line`` made.
    init?(line: String) {
        let fields = line.split(whereSeparator: \.isWhitespace)
        guard fields.count == 4, let count = Int(fields[0]), let wall = Double(fields[1]), let cpu = Double(fields[2]),
            let peak = Int(fields[3])
        else { return nil }
        self.count = count
        wallSeconds = wall
        cpuSeconds = cpu
        peakGrowth = peak
    }

    /// How a run in a process of its own reports itself.
    var line: String { "\(count) \(wallSeconds) \(cpuSeconds) \(peakGrowth)" }
}

extension Run {
    /// Has this program measure in a process of its own, so that memory and processor time are this run's alone.
    init(inOwnProcess contender: Contender, _ cell: Cell, count: Int) throws {
        let output = try Run.output(of: [
            "ThroughputBenchmark", "run", contender.name, cell.direction.rawValue, "\(cell.qos)", "\(count)",
        ])
        guard let run = Run(line: output) else {
            throw Failure("\(cell.name) with \(contender.title): no result")
        }
        self = run
    }

    /// Runs this program again and returns what it printed, or an empty string if it failed; errors go where ours go.
    private static func output(of arguments: [String]) throws -> String {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure("no pipe: \(String(cString: strerror(errno)))") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        posix_spawn_file_actions_addclose(&actions, ends[1])
        let words = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var process = pid_t()
        let error = posix_spawn(&process, "/proc/self/exe", &actions, nil, words, environ)
        close(ends[1])
        guard error == 0 else {
            close(ends[0])
            throw Failure("cannot run itself: \(String(cString: strerror(error)))")
        }
        var bytes: [UInt8] = []
        if let file = fdopen(ends[0], "r") {
            while case let byte = getc(file), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
            fclose(file)
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? String(decoding: bytes, as: UTF8.self) : ""
    }
}
