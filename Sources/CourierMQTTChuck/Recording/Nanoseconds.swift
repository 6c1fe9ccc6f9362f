package import Foundation

/// Converts times and durations to nanoseconds. Times count from 1970. A value that does not fit into an `Int64`
/// becomes the largest or smallest `Int64`.
package enum Nanoseconds {
    static let perSecond: Int64 = 1_000_000_000

    package static func since1970(_ date: Date) -> Int64 {
        // Whole seconds and their fraction are converted separately, because together they have more digits than a
        // `Double`.
        let seconds = date.timeIntervalSince1970
        let whole = seconds.rounded(.down)
        guard let count = Int64(exactly: whole) else { return seconds > 0 ? .max : .min }
        return sum(product(count, perSecond), Int64((seconds - whole) * 1e9))
    }

    static func date(_ nanoseconds: Int64) -> Date {
        let (seconds, rest) = split(nanoseconds)
        return Date(timeIntervalSince1970: Double(seconds) + Double(rest) / 1e9)
    }

    package static func of(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return sum(product(seconds, perSecond), attoseconds / perSecond)
    }

    /// Splits nanoseconds into whole seconds and remaining nanoseconds. The remaining nanoseconds are never negative.
    package static func split(_ nanoseconds: Int64) -> (seconds: Int64, rest: Int64) {
        let rest = nanoseconds % perSecond
        return rest < 0
            ? (nanoseconds / perSecond - 1, rest + perSecond) : (nanoseconds / perSecond, rest)
    }

    static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? (right > 0 ? .max : .min) : sum
    }

    package static func difference(_ left: Int64, _ right: Int64) -> Int64 {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        return overflow ? (left > 0 ? .max : .min) : difference
    }

    private static func product(_ left: Int64, _ right: Int64) -> Int64 {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? (left > 0 ? .max : .min) : product
    }
}
