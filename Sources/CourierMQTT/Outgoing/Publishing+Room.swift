import CourierCore
import CourierTransport

/// Waiting for room: publishers as long as the policy allows, and callers of `readyToPublish()`.
extension Publishing {
    private struct TimeIsOver: Error {}

    /// Until when a publisher waits for room that begins to wait now; `nil` if it may not wait.
    var endOfWaiting: ContinuousClock.Instant? {
        guard case .suspend(let timeout) = queue.policy.overflow else { return nil }
        return loop.clock.now.advanced(by: timeout.bounded)
    }

    /// Waits for room until `end`; `false` at that time.
    nonisolated(nonsending) func room(_ waiter: Waiter<Void>, until end: ContinuousClock.Instant) async throws -> Bool {
        defer { queue.forget(waiter) }
        try Task.checkCancellation()
        let now = loop.clock.now
        guard now < end else { return false }
        let timer = LoopTimer(on: loop, after: end - now) { waiter.resume(.failure(TimeIsOver())) }
        defer { timer.cancel() }
        do {
            try await waiter.value { [queue] in queue.forget(waiter) }
            return true
        } catch is TimeIsOver {
            return false
        }
    }

    /// Waits until there is room: for a message of the size that was refused last, or for any message.
    func waitForRoom() async throws {
        let waiter = queue.readyWaiter(waiterCount)
        try await waiter.value { [queue] in queue.forget(waiter) }
    }
}
