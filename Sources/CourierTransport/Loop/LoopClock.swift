/// A clock for an ``EventLoop``.
///
/// Two kinds exist: the real clock, and a manual clock. A test moves the manual clock, which then wakes the loop.
public protocol LoopClock: Sendable {
    /// The current time. It never goes backward.
    var now: ContinuousClock.Instant { get }

    /// Returns how long, in real time, the loop may sleep if its next timer is due at `deadline`. `nil` means that the
    /// loop sleeps until it is woken.
    ///
    /// A manual clock returns zero if the deadline has passed, otherwise `nil`, because it does not advance with real
    /// time.
    func sleepLimit(until deadline: ContinuousClock.Instant) -> Duration?

    /// Passes the clock a closure that wakes the loop. Called once per loop, before its first sleep.
    ///
    /// Only a clock that can jump needs the closure. The clock calls `wake` after each jump, from any thread.
    func attach(wake: @escaping @Sendable () -> Void)
}

/// The machine's clock. It only goes forward, and it also counts the time while the machine is suspended.
public struct RealLoopClock: LoopClock {
    /// Creates a real clock. All instances behave alike.
    public init() {}

    /// The current time.
    public var now: ContinuousClock.Instant { .now }

    /// Returns the time left until `deadline`, or zero if the deadline has passed.
    public func sleepLimit(until deadline: ContinuousClock.Instant) -> Duration? {
        max(.zero, ContinuousClock.now.duration(to: deadline))
    }

    /// Does nothing, because the loop's own sleep follows real time.
    public func attach(wake: @escaping @Sendable () -> Void) {}
}
