import CourierCore
import Synchronization

/// Lets callers wait for room in the queue. All functions may be called from any thread.
extension OutgoingQueue {
    /// Returns a waiter that is resumed when there is room for a message of this size. If there is room now, the waiter
    /// is resumed at once.
    func roomWaiter(_ waiterCount: WaiterCount, for byteCount: Int, _ qos: QoS) -> Waiter<Void> {
        let waiter = Waiter<Void>(waiterCount)
        if !state.withLock({ $0.rules.wait(waiter, for: byteCount, qos) }) { waiter.resume(.success(())) }
        return waiter
    }

    /// Returns a waiter for a call of `readyToPublish()`. The waiter is resumed when the caller can publish a message.
    func readyWaiter(_ waiterCount: WaiterCount) -> Waiter<Void> {
        let waiter = Waiter<Void>(waiterCount)
        if !state.withLock({ $0.rules.waitUntilReady(waiter) }) { waiter.resume(.success(())) }
        return waiter
    }

    /// Records that a message of this size was refused, because there was no room.
    func noteRefusal(of byteCount: Int) { state.withLock { $0.rules.noteRefusal(of: byteCount) } }

    /// Resumes the next waiters that have room. Called when a resumed caller does not use its room, or when the store
    /// refuses a message.
    func passOnRoom() {
        for waiter in state.withLock({ $0.rules.takeReadyWaiters() }) { waiter.resume(.success(())) }
    }

    /// Removes a waiter, because its caller does not wait any more.
    func forget(_ waiter: Waiter<Void>) { state.withLock { $0.rules.forget(waiter) } }
}
