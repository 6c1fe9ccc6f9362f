import Synchronization

/// Waits until a number of events have happened.
package final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let waiter = Mutex<CheckedContinuation<Void, Never>?>(nil)

    /// Creates a countdown of this number of events.
    package init(_ count: Int) { left = Atomic(count) }

    /// Counts one event.
    package func countDown() {
        guard left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        let waiter = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        waiter?.resume()
    }

    /// Returns after the last event.
    package func reached() async {
        await withCheckedContinuation { continuation in
            waiter.withLock { $0 = continuation }
            if left.load(ordering: .acquiring) == 0 {
                let waiter = waiter.withLock { waiter in
                    defer { waiter = nil }
                    return waiter
                }
                waiter?.resume()
            }
        }
    }
}
