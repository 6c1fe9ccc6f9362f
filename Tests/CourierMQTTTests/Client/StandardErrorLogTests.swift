import CourierCore
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import CourierMQTT

@Suite struct StandardErrorLogTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    @Test func `a log record is written as one line with time, level, source and client id`() async {
        let line = await withCheckedContinuation { continuation in
            let log = StandardErrorLog(minimumLevel: .info) { continuation.resume(returning: $0) }
            log.log(LogRecord(level: .debug, source: "connection", message: "too little"))
            log.log(LogRecord(level: .warning, source: "connection", clientID: "phone\n7", message: "no way"))
        }
        #expect(line.hasSuffix(" warning connection [\"phone\\n7\"]: no way\n"), "\(line)")
        #expect(line.prefix(4).allSatisfy(\.isNumber) && line.contains("T"))
        #expect(line.count { $0 == "\n" } == 1)
    }

    @Test func `if the terminal blocks, log lines are dropped and the number of dropped lines is written`() async {
        let lines = Lines()
        let gate = DispatchSemaphore(value: 0)
        let isFirst = Atomic(true)
        let log = StandardErrorLog(minimumLevel: .info) { line in
            if isFirst.exchange(false, ordering: .relaxed) { gate.wait() }
            lines.add(line)
        }
        let count = StandardErrorLog.maximumWaiting + 50
        for number in 0..<count { log.log(LogRecord(level: .info, source: "s", message: "\(number)")) }
        gate.signal()
        while !lines.all.contains(where: { $0.contains("s: last") }) {
            log.log(LogRecord(level: .info, source: "s", message: "last"))
            await Task.yield()
        }
        #expect(lines.all.contains { $0.hasPrefix("(") && $0.hasSuffix("lines were dropped)\n") })
    }

    @Test func `the default log writes only warnings and errors, equal records once, and at most 60 records a minute`()
        async
    {
        let lines = Lines()
        let log = StandardErrorLog(minimumLevel: .warning, limiter: LogLimiter()) { lines.add($0) }
        log.log(LogRecord(level: .info, source: "s", message: "too little"))
        for _ in 0..<5 { log.log(LogRecord(level: .warning, source: "s", message: "again")) }
        for number in 0..<100 { log.log(LogRecord(level: .error, source: "s", message: "\(number)")) }
        while lines.all.count < LogLimiter.maximumCount { await Task.yield() }
        #expect(lines.all.count == 60)
        #expect(lines.all.count { $0.contains("again") } == 1)
    }

    @Test func `the default log handler writes warnings to standard error`() {
        let config = MQTTClientConfig(
            options: ConnectOptions(host: "h", port: 1883, clientId: "c", username: "", password: ""))
        let log = config.logHandler as? StandardErrorLog
        #expect(log === StandardErrorLog.standard && log?.minimumLevel == .warning)
    }

    @Test func `a write to a closed pipe inside BrokenPipeSignal leaves no pending or blocked SIGPIPE`() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[0])
        var isWritten = true
        BrokenPipeSignal.block { isWritten = write(ends[1], "x", 1) == 1 }
        #expect(!isWritten)
        var signals = sigset_t()
        sigpending(&signals)
        #expect(sigismember(&signals, SIGPIPE) == 0)
        pthread_sigmask(SIG_BLOCK, nil, &signals)
        #expect(sigismember(&signals, SIGPIPE) == 0)
        close(ends[1])
    }
}
