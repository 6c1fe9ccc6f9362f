/// Chooses the pauses between a client's attempts to reconnect.
protocol ReconnectPolicy: Sendable {
    associatedtype Client

    /// Returns the state of a client that has just lost its broker for the first time.
    func makeClient() -> Client

    /// Returns the milliseconds until the client's next attempt.
    func pause(of client: inout Client, using random: inout JitterSource) -> Int
}

/// Courier's own reconnect schedule, as the client's supervisor uses it.
struct OwnPolicy: ReconnectPolicy {
    /// The first pause, in seconds.
    let interval: Int
    /// The longest pause, in seconds.
    let maximum: Int
    let jitter: ReconnectJitter

    func makeClient() -> ReconnectSchedule {
        ReconnectSchedule(interval: .seconds(interval), maximum: .seconds(maximum), jitter: jitter)
    }

    func pause(of client: inout ReconnectSchedule, using random: inout JitterSource) -> Int {
        Int(client.next(using: &random).attoseconds / 1_000_000_000_000_000)
    }
}

/// A pause that doubles up to a maximum, with a random spread. If the first pause equals the maximum, the pause is
/// fixed.
struct DoublingPolicy: ReconnectPolicy {
    /// The first pause, in milliseconds.
    let first: Int32
    /// The longest pause, in milliseconds.
    let maximum: Int32
    /// The largest random change, as a fraction of the pause; 0.2 is ±20 %.
    let spread: Double

    func makeClient() -> Int32 { first }

    func pause(of next: inout Int32, using random: inout JitterSource) -> Int {
        let pause = next
        next = min(pause * 2, maximum)
        guard spread > 0 else { return Int(pause) }
        return Int(Double(pause) * Double.random(in: (1 - spread)...(1 + spread), using: &random))
    }
}

/// "Decorrelated jitter": a random pause between the shortest pause and three times the last pause, up to a maximum.
struct DecorrelatedPolicy: ReconnectPolicy {
    /// The shortest pause, in milliseconds.
    let base: Int32
    /// The longest pause, in milliseconds.
    let maximum: Int32

    func makeClient() -> Int32 { base }

    func pause(of last: inout Int32, using random: inout JitterSource) -> Int {
        last = min(maximum, Int32.random(in: base...(last * 3), using: &random))
        return Int(last)
    }
}
