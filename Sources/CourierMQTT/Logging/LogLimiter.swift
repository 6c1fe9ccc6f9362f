import CourierCore

/// Decides which records a log writes, so that a repeated failure does not fill the disk.
///
/// - Equal records are written at most once a minute.
/// - All records together are written at most 60 times a minute.
struct LogLimiter {
    /// The decision about a record.
    enum Decision: Equatable {
        /// The log writes the record. `repeatCount` is the number of equal records that were skipped since the log
        /// wrote the last equal record.
        case write(repeatCount: Int)
        /// The log does not write the record, because the record repeats an earlier record.
        case skip
        /// The log drops the record, because ``maximumCount`` different records were already written within the
        /// interval.
        case drop
    }

    /// Within this time, equal records are written only once, and at most ``maximumCount`` records are written in
    /// total.
    static let interval = Duration.seconds(60)
    /// The maximum number of records that are written per interval.
    static let maximumCount = 60

    /// The records that were written recently, at most ``maximumCount``. When the table is full, records older than the
    /// interval are removed.
    private var written: [LogRecord: Written] = [:]

    /// The last time when a record was written, and the number of equal records that were skipped since then.
    private struct Written {
        let at: ContinuousClock.Instant
        var repeatCount = 0
    }

    /// Decides whether a record is written, and counts the record.
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
