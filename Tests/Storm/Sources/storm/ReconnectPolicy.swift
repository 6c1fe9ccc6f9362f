/// How one client chooses its pauses.
protocol ReconnectPolicy: Sendable {
    associatedtype Client

    /// A client that has just lost its broker for the first time.
    func makeClient() -> Client

    /// The milliseconds until the next attempt.
    func pause(of client: inout Client, using random: inout JitterSource) -> Int
}

/// The client's own schedule, as its supervisor uses it.
struct OwnPolicy: ReconnectPolicy {
    /// In seconds.
    let interval: Int
    /// In seconds.
    let maximum: Int
    let jitter: ReconnectJitter

    func makeClient() -> ReconnectSchedule {
        ReconnectSchedule(interval: .seconds(interval), maximum: .seconds(maximum), jitter: jitter)
    }

    func pause(of client: inout ReconnectSchedule, using random: inout JitterSource) -> Int {
        Int(client.next(using: &random).attoseconds / 1_000_000_000_000_000)
    }
}

/// A pause that doubles up to a maximum, give or take a part of itself; with the same first and longest pause a fixed one.
struct DoublingPolicy: ReconnectPolicy {
    /// In milliseconds.
    let first: Int32
    /// In milliseconds.
    let maximum: Int32
    /// The part that chance adds or takes off; 0.2 is ±20 %.
    let spread: Double

    func makeClient() -> Int32 { first }

    func pause(of next: inout Int32, using random: inout JitterSource) -> Int {
        let pause = next
        next = min(pause * 2, maximum)
        guard spread > 0 else { return Int(pause) }
        return Int(Double(pause) * Double.random(in: (1 - spread)...(1 + spread), using: &random))
    }
}

/// A pause between the shortest one and three times the last one, within a maximum: "decorrelated jitter".
struct DecorrelatedPolicy: ReconnectPolicy {
    /// In milliseconds.
    let base: Int32
    /// In milliseconds.
    let maximum: Int32

    func makeClient() -> Int32 { base }

    func pause(of last: inout Int32, using random: inout JitterSource) -> Int {
        last = min(maximum, Int32.random(in: base...(last * 3), using: &random))
        return Int(last)
    }
}
