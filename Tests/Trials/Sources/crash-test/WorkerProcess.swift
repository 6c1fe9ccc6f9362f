import Foundation
import Glibc
import Synchronization
import TrialSupport

/// One worker process, as the parent sees it.
final class WorkerProcess: Sendable {
    enum Mark: Sendable {
        /// The worker's clients are connected.
        case ready
        /// The worker has ended, and all its output was read.
        case ended
    }

    private struct State {
        var marks: [Mark: ContinuousClock.Instant] = [:]
        var waiters: [(mark: Mark, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    let life: Int
    let started = ContinuousClock.now
    private let process: ChildProcess
    private let state = Mutex(State())

    /// Starts the worker. `heard` gets its lines in order, and unknown output as `trouble`.
    init(_ orders: WorkerOrders, _ heard: @escaping @Sendable (WorkerLine) -> Void) throws {
        life = orders.life
        // Use the program's own file, because its path may lead to another file by now.
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process = try ChildProcess([program] + orders.words)
        Thread.detachNewThread { [self] in read(heard) }
    }

    /// The time at which the worker reached the mark; `nil` if it has not.
    subscript(mark: Mark) -> ContinuousClock.Instant? { state.withLock { $0.marks[mark] } }

    /// Waits until the worker reaches the mark. Returns false if it ends before that, or after the time `most`.
    func wait(for mark: Mark, at most: Duration) async -> Bool {
        let deadline = Task { [self] in
            try await Task.sleep(for: most)
            give(up: mark)
        }
        defer { deadline.cancel() }
        return await withCheckedContinuation { continuation in
            let isKnown = state.withLock { state -> Bool? in
                if state.marks[mark] != nil { return true }
                if state.marks[.ended] != nil { return false }
                state.waiters.append((mark, continuation))
                return nil
            }
            if let isKnown { continuation.resume(returning: isKnown) }
        }
    }

    /// Kills the worker, and returns when all its output was read.
    func kill() async {
        // This runs on its own thread, because it may block.
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                process.end(by: SIGKILL)
                continuation.resume()
            }
        }
        _ = await wait(for: .ended, at: .seconds(10))
    }

    /// Ends the worker with SIGINT. Returns its exit status; `nil` if it had to be killed.
    func finish(at most: Duration) async -> Int32? {
        if let id = process.id { Glibc.kill(id, SIGINT) }
        guard await wait(for: .ended, at: most) else {
            await kill()
            return nil
        }
        return process.waitForEnd()
    }

    private func read(_ heard: (WorkerLine) -> Void) {
        var rest: [UInt8] = []
        while true {
            let part = process.read()
            if part.isEmpty { break }
            rest += part
            let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            for bytes in lines.dropLast() where !bytes.isEmpty { understand(bytes, heard) }
            rest = lines.last.map { Array($0) } ?? []
        }
        if !rest.isEmpty { understand(rest[...], heard) }
        reached(.ended)
    }

    private func understand(_ bytes: ArraySlice<UInt8>, _ heard: (WorkerLine) -> Void) {
        let text = String(decoding: bytes, as: UTF8.self)
        let line = WorkerLine(text) ?? .trouble("said \(text)")
        heard(line)
        switch line {
        case .ready: reached(.ready)
        case .opened, .accepted, .refused, .processing, .done, .trouble: break
        }
    }

    private func reached(_ mark: Mark) {
        let waiters = state.withLock { state in
            state.marks[mark] = .now
            let (over, rest) = state.waiters.partitioned { $0.mark == mark || mark == .ended }
            state.waiters = rest
            return over
        }
        for waiter in waiters { waiter.continuation.resume(returning: waiter.mark == mark) }
    }

    private func give(up mark: Mark) {
        let waiters = state.withLock { state in
            let (over, rest) = state.waiters.partitioned { $0.mark == mark }
            state.waiters = rest
            return over
        }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }
}

extension Array {
    /// Splits the array into elements that match the condition and elements that do not. Both keep their order.
    fileprivate func partitioned(by condition: (Element) -> Bool) -> (those: [Element], others: [Element]) {
        (filter(condition), filter { !condition($0) })
    }
}
