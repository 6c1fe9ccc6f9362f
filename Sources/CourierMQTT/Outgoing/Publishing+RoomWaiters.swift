import CourierCore
import CourierTransport

/// Lets publishing calls and `readyToPublish()` wait for room in the queue. A publishing call waits only as long as the
/// policy allows.
extension Publishing {
    /// The error that ends a wait for room at its time limit.
    private struct TimeIsOver: Error {}

    /// The time limit of a publishing call that begins to wait for room now; `nil` if the call must not wait.
    var endOfWaiting: ContinuousClock.Instant? {
        guard case .suspend(let timeout) = queue.policy.overflow else { return nil }
        return loop.clock.now.advanced(by: timeout.bounded)
    }

    /// Waits until the waiter is resumed, because there is room. Returns false if the time `end` is reached before.
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

    /// Waits until there is room for a message of the size that was refused last. If no message was refused, waits for
    /// room for the smallest message.
    func waitForRoom() async throws {
        let waiter = queue.readyWaiter(waiterCount)
        try await waiter.value { [queue] in queue.forget(waiter) }
    }
}
