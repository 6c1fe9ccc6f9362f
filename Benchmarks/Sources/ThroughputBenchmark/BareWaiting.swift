import Dispatch
import Synchronization

/// Measures 1,000 tasks that only wait repeatedly, without any message. The Swift runtime's speed is the upper limit
/// for every `await` from 1,000 tasks.
///
/// Each wait uses the minimum that a wait for an acknowledgement needs: a continuation and a cancellation handler. One
/// thread resumes all waiting tasks. Then it resumes the tasks that started to wait in the meantime.
enum BareWaiting {
    private final class Waiters: Sendable {
        private struct State {
            var waiting: [UnsafeContinuation<Void, Never>] = []
            var isEnding = false
        }

        private let state = Mutex(State())
        private let news = DispatchSemaphore(value: 0)

        nonisolated(nonsending) func wait() async {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { task in
                    let isFirst = state.withLock { state in
                        state.waiting.append(task)
                        return state.waiting.count == 1
                    }
                    if isFirst { news.signal() }
                }
            } onCancel: {
                news.signal()
            }
        }

        func end() {
            state.withLock { $0.isEnding = true }
            news.signal()
        }

        func resumeUntilEnd() {
            var batch: [UnsafeContinuation<Void, Never>] = []
            while true {
                let isEnding = state.withLock { state in
                    swap(&state.waiting, &batch)
                    return state.isEnding
                }
                if batch.isEmpty {
                    if isEnding { return }
                    news.wait()
                }
                for task in batch { task.resume() }
                batch.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Returns the number of waits per second: the median of `rounds` runs.
    static func perSecond(rounds: Int, waits: Int = 1_000_000, tasks: Int = 1_000) async -> Double {
        var speeds: [Double] = []
        for _ in 0..<rounds {
            let waiters = Waiters()
            DispatchQueue(label: "bench.waiters").async { waiters.resumeUntilEnd() }
            let start = ContinuousClock.now
            await withTaskGroup { group in
                for _ in 0..<tasks {
                    group.addTask { for _ in 0..<(waits / tasks) { await waiters.wait() } }
                }
            }
            let took = ContinuousClock.now - start
            waiters.end()
            speeds.append(Double(waits) / (took / .seconds(1)))
        }
        return speeds.sorted()[rounds / 2]
    }
}
