// This file defines `Instant`, the type of the times that the caller passes to the engine. Embedded Swift has no
// `ContinuousClock`, so `Instant` is a `Duration` there. No other file of the engine uses a clock.

#if hasFeature(Embedded)
    extension ClientEngine {
        /// A point in time on the caller's clock: the time since the clock started.
        public typealias Instant = Duration
    }

    extension ClientEngine.Instant {
        /// The time since the clock started.
        var sinceStart: Duration { self }

        /// Makes the time that is `duration` after the start of the clock.
        init(sinceStart duration: Duration) { self = duration }
    }
#else
    extension ClientEngine {
        /// A point in time on the caller's clock.
        public typealias Instant = ContinuousClock.Instant
    }

    extension ClientEngine.Instant {
        /// The time since the clock started.
        var sinceStart: Duration { ContinuousClock().systemEpoch.duration(to: self) }

        /// Makes the time that is `duration` after the start of the clock.
        init(sinceStart duration: Duration) { self = ContinuousClock().systemEpoch.advanced(by: duration) }
    }
#endif
