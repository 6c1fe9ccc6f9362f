import Dispatch
import Synchronization

/// The end of a command, which the main thread waits for.
package final class Ending: Sendable {
    private let code = Mutex<Int32?>(nil)
    private let reached = DispatchSemaphore(value: 0)

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

    /// Waits for the end; on the main thread.
    ///
    /// - Returns: The exit code.
    package func wait() -> Int32 {
        reached.wait()
        return code.withLock { $0 } ?? 0
    }
}
