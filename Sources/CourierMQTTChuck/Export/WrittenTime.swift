import Foundation

/// Converts times to text and back, with all nanoseconds: `2026-01-31T12:00:05.123456789Z`.
enum WrittenTime {
    static func text(_ nanoseconds: Int64) -> String {
        let (seconds, rest) = Nanoseconds.split(nanoseconds)
        let (days, time) = (divided(seconds, 86_400), seconds - divided(seconds, 86_400) * 86_400)
        let (year, month, day) = civil(days)
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(clock).\(padded(rest, 9))Z"
    }

    /// Parses a time that ``text(_:)`` wrote; returns `nil` for any other text.
    static func nanoseconds(_ text: String) -> Int64? {
        let numbers = text.split { "-T:.Z".contains($0) }.map { Int64($0) }
        guard numbers.count == 7, case let parts = numbers.compactMap({ $0 }), parts.count == 7,
            (1_678...2_262).contains(parts[0]), (1...12).contains(parts[1]), (1...31).contains(parts[2]),
            (0...23).contains(parts[3]), (0...59).contains(parts[4]), (0...59).contains(parts[5]),
            (0..<Nanoseconds.perSecond).contains(parts[6])
        else { return nil }
        let seconds = days(parts[0], parts[1], parts[2]) * 86_400 + parts[3] * 3_600 + parts[4] * 60 + parts[5]
        let (product, overflow) = seconds.multipliedReportingOverflow(by: Nanoseconds.perSecond)
        guard !overflow else { return nil }
        let time = Nanoseconds.sum(product, parts[6])
        return self.text(time) == text ? time : nil
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func divided(_ number: Int64, _ divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
    }

    /// Returns the Gregorian date that is `days` days after 1970-01-01. The calculation uses eras of 400 years that
    /// begin in March, so that a leap day is the last day of its year.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = divided(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let year = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * month + 2) / 5 + 1
        let calendarMonth = month < 10 ? month + 3 : month - 9
        return (year + era * 400 + (calendarMonth <= 2 ? 1 : 0), calendarMonth, day)
    }

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = divided(shifted, 400)
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }
}
