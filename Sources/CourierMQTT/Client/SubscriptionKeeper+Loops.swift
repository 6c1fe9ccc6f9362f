import CourierCore
import Synchronization

extension SubscriptionKeeper {
    /// Ends all loops over messages, each behind what has come for it.
    ///
    /// - Parameters:
    ///   - keepsSubscriptions: Whether the app wants their filters from now on, or nobody does.
    ///   - told: Called when the broker has confirmed the end of the filters that nobody wants any more; at once where there
    ///     is nothing to confirm, or no connection.
    func endLoops(keepsSubscriptions: Bool, told: @escaping @Sendable () -> Void) {
        let ended = takeLoops()
        let countdown = Countdown(from: ended.count + 1, told)
        for (id, filter, _) in ended {
            if keepsSubscriptions { giveToApp(filter, of: id) }
            if !keepsSubscriptions, driver.isConnected {
                leave(filter, of: id) { countdown.countDown() }
            } else {
                leave(filter, of: id, told: nil)
                countdown.countDown()
            }
        }
        perform()
        for (_, _, reader) in ended { reader.end() }
        countdown.countDown()
    }
}

/// Calls a closure when it has counted down to zero. From any thread.
private final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let ended: @Sendable () -> Void

    init(from count: Int, _ ended: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.ended = ended
    }

    func countDown() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { ended() }
    }
}
