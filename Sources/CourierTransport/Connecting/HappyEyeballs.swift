/// Which of a host's addresses to try when: RFC 8305, section 5.
///
/// Attempts start one after the other, alternating between the address families, each some time after the last or at once
/// when one has failed; the first to succeed wins. Perform the returned ``Action``; while ``deadline`` is not `nil`, call
/// ``timerFired(now:)`` once it has passed.
struct HappyEyeballs: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How long to wait for one attempt before the next starts beside it (section 8).
    static let recommendedAttemptDelay = Duration.milliseconds(250)
    /// The shortest delay that spares the network (section 5).
    static let minimumAttemptDelay = Duration.milliseconds(10)

    enum Family: Sendable { case ipv4, ipv6 }

    enum Action: Equatable, Sendable {
        case none
        /// Connect to the address of this number.
        case start(Int)
        /// Keep this connection and drop all other attempts. Nothing follows.
        case win(Int)
        /// No attempt is left. Nothing follows.
        case fail
    }

    private enum Attempt: Equatable, Sendable { case waiting, running, failed }

    /// `racing` until an attempt wins or none is left; `over` is final.
    private enum State: Equatable, Sendable {
        case idle
        case racing(nextStart: Instant?)
        case over
    }

    private var state = State.idle
    private var attempts: [Attempt]
    private let delay: Duration

    /// A race among `count` addresses, numbered in the order in which they are to be tried; see ``order(_:)``.
    init(count: Int, attemptDelay: Duration) {
        attempts = Array(repeating: .waiting, count: count)
        delay = max(attemptDelay, Self.minimumAttemptDelay)
    }

    /// When to call ``timerFired(now:)``.
    var deadline: Instant? {
        switch state {
        case .racing(let nextStart): nextStart
        case .idle, .over: nil
        }
    }

    /// The order in which to try addresses of these families: the first family is that of the first address, then they
    /// alternate, each in its own order (section 4).
    static func order(_ families: [Family]) -> [Int] {
        guard let first = families.first else { return [] }
        let preferred = families.indices.filter { families[$0] == first }
        let others = families.indices.filter { families[$0] != first }
        return (0..<max(preferred.count, others.count)).flatMap { place in
            [preferred, others].compactMap { place < $0.count ? $0[place] : nil }
        }
    }

    mutating func begin(now: Instant) -> Action {
        precondition(state == .idle, "a race begins once")
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
