import CourierCore
import CourierTransport

/// Waiting for room: whoever publishes, as long as the policy says, and whoever asks whether there is some.
extension Publishing {
    private struct TimeIsOver: Error {}

    /// Until when a publisher that begins to wait for room now does so; `nil` if it may not wait.
    var endOfWaiting: ContinuousClock.Instant? {
        guard case .suspend(let timeout) = gate.policy.overflow else { return nil }
        return loop.clock.now.advanced(by: timeout.bounded)
    }

    /// Waits for room until `end`; `false` when that has come.
    nonisolated(nonsending) func room(
        _ waiter: Waiter<Void>, until end: ContinuousClock.Instant,
        forget: @escaping @Sendable (Waiter<Void>) -> Void
    ) async throws -> Bool {
        defer { forget(waiter) }
        try Task.checkCancellation()
        let now = loop.clock.now
        guard now < end else { return false }
        let timer = LoopTimer(on: loop, after: end - now) { waiter.resume(.failure(TimeIsOver())) }
        defer { timer.cancel() }
        do {
            try await waiter.value { forget(waiter) }
            return true
        } catch is TimeIsOver {
            return false
        }
    }

    /// Waits until there is room: for one such as the message that was refused last, or for any if none was. With a
    /// store only messages that pass it by need room in the gate, which is known once one was refused.
    func waitForRoom() async throws {
        if let durable {
            let waiter = durable.roomWaiter(census)
            try await waiter.value { durable.forget(waiter) }
        }
        let waiter = gate.readyWaiter(census, needsRoom: durable == nil)
        try await waiter.value { [gate] in gate.forget(waiter) }
    }
}
