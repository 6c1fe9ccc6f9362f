import Foundation

/// Converts timestamps, durations and field paths to and from the text forms of protobuf's JSON.
enum TimeText {
    /// Returns a timestamp such as `2024-02-29T12:00:00.250Z`; `nil` outside the years 1 to 9999.
    static func timestamp(_ seconds: Int64, _ nanos: Int32) -> String? {
        guard (-62_135_596_800...253_402_300_799).contains(seconds), (0..<1_000_000_000).contains(nanos) else {
            return nil
        }
        let day = Int(seconds) >= 0 ? Int(seconds) / 86_400 : -((-Int(seconds) + 86_399) / 86_400)
        let time = Int(seconds) - day * 86_400
        let (year, month, date) = civil(day)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(date, 2))T\(padded(time / 3600, 2)):"
            + "\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2))\(fraction(nanos))Z"
    }

    /// Returns a duration such as `-1.500s`; `nil` if it exceeds 10,000 years, or its parts have different signs.
    static func duration(_ seconds: Int64, _ nanos: Int32) -> String? {
        guard (-315_576_000_000...315_576_000_000).contains(seconds), (-999_999_999...999_999_999).contains(nanos),
            seconds.signum() * Int64(nanos).signum() >= 0
        else { return nil }
        return "\(seconds < 0 || nanos < 0 ? "-" : "")\(seconds.magnitude)\(fraction(Int32(nanos.magnitude)))s"
    }

    static func parsedTimestamp(_ text: String) -> (seconds: Int64, nanos: Int32)? {
        guard
            let match = text.wholeMatch(
                of: #/(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))/#),
            let year = Int(match.1), let month = Int(match.2), let date = Int(match.3), let hour = Int(match.4),
            let minute = Int(match.5), let second = Int(match.6), year >= 1, hour < 24, minute < 60, second < 60
        else { return nil }
        let day = days(year, month, date)
        guard civil(day) == (year, month, date) else { return nil }
        var seconds = day * 86_400 + hour * 3600 + minute * 60 + second
        if let sign = match.8, let hours = match.9.flatMap({ Int($0) }), let minutes = match.10.flatMap({ Int($0) }) {
            seconds -= (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
        return (Int64(seconds), nanos(match.7))
    }

    static func parsedDuration(_ text: String) -> (seconds: Int64, nanos: Int32)? {
        guard let match = text.wholeMatch(of: #/(-?)(\d{1,12})(?:\.(\d{1,9}))?s/#), let seconds = Int64(match.2),
            seconds <= 315_576_000_000
        else { return nil }
        let nanos = nanos(match.3)
        return match.1.isEmpty ? (seconds, nanos) : (-seconds, -nanos)
    }

    /// Converts the paths `a_b` and `c.d_e` to `aB,c.dE`. Returns `nil` if the conversion back would give other paths.
    static func mask(_ paths: [String]) -> String? {
        let text = paths.map(lowerCamel).joined(separator: ",")
        let isSame = Self.paths(text).elementsEqual(paths) { $0.utf8.elementsEqual($1.utf8) }
        return isSame ? text : nil
    }

    /// Converts `aB,c.dE` to the paths `a_b` and `c.d_e`.
    static func paths(_ mask: String) -> [String] { mask.split(separator: ",").map { snake(String($0)) } }

    /// Converts the path `a_b.c_d` to `aB.cD`.
    private static func lowerCamel(_ path: String) -> String {
        var result = ""
        var isUpper = false
        for letter in path {
            if letter == "_" {
                isUpper = true
            } else {
                result += isUpper ? letter.uppercased() : String(letter)
                isUpper = false
            }
        }
        return result
    }

    /// Converts the path `aB.cD` to `a_b.c_d`.
    private static func snake(_ path: String) -> String {
        path.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Returns the fraction of a second with 0, 3, 6 or 9 digits.
    private static func fraction(_ nanos: Int32) -> String {
        if nanos == 0 { return "" }
        let digits = padded(Int(nanos), 9)
        return "." + (nanos % 1_000_000 == 0 ? digits.prefix(3) : nanos % 1_000 == 0 ? digits.prefix(6) : digits[...])
    }

    private static func nanos(_ digits: Substring?) -> Int32 {
        guard let digits else { return 0 }
        return Int32(digits + String(repeating: "0", count: 9 - digits.count)) ?? 0
    }

    // The calendar repeats every 400 years. In this code, a year begins in March, so that the leap day is the last day
    // of a year.

    private static func days(_ year: Int, _ month: Int, _ date: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + date - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ day: Int) -> (year: Int, month: Int, date: Int) {
        let day = day + 719_468
        let era = (day >= 0 ? day : day - 146_096) / 146_097
        let dayOfEra = day - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        return (
            yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}
