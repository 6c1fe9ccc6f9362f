import CourierCore
import Foundation
import Synchronization

@testable import CourierAuthHTTP

/// A provider for a test server, with a clock that the test controls.
struct ServiceBench {
    /// A secret in requests and responses, which must not appear anywhere else.
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

    /// A response with this password and lifetime.
    static func answer(_ password: String, expiresIn seconds: Int = 3_600) -> HTTPServer.Answer {
        .json(#"{"broker": {"host": "b.example", "port": 8883}, "token": "\#(password)", "expires_in": \#(seconds)}"#)
    }

    /// The error of the next call, or `nil` if it succeeds.
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
    /// The mapping for the responses of the test server.
    static var test: ConnectOptionsMapping {
        ConnectOptionsMapping(
            host: "broker.host", port: "broker.port", username: .fixed("ada"), password: "token",
            expiry: .after("expires_in"))
    }
}

/// A clock that advances only by `advance(by:)` and by pauses, which end at once.
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

/// Stores all log records.
final class TestLog: LogHandler {
    private let records = Mutex<[LogRecord]>([])

    var minimumLevel: LogLevel { .trace }
    var texts: [String] { records.withLock { $0.map { "\($0)" } } }

    func log(_ record: LogRecord) { records.withLock { $0.append(record) } }
}
