/// What tells an ``EventLoop`` the time.
///
/// Two kinds exist: the real clock, and a manual one that a test moves, which then wakes the loop.
public protocol LoopClock: Sendable {
    /// The present moment. Never earlier than what it returned before.
    var now: ContinuousClock.Instant { get }

    /// How long in real time the loop may sleep when its next timer is due at `deadline`, or `nil` for until it is
    /// woken.
    ///
    /// A manual clock returns zero for what is due and `nil` for the rest, since real time does not bring it nearer.
    func sleepLimit(until deadline: ContinuousClock.Instant) -> Duration?

    /// Gives the clock the means to wake the loop. Called once per loop, before its first sleep.
    ///
    /// Only a clock that can jump needs it; it calls `wake`, from any thread, after each jump.
    func attach(wake: @escaping @Sendable () -> Void)
}

/// The machine's clock, which only goes forward and also counts the time that the machine sleeps.
public struct RealLoopClock: LoopClock {
    /// Makes the real clock; all are alike.
    public init() {}

    /// The present moment.
    public var now: ContinuousClock.Instant { .now }

    /// The time left until `deadline`, zero if it has passed.
    public func sleepLimit(until deadline: ContinuousClock.Instant) -> Duration? {
        max(.zero, ContinuousClock.now.duration(to: deadline))
    }

    /// Does nothing: real time needs nobody to wake the loop.
    public func attach(wake: @escaping @Sendable () -> Void) {}
}
