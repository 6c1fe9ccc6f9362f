package import Dispatch
import Synchronization

/// The end of a command, which the main thread waits for.
package final class Ending: Sendable {
    /// How long an end by a signal waits for what is under way.
    package static let drainTimeout = Duration.seconds(5)

    private let code = Mutex<Int32?>(nil)
    private let reached = DispatchSemaphore(value: 0)
    private let hasBeenSignalled = Atomic(false)

    package init() {}

    /// Ends the command; only the first call counts.
    ///
    /// - Parameter exitCode: What the process ends with.
    package func end(_ exitCode: Int32) {
        let isFirst = code.withLock { code in
            defer { code = code ?? exitCode }
            return code == nil
        }
        if isFirst { reached.signal() }
    }

    /// Ends the command after a while, unless it has ended in order until then: it may wait for a reader of its output that
    /// never comes.
    ///
    /// - Parameters:
    ///   - exitCode: What the process ends with.
    ///   - patience: How long the order may take.
    package func end(_ exitCode: Int32, after patience: Duration) {
        DispatchQueue.global().asyncAfter(deadline: .now() + patience.seconds) { [self] in end(exitCode) }
    }

    /// Lets signals end the command: the first one in order, the second one at once.
    ///
    /// They come on a queue of their own: the command's may wait for a slow reader of its output.
    ///
    /// - Parameters:
    ///   - signals: The signals.
    ///   - queue: Where the command is asked to end.
    ///   - patience: How long the order may take, ``drainTimeout`` by default.
    ///   - exitCode: What the process ends with by which signal.
    ///   - ask: Asks the command to end in order, with this exit code.
    /// - Returns: What watches the signals for as long as it lives.
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
