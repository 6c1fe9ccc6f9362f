import CourierCore
import Testing

@testable import CourierMQTT

/// The limits of the log that a client without a `logHandler` writes.
@Suite struct LogLimiterTests {
    private let start = ContinuousClock.now

    private func record(_ text: String) -> LogRecord {
        LogRecord(level: .warning, source: "connection", clientID: "c", message: text)
    }

    private func decide(_ limiter: inout LogLimiter, _ text: String, at seconds: Int) -> LogLimiter.Decision {
        limiter.decide(record(text), now: start.advanced(by: .seconds(seconds)))
    }

    @Test func `identical log records are written once a minute, with the number of skipped records`() {
        var limiter = LogLimiter()
        #expect(decide(&limiter, "refused", at: 0) == .write(repeatCount: 0))
        for second in 1...59 { #expect(decide(&limiter, "refused", at: second) == .skip) }
        #expect(decide(&limiter, "other", at: 59) == .write(repeatCount: 0))
        #expect(decide(&limiter, "refused", at: 60) == .write(repeatCount: 59))
        #expect(decide(&limiter, "refused", at: 61) == .skip)
        #expect(decide(&limiter, "refused", at: 300) == .write(repeatCount: 1))
    }

    @Test func `at most 60 different log records are written in a minute`() {
        var limiter = LogLimiter()
        for number in 0..<60 { #expect(decide(&limiter, "\(number)", at: number) == .write(repeatCount: 0)) }
        #expect(decide(&limiter, "one more", at: 59) == .drop)
        #expect(decide(&limiter, "0", at: 59) == .skip)
        #expect(decide(&limiter, "one more", at: 60) == .write(repeatCount: 0), "the first one is a minute old")
        #expect(decide(&limiter, "and another", at: 60) == .drop)
    }
}
