import CourierCore
import Synchronization

extension SubscriptionKeeper {
    /// Ends all `for await` loops over messages. Before a loop ends, it receives its messages that have already
    /// arrived.
    ///
    /// - Parameters:
    ///   - keepsSubscriptions: If true, filters that the broker has granted to loops become subscriptions of the app.
    ///     If false, filters that only loops use are unsubscribed.
    ///   - confirmed: Called when the broker has confirmed every UNSUBSCRIBE. Called at once if no UNSUBSCRIBE is sent,
    ///     or if there is no connection.
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

/// Calls a closure when a count reaches zero. May be used from any thread.
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
