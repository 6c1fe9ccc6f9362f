import CourierCore
import Foundation
import Testing

@testable import CourierSQLite

#if canImport(Glibc)
    import Glibc
#endif

/// A process that stores numbered messages is killed at a random instant, again and again.
@Suite(.timeLimit(.minutes(5))) struct KillTests {
    private static let waiting = 20

    /// Stores messages until the process is killed. Writes the number of each accepted message to the report.
    static func storeUntilKilled(
        _ file: String, _ report: String, _ durability: SQLiteMessageStore.Durability
    ) async throws {
        let store = try SQLiteMessageStore(
            at: URL(fileURLWithPath: file), durability: durability,
            limits: SQLiteMessageStore.Limits(logBytes: 100_000))
        guard let handle = FileHandle(forWritingAtPath: report) else { return }
        try handle.seekToEnd()
        let next = try await store.summary(of: .client).lastMessageID?.rawValue ?? 0
        // From now on, the process is killed at a random time.
        let delay = DispatchTimeInterval.microseconds(.random(in: 0...60_000))
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { kill(getpid(), SIGKILL) }
        await withTaskGroup(of: Void.self) { group in
            for lane in 1...waiting as ClosedRange<Int> {
                group.addTask {
                    var number = next + UInt64(lane)
                    while true {
                        let payload = Int(number % 5) * 500
                        let out = StoreChange.enqueue(message(number, bytes: payload))
                        if await store.refusal([out, .keep(message(number))]) == nil {
                            try? handle.write(contentsOf: Data("\(number)\n".utf8))
                        }
                        number += UInt64(waiting)
                    }
                }
            }
        }
    }

    @Test(arguments: ["full", "normal"])
    func `no accepted batch is lost or stored in part if the process is killed`(durability: String) async throws {
        let folder = try TemporaryFolder()
        let report = folder.url.appendingPathComponent("report")
        try Data().write(to: report)
        var (kill, acceptedCount) = (0, 0)
        // On a busy machine, a process may store only few messages before it is killed.
        while kill < 8 || acceptedCount < 100 {
            kill += 1
            let (path, reportPath, isFull) = (folder.file.path, report.path, durability == "full")
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, report = reportPath as String, isFull = isFull as Bool] in
                try await KillTests.storeUntilKilled(path, report, isFull ? .full : .normal)
            }
            let text = String(decoding: try Data(contentsOf: report), as: UTF8.self)
            // The last line may be cut short.
            let lines = text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1)
            let accepted = Set(lines.compactMap { UInt64($0) })
            let store = try SQLiteMessageStore(at: folder.file)
            #expect(store.recovery == nil)
            let contents = try await store.contents()
            let outgoing = Set(contents.outgoing.map(\.message.id.rawValue))
            #expect(
                accepted.isSubset(of: outgoing), "kill \(kill): \(accepted.subtracting(outgoing).sorted()) are lost")
            // Each batch is stored with both of its rows or not at all.
            #expect(outgoing == Set(contents.incoming.map(\.id.rawValue)))
            #expect(contents.summary.outgoingCount == outgoing.count)
            await store.close()
            acceptedCount = accepted.count
        }
    }
}
