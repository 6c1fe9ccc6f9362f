import Foundation

/// A time in milliseconds since 1970, UTC.
///
/// The feed has thousands of times per second in one fixed format. For speed, this type parses only that format.
struct Timestamp: Comparable, Sendable {
    let milliseconds: Int64

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    static var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)) }

    static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// Parses `2017-06-04T19:21:20.000Z`. The fraction may be omitted.
    init?(_ text: String) {
        var text = text
        let milliseconds: Int64? = text.withUTF8 { bytes in
            func number(_ range: Range<Int>) -> Int64? {
                var value: Int64 = 0
                for byte in bytes[range] {
                    guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                    value = value * 10 + Int64(byte - UInt8(ascii: "0"))
                }
                return value
            }
            guard bytes.count == 20 || bytes.count == 24, bytes.last == UInt8(ascii: "Z"),
                let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
                let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
                let fraction = bytes.count == 24 ? number(20..<23) : 0,
                (1...12).contains(month), day >= 1, hour < 24, minute < 60, second < 61,
                // The day is at most the last day of the month.
                Self.day(year, month, day) < Self.day(month == 12 ? year + 1 : year, month % 12 + 1, 1)
            else { return nil }
            let time = (Self.day(year, month, day) * 24 + hour) * 3_600 + minute * 60 + second
            return time * 1_000 + fraction
        }
        guard let milliseconds else { return nil }
        self.milliseconds = milliseconds
    }

    /// Returns the number of days since 1970. The calculation lets a year begin in March, so that a leap day is at the
    /// end of the year.
    private static func day(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
