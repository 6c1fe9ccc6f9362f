package import Dispatch
import Synchronization

/// The end of a command, which the main thread waits for.
package final class Ending: Sendable {
    /// The maximum time that a command may still work after the first signal that ends it.
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

    /// Ends the command after a delay, unless it has already ended. A command that is ending can wait forever for a
    /// program that does not read its output. The delay limits this wait.
    ///
    /// - Parameters:
    ///   - exitCode: The exit code of the process.
    ///   - patience: The delay.
    package func end(_ exitCode: Int32, after patience: Duration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + patience.seconds) { [self] in end(exitCode) }
    }

    /// Lets signals end the command. After the first signal, the command can finish its work. The second signal ends it
    /// at once.
    ///
    /// Signals are handled on a separate queue, because the command's queue may block on a slow reader of its output.
    ///
    /// - Parameters:
    ///   - signals: The signals.
    ///   - queue: The queue on which `ask` is called.
    ///   - patience: The maximum time from the first signal to the end; ``drainTimeout`` by default.
    ///   - exitCode: Returns the exit code for a signal.
    ///   - ask: Called with the exit code after the first signal. The command must then finish its work and end.
    /// - Returns: The object that watches the signals while it exists.
    package func watch(
        _ signals: [Int32], on queue: DispatchQueue, patience: Duration = Ending.drainTimeout,
        exitCode: @escaping @Sendable (_ signal: Int32) -> Int32 = ExitCode.signal,
        ask: @escaping @Sendable (_ exitCode: Int32) -> Void
    ) -> SignalWatch {
        SignalWatch(signals, on: DispatchQueue(label: "courier.ending")) { [self] number in
            let code = exitCode(number)
            if hasBeenSignalled.exchange(true, ordering: .relaxed) { return end(code) }
            queue.async { ask(code) }
            end(code, after: patience)
        }
    }

    /// Blocks the main thread until the command has ended.
    ///
    /// - Returns: The exit code.
    package func wait() -> Int32 {
        reached.wait()
        return code.withLock { $0 } ?? 0
    }
}
