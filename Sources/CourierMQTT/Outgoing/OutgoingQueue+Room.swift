import CourierCore
import Synchronization

/// Callers that wait for room. All functions may be called from any thread.
extension OutgoingQueue {
    /// A waiter that is resumed when a message of this size has room; at once if there is room.
    func roomWaiter(_ waiterCount: WaiterCount, for byteCount: Int, _ qos: QoS) -> Waiter<Void> {
        let waiter = Waiter<Void>(waiterCount)
        if !state.withLock({ $0.rules.wait(waiter, for: byteCount, qos) }) { waiter.resume(.success(())) }
        return waiter
    }

    /// A waiter of a caller that wants to publish next; see `readyToPublish()`.
    func readyWaiter(_ waiterCount: WaiterCount) -> Waiter<Void> {
        let waiter = Waiter<Void>(waiterCount)
        if !state.withLock({ $0.rules.waitUntilReady(waiter) }) { waiter.resume(.success(())) }
        return waiter
    }

    /// A caller learned that there was no room for a message of this size.
    func noteRefusal(of byteCount: Int) { state.withLock { $0.rules.noteRefusal(of: byteCount) } }

    /// Wakes the next callers, because a resumed caller does not use its room.
    func passOnRoom() {
        for waiter in state.withLock({ $0.rules.takeReadyWaiters() }) { waiter.resume(.success(())) }
    }

    /// Forgets a waiter that does not wait any more.
    func forget(_ waiter: Waiter<Void>) { state.withLock { $0.rules.forget(waiter) } }
}
