import CourierCore

/// Decides which records a log writes, so that a failure that repeats does not fill a disk.
///
/// - Equal records are written once a minute.
/// - All records together are written at most 60 times a minute.
struct LogLimiter {
    /// What happens to a record.
    enum Decision: Equatable {
        /// The record is written, after so many equal records that were not.
        case write(repeatCount: Int)
        /// The record repeats another one.
        case skip
        /// Too many different records came.
        case drop
    }

    /// How long a record is not repeated, and the time that ``maximumCount`` is about.
    static let interval = Duration.seconds(60)
    /// The number of records per interval.
    static let maximumCount = 60

    /// The records that were written in the present interval; at most ``maximumCount``.
    private var written: [LogRecord: Written] = [:]

    private struct Written {
        let at: ContinuousClock.Instant
        var repeatCount = 0
    }

    /// Decides about a record, and counts it.
    mutating func decide(_ record: LogRecord, now: ContinuousClock.Instant) -> Decision {
        if let earlier = written[record], earlier.at.duration(to: now) < Self.interval {
            written[record]?.repeatCount += 1
            return .skip
        }
        let repeatCount = written[record]?.repeatCount ?? 0
        if written.count >= Self.maximumCount {
            written = written.filter { $0.value.at.duration(to: now) < Self.interval }
        }
        guard written.count < Self.maximumCount else { return .drop }
        written[record] = Written(at: now)
        return .write(repeatCount: repeatCount)
    }
}
