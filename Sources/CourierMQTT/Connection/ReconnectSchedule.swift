/// The pauses between attempts: an interval that doubles up to a maximum, with jitter.
struct ReconnectSchedule: Sendable {
    /// The pause after the first failure.
    let interval: Duration
    /// The longest pause.
    let maximum: Duration
    let jitter: ReconnectJitter

    /// The number of pauses since the last ``reset()``.
    private(set) var count = 0
    private var current: Duration

    init(interval: Duration, maximum: Duration, jitter: ReconnectJitter) {
        self.interval = interval
        self.maximum = max(maximum, interval)
        self.jitter = jitter
        current = interval
    }

    /// True if no pause was used since the last reset.
    var isFresh: Bool { count == 0 }

    /// Returns the next pause, with jitter. The pause after it is twice as long, up to the maximum.
    mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        let pause = current
        current = min(current * 2, maximum)
        count += 1
        switch jitter {
        case .none: return pause
        case .equal: return pause / 2 + Self.part(of: pause / 2, using: &random)
        case .full: return Self.part(of: pause, using: &random)
        }
    }

    /// Starts again with the first pause.
    mutating func reset() {
        count = 0
        current = interval
    }

    private static func part(of pause: Duration, using random: inout some RandomNumberGenerator) -> Duration {
        pause * Double.random(in: 0...1, using: &random)
    }
}
