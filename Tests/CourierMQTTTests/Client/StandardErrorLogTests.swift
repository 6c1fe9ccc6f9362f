import CourierCore
import Dispatch
import Synchronization
import Testing

@testable import CourierMQTT

@Suite struct StandardErrorLogTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    @Test func `a record is one line with time, level, source and client`() async {
        let line = await withCheckedContinuation { continuation in
            let log = StandardErrorLog(minimumLevel: .info) { continuation.resume(returning: $0) }
            log.log(LogRecord(level: .debug, source: "connection", message: "too little"))
            log.log(LogRecord(level: .warning, source: "connection", clientID: "phone\n7", message: "no way"))
        }
        #expect(line.hasSuffix(" warning connection [\"phone\\n7\"]: no way\n"), "\(line)")
        #expect(line.prefix(4).allSatisfy(\.isNumber) && line.contains("T"))
        #expect(line.count { $0 == "\n" } == 1)
    }

    @Test func `a terminal that stands still drops lines and says how many`() async {
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
}
