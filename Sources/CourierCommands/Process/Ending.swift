package import Dispatch
import Synchronization

/// The end of a command, which the main thread waits for.
package final class Ending: Sendable {
    /// The time that an end by a signal waits for unfinished work.
    package static let drainTimeout = Duration.seconds(5)

    private let code = Mutex<Int32?>(nil)
    private let reached = DispatchSemaphore(value: 0)
    private let hasBeenSignalled = Atomic(false)

    package init() {}

    /// Ends the command; only the first call counts.
    ///
    /// - Parameter exitCode: The exit code of the process.
    package func end(_ exitCode: Int32) {
        let isFirst = code.withLock { code in
            defer { code = code ?? exitCode }
            return code == nil
        }
        if isFirst { reached.signal() }
    }

    /// Ends the command after a delay, unless it has already ended in order. An orderly end can block forever on an
    /// output that has no reader.
    ///
    /// - Parameters:
    ///   - exitCode: The exit code of the process.
    ///   - patience: The time limit of the orderly end.
    package func end(_ exitCode: Int32, after patience: Duration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + patience.seconds) { [self] in end(exitCode) }
    }

    /// Lets signals end the command: the first signal in order, the second one at once.
    ///
    /// Signals are handled on a separate queue, because the command's queue may block on a slow reader of its output.
    ///
    /// - Parameters:
    ///   - signals: The signals.
    ///   - queue: The queue on which `ask` is called.
    ///   - patience: The time limit of the orderly end, ``drainTimeout`` by default.
    ///   - exitCode: Returns the exit code for a signal.
    ///   - ask: Asks the command to end in order, with this exit code.
    /// - Returns: The object that watches the signals while it exists.
    package func watch(
        _ signals: [Int32], on queue: DispatchQueue, patience: Duration = Ending.drainTimeout,
        exitCode: @escaping @Sendable (_ signal: Int32) -> Int32 = ExitCode.signal,
        ask: @escaping @Sendable (_ exitCode: Int32) -> Void
    ) -> SignalWatch {
        SignalWatch(signals, on: DispatchQueue(label: "courier.signals")) { [self] number in
            let code = exitCode(number)
            if hasBeenSignalled.exchange(true, ordering: .relaxed) { return end(code) }
            queue.async { ask(code) }
            end(code, after: patience)
        }
    }

    /// Waits for the end; on the main thread.
    ///
    /// - Returns: The exit code.
    package func wait() -> Int32 {
        reached.wait()
        return code.withLock { $0 } ?? 0
    }
}
