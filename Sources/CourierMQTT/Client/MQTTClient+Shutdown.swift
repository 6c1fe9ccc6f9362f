import CourierCore
import CourierTransport

extension MQTTClient {
    nonisolated(nonsending) func shutdown(subscriptions: LoopSubscriptions?) async {
        switch await fate(subscriptions) {
        case .keep:
            // Loops end after the connection, so that no message arrives for a filter that no loop reads.
            await disconnectAndWait()
            await endLoops(.keep)
        case .remove:
            await endLoops(.remove)
            await disconnectAndWait()
        }
    }

    private nonisolated(nonsending) func fate(_ chosen: LoopSubscriptions?) async -> LoopSubscriptions {
        if let chosen { return chosen }
        let coordinator = parts.coordinator
        return await withCheckedContinuation { continuation in
            parts.loop.execute { continuation.resume(returning: coordinator.isSessionKept ? .keep : .remove) }
        }
    }

    /// The maximum time to wait for the broker's answers to UNSUBSCRIBE.
    private static var unsubscribeTimeout: Duration { .seconds(5) }

    /// Ends all `for await` loops, and waits for the broker's answers to UNSUBSCRIBE.
    private nonisolated(nonsending) func endLoops(_ fate: LoopSubscriptions) async {
        let waiter = Waiter<Void>(parts.waiterCount)
        let timer = LoopTimer(on: parts.loop, after: Self.unsubscribeTimeout) { waiter.resume(.success(())) }
        defer { timer.cancel() }
        parts.coordinator.endLoops(fate) { waiter.resume(.success(())) }
        try? await waiter.value()  // If the task is cancelled, it does not wait.
    }
}
