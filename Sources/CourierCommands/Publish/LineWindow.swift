import Dispatch
import Synchronization

/// Limits the number of lines that are sent and not acknowledged. Each such line occupies one of ``limit`` slots. A
/// thread that reads lines waits for free slots, and a queue that handles acknowledgements frees them.
final class LineWindow: Sendable {
    /// The number of slots: the maximum number of lines that are sent and not acknowledged.
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
    // Each signal of the semaphore is a free slot. The semaphore starts with the value 0, and `init()` adds the
    // signals, because a semaphore that started with `limit` would end the process if it were deallocated while slots
    // are occupied.
    private let places = DispatchSemaphore(value: 0)
    private let retries = DispatchSemaphore(value: 0)

    init() { for _ in 0..<Self.limit { places.signal() } }

    /// The numbers of sent lines, acknowledged lines and read bytes.
    var counts: Counts { state.withLock { $0.counts } }

    /// Waits for a free slot and occupies it. Returns `false` if no more lines may be sent.
    func enter() -> Bool {
        places.wait()
        return state.withLock { !$0.isStopped }
    }

    /// Frees a slot for which no line was sent.
    func skip() { places.signal() }

    /// Records that a line was sent. `bytesRead` is the number of input bytes that were read so far.
    func sent(bytesRead: Int) {
        state.withLock {
            $0.counts.sent += 1
            $0.counts.bytesRead = bytesRead
        }
    }

    /// Records that the client did not accept the last line, and waits until another thread calls ``retry()``. The line
    /// keeps its slot. Returns `false` if no more lines may be sent.
    func takeBack() -> Bool {
        state.withLock { $0.counts.sent -= 1 }
        retries.wait()
        return state.withLock { !$0.isStopped }
    }

    /// Wakes the thread that waits in `takeBack()`, so that it sends the line again.
    func retry() { retries.signal() }

    /// Records that a line was acknowledged or has failed, and frees its slot.
    func leave() {
        state.withLock { $0.counts.answered += 1 }
        places.signal()
    }

    /// Stops the sending of lines, and wakes a waiting thread.
    func stop() {
        state.withLock { $0.isStopped = true }
        places.signal()
        retries.signal()
    }
}
