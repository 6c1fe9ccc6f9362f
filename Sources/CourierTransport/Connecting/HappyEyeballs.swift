/// Decides when to try which address of a host (RFC 8305, section 5).
///
/// Attempts start one after the other and alternate between the address families. The next attempt starts after a
/// delay, or at once if an attempt failed. The first attempt that succeeds wins.
///
/// The caller performs each returned ``Action``. If ``deadline`` is not `nil`, the caller calls ``timerFired(now:)``
/// when the deadline has passed.
struct HappyEyeballs: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The recommended delay between the starts of two attempts (section 8).
    static let recommendedAttemptDelay = Duration.milliseconds(250)
    /// The minimum delay between the starts of two attempts, so that the network is not overloaded (section 5).
    static let minimumAttemptDelay = Duration.milliseconds(10)

    enum Family: Sendable { case ipv4, ipv6 }

    enum Action: Equatable, Sendable {
        case none
        /// Connect to the address with this number.
        case start(Int)
        /// Keep this connection and drop all other attempts. No further action follows.
        case win(Int)
        /// All attempts failed. No further action follows.
        case fail
    }

    private enum Attempt: Equatable, Sendable { case waiting, running, failed }

    /// The race goes from `idle` to `racing`, and to `over` when an attempt wins or all have failed. `over` is final.
    private enum State: Equatable, Sendable {
        case idle
        case racing(nextStart: Instant?)
        case over
    }

    private var state = State.idle
    private var attempts: [Attempt]
    private let delay: Duration

    /// Creates a race among `count` addresses, numbered in the order in which they are tried; see ``order(_:)``.
    init(count: Int, attemptDelay: Duration) {
        attempts = Array(repeating: .waiting, count: count)
        delay = max(attemptDelay, Self.minimumAttemptDelay)
    }

    /// The time to call ``timerFired(now:)``; `nil` if no timer is needed.
    var deadline: Instant? {
        switch state {
        case .racing(let nextStart): nextStart
        case .idle, .over: nil
        }
    }

    /// Returns the order in which to try addresses of these families (section 4). The first address stays first, then
    /// the families alternate, and each family keeps its own order.
    static func order(_ families: [Family]) -> [Int] {
        guard let first = families.first else { return [] }
        let preferred = families.indices.filter { families[$0] == first }
        let others = families.indices.filter { families[$0] != first }
        return (0..<max(preferred.count, others.count)).flatMap { place in
            [preferred, others].compactMap { place < $0.count ? $0[place] : nil }
        }
    }

    mutating func begin(now: Instant) -> Action {
        precondition(state == .idle, "a connection race can begin only once")
        return startNext(now: now)
    }

    mutating func timerFired(now: Instant) -> Action {
        guard let deadline, now >= deadline else { return .none }  // An early or stale timer is harmless.
        return startNext(now: now)
    }

    mutating func succeeded(_ number: Int) -> Action {
        guard state != .over, attempts[number] == .running else { return .none }
        state = .over
        return .win(number)
    }

    mutating func failed(_ number: Int, now: Instant) -> Action {
        guard state != .over, attempts[number] == .running else { return .none }
        attempts[number] = .failed
        return startNext(now: now)
    }

    private mutating func startNext(now: Instant) -> Action {
        if let number = attempts.firstIndex(of: .waiting) {
            attempts[number] = .running
            let isLast = !attempts.contains(.waiting)
            state = .racing(nextStart: isLast ? nil : now.advanced(by: delay))
            return .start(number)
        }
        if attempts.contains(.running) {
            state = .racing(nextStart: nil)
            return .none
        }
        state = .over
        return .fail
    }
}
