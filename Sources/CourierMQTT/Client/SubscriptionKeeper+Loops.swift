import CourierCore
import Synchronization

extension SubscriptionKeeper {
    /// Ends all loops over messages. Each gets the messages that have arrived for it, and then ends.
    ///
    /// - Parameters:
    ///   - keepsSubscriptions: Whether the filters that the broker has granted to loops become subscriptions of the app. Otherwise
    ///     a filter that only loops wanted is unsubscribed.
    ///   - confirmed: Called when the broker has confirmed every UNSUBSCRIBE; at once if there is none, or no connection.
    func endLoops(keepsSubscriptions: Bool, confirmed: @escaping @Sendable () -> Void) {
        let ended = takeLoops()
        let countdown = Countdown(from: ended.count + 1, confirmed)
        for loop in ended {
            if keepsSubscriptions, loop.isGranted { giveToApp(loop.filter, of: loop.id) }
            if !keepsSubscriptions, driver.isConnected {
                leave(loop.filter, of: loop.id) { countdown.countDown() }
            } else {
                leave(loop.filter, of: loop.id, told: nil)
                countdown.countDown()
            }
        }
        perform()
        for loop in ended { loop.reader.end() }
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
