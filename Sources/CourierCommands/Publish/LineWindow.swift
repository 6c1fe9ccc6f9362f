import Dispatch
import Synchronization

/// Limits the lines that are sent and unanswered. It is shared by the reading thread and the queue that handles the
/// answers.
final class LineWindow: Sendable {
    /// The maximum number of lines that are sent and not answered.
    static let limit = 1_000

    struct Counts: Hashable, Sendable {
        var sent = 0
        var answered = 0
        var bytesRead = 0
    }

    private struct State {
        var counts = Counts()
        var isStopped = false
    }

    private let state = Mutex(State())
    // Created with 0 and then filled, because Dispatch ends a process that releases a semaphore below its initial
    // value.
    private let places = DispatchSemaphore(value: 0)
    private let retries = DispatchSemaphore(value: 0)

    init() { for _ in 0..<Self.limit { places.signal() } }

    /// The numbers of sent and answered lines.
    var counts: Counts { state.withLock { $0.counts } }

    /// Waits for a free slot; returns `false` if no more lines may be sent.
    func enter() -> Bool {
        places.wait()
        return state.withLock { !$0.isStopped }
    }

    /// Frees the slot, because no line was sent.
    func skip() { places.signal() }

    /// Records that a line was sent in the slot.
    func sent(bytesRead: Int) {
        state.withLock {
            $0.counts.sent += 1
            $0.counts.bytesRead = bytesRead
        }
    }

    /// Records that the client did not accept the line, which keeps its slot, and waits for ``retry()``. Returns
    /// `false` if no more lines may be sent.
    func takeBack() -> Bool {
        state.withLock { $0.counts.sent -= 1 }
        retries.wait()
        return state.withLock { !$0.isStopped }
    }

    /// Lets the reading thread send the line again that was not accepted.
    func retry() { retries.signal() }

    /// Records an answer and frees the slot.
    func leave() {
        state.withLock { $0.counts.answered += 1 }
        places.signal()
    }

    /// Stops the sending of lines.
    func stop() {
        state.withLock { $0.isStopped = true }
        places.signal()
        retries.signal()
    }
}
