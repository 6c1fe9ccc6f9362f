/// A point in time inside the engine, counted from the start of the caller's clock.
///
/// `ContinuousClock.Instant` belongs to a library whose types may change their layout, so that every value that holds one is
/// copied by a call; a thousand messages hold thousands. This is the same in sixteen bytes that the compiler knows.
struct Moment: Comparable, Hashable {
    private let sinceEpoch: Duration

    init(_ instant: ContinuousClock.Instant) {
        sinceEpoch = ContinuousClock().systemEpoch.duration(to: instant)
    }

    private init(sinceEpoch: Duration) { self.sinceEpoch = sinceEpoch }

    /// The same point as the caller measures it.
    var instant: ContinuousClock.Instant { ContinuousClock().systemEpoch.advanced(by: sinceEpoch) }

    func advanced(by duration: Duration) -> Moment { Moment(sinceEpoch: sinceEpoch + duration) }

    func duration(to other: Moment) -> Duration { other.sinceEpoch - sinceEpoch }

    static func < (one: Moment, other: Moment) -> Bool { one.sinceEpoch < other.sinceEpoch }
}
