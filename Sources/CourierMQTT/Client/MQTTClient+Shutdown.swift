import CourierCore
import CourierTransport

extension MQTTClient {
    nonisolated(nonsending) func shutdown(subscriptions: LoopSubscriptions?) async {
        switch await fate(subscriptions) {
        case .keep:
            // End the `for await` loops after the connection, because a message may arrive until the connection has
            // ended. If the loops ended first, no loop would read this message.
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

    /// The maximum time to wait for the broker's UNSUBACK packets.
    private static var unsubscribeTimeout: Duration { .seconds(5) }

    /// Ends all `for await` loops, and waits for the broker's UNSUBACK packets, but not longer than
    /// `unsubscribeTimeout`.
    private nonisolated(nonsending) func endLoops(_ fate: LoopSubscriptions) async {
        let waiter = Waiter<Void>(parts.waiterCount)
        let timer = LoopTimer(on: parts.loop, after: Self.unsubscribeTimeout) { waiter.resume(.success(())) }
        defer { timer.cancel() }
        parts.coordinator.endLoops(fate) { waiter.resume(.success(())) }
        try? await waiter.value()  // If the task is cancelled, the wait ends at once.
    }
}
