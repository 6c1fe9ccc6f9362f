import Foundation

/// Reads the header field `Retry-After` (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Returns the time to wait from `now` on, at most `maximum`. Returns `nil` if the text is missing or not valid.
    static func pause(_ text: String?, now: Date, maximum: Duration) -> Duration? {
        guard let text = text?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number that is too large for an `Int64` counts as `maximum`.
            return Int64(text).map { min(.seconds($0), maximum) } ?? maximum
        }
        guard let date = date(text) else { return nil }
        let seconds = date.timeIntervalSince(now)
        return seconds > 0 ? min(.seconds(min(seconds, 1e9)), maximum) : .zero
    }

    /// The three date formats of HTTP (RFC 9110, section 5.6.7). Servers should send the first format.
    private static let formats = [
        "EEE, dd MMM yyyy HH:mm:ss zzz", "EEEE, dd-MMM-yy HH:mm:ss zzz", "EEE MMM d HH:mm:ss yyyy",
    ]

    private static func date(_ text: String) -> Date? {
        for format in formats {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}
