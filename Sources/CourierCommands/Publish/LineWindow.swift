import Dispatch
import Synchronization

/// How many lines are under way, between the thread that reads them and the queue on which they are answered.
final class LineWindow: Sendable {
    /// How many lines may be sent and not answered.
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
    // Made empty and filled: Dispatch ends a process that lets go of a semaphore with less than it was made with.
    private let places = DispatchSemaphore(value: 0)
    private let retries = DispatchSemaphore(value: 0)

    init() { for _ in 0..<Self.limit { places.signal() } }

    /// What was sent, and what of it was answered.
    var counts: Counts { state.withLock { $0.counts } }

    /// Waits for a place; `false` when nothing more is to be sent.
    func enter() -> Bool {
        places.wait()
        return state.withLock { !$0.isStopped }
    }

    /// Gives the place back: nothing was sent.
    func skip() { places.signal() }

    /// A line is sent in the place.
    func sent(bytesRead: Int) {
        state.withLock {
            $0.counts.sent += 1
            $0.counts.bytesRead = bytesRead
        }
    }

    /// It was not taken, and keeps its place: waits for ``retry()``; `false` when nothing more is to be sent.
    func takeBack() -> Bool {
        state.withLock { $0.counts.sent -= 1 }
        retries.wait()
        return state.withLock { !$0.isStopped }
    }

    /// The line that was not taken may be sent again.
    func retry() { retries.signal() }

    /// It was answered.
    func leave() {
        state.withLock { $0.counts.answered += 1 }
        places.signal()
    }

    /// Nothing more is sent.
    func stop() {
        state.withLock { $0.isStopped = true }
        places.signal()
        retries.signal()
    }
}
