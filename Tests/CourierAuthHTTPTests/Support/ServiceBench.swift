import CourierCore
import Foundation
import Synchronization

@testable import CourierAuthHTTP

/// A provider for a test server, in a time of the test's own.
struct ServiceBench {
    /// What hides in requests and answers, and must be seen nowhere else.
    static let secret = "s3cret-t0ken"

    let provider: HTTPConnectionServiceProvider
    let clock: TestTime
    let log: TestLog

    init(
        _ server: HTTPServer, _ path: String = "/token", method: TokenRequest.Method = .get,
        headers: [String: String] = ["Authorization": "Bearer \(secret)"], body: TokenRequestBody? = nil,
        mapping: ConnectOptionsMapping = .test, preparation: TokenRequest.Preparation? = nil,
        clock: TestTime = TestTime(), options change: (inout HTTPConnectionServiceOptions) -> Void = { _ in }
    ) throws {
        log = TestLog()
        self.clock = clock
        var options = HTTPConnectionServiceOptions()
        options.logHandler = log
        change(&options)
        provider = try HTTPConnectionServiceProvider(
            clientID: "phone-7",
            request: TokenRequest(
                url: server.url(path), method: method, headers: headers, body: body, preparation: preparation),
            mapping: mapping, options: options, time: clock.time)
    }

    /// What an answer with this password and life looks like.
    static func answer(_ password: String, expiresIn seconds: Int = 3_600) -> HTTPServer.Answer {
        .json(#"{"broker": {"host": "b.example", "port": 8883}, "token": "\#(password)", "expires_in": \#(seconds)}"#)
    }

    /// The error of the next call, which must fail.
    func failure() async -> (any Error)? {
        do {
            _ = try await provider.connectOptions()
            return nil
        } catch {
            return error
        }
    }
}

extension ConnectOptionsMapping {
    /// What the test server answers.
    static var test: ConnectOptionsMapping {
        ConnectOptionsMapping(
            host: "broker.host", port: "broker.port", username: .fixed("ada"), password: "token",
            expiry: .after("expires_in"))
    }
}

/// A time that stands still but for the pauses that are slept, which end at once.
final class TestTime: Sendable {
    private let state = Mutex((now: Date(timeIntervalSince1970: 1_700_000_000), pauses: [Duration]()))

    var now: Date { state.withLock { $0.now } }
    var pauses: [Duration] { state.withLock { $0.pauses } }

    func advance(by duration: Duration) { state.withLock { $0.now.addTimeInterval(duration / .seconds(1)) } }

    var time: HTTPTime {
        HTTPTime(
            now: { self.now },
            sleep: { pause in
                try Task.checkCancellation()
                self.state.withLock { $0.pauses.append(pause) }
                self.advance(by: pause)
            })
    }
}

/// Keeps what was logged.
final class TestLog: LogHandler {
    private let records = Mutex<[LogRecord]>([])

    var minimumLevel: LogLevel { .trace }
    var texts: [String] { records.withLock { $0.map { "\($0)" } } }

    func log(_ record: LogRecord) { records.withLock { $0.append(record) } }
}
