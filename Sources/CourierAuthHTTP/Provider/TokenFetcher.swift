import CourierCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests credentials from the token endpoint: sends the request, follows redirects, decodes the response, and
/// retries as the policy allows.
final class TokenFetcher: Sendable {
    /// Credentials, and the time when the request for them was sent.
    struct Answer: Sendable {
        let grant: ConnectGrant
        let requestedAt: Date
    }

    /// The failure of one attempt.
    private struct Failure: Error {
        /// The error that the provider throws.
        let error: any Error
        /// True if the cause may be temporary, so that the next attempt may succeed.
        let mayPass: Bool
        var retryAfter: Duration?
    }

    /// The HTTP statuses after which the same request may succeed later.
    private static let passingStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    private let clientID: String
    private let description: TokenRequest
    private let request: URLRequest
    private let mapping: ConnectOptionsMapping
    private let options: HTTPConnectionServiceOptions
    private let requestRules: RequestRules
    private let redirectRules: RedirectRules
    private let time: HTTPTime
    /// The time until which no request may be sent to the endpoint, because a response contained `Retry-After`; `nil`
    /// if a request may be sent now.
    private let closedUntil = Mutex<Date?>(nil)

    /// Creates a fetcher.
    ///
    /// - Throws: A ``CourierError`` if the request cannot be sent.
    init(
        clientID: String, _ description: TokenRequest, _ mapping: ConnectOptionsMapping,
        _ options: HTTPConnectionServiceOptions, _ time: HTTPTime
    ) throws(CourierError) {
        requestRules = RequestRules(allowsPlainHTTP: options.allowsPlainHTTP)
        redirectRules = RedirectRules(maximumCount: max(0, options.maximumRedirects))
        do throws(RequestRules.Refusal) {
            request = try requestRules.request(for: description)
            _ = try requestRules.check(request)
        } catch {
            throw CourierError(.invalidConfiguration, error.message)
        }
        self.clientID = clientID
        self.description = description
        self.mapping = mapping
        self.options = options
        self.time = time
    }

    /// Waits for a pause that the endpoint requested, then requests credentials. Retries as the policy allows.
    func fetch() async throws -> Answer {
        var failures = 0
        while true {
            try await waitUntilOpen()
            do {
                return try await attempt()
            } catch let failure as Failure {
                try Task.checkCancellation()
                if let pause = failure.retryAfter { close(for: pause) }
                failures += 1
                let random = Double.random(in: 0...1)
                guard failure.mayPass, let pause = options.retryPolicy.pause(afterFailures: failures, random: random)
                else { throw failure.error }
                log("the token endpoint is asked again after at least \(pause): \(failure.error)", .info)
                try await time.sleep(pause)
            }
        }
    }

    // MARK: Retry-After

    private func waitUntilOpen() async throws {
        guard let date = closedUntil.withLock({ $0 }) else { return }
        let seconds = date.timeIntervalSince(time.now())
        // If the clock was set back after the response, the computed pause could be very long. So the pause is limited.
        if seconds > 0 { try await time.sleep(min(.seconds(seconds), options.maximumRetryAfter)) }
        closedUntil.withLock { if $0 == date { $0 = nil } }
    }

    private func close(for pause: Duration) {
        let date = time.now().addingTimeInterval(pause / .seconds(1))
        closedUntil.withLock { $0 = max($0 ?? date, date) }
    }

    // MARK: One attempt

    private func attempt() async throws -> Answer {
        var request = request
        var redirects = 0
        while true {
            let sent = try await prepared(request)
            let requestedAt = time.now()
            let reply = try await reply(to: sent)
            let step: RedirectRules.Step?
            do throws(RedirectRules.Refusal) {
                step = try redirectRules.step(
                    after: reply, from: sent.url, method: sent.request.httpMethod ?? "GET", count: redirects)
            } catch {
                throw failure("The token endpoint \(sent.origin) \(error.message).")
            }
            guard let step else {
                return Answer(grant: try grant(from: reply, sent, requestedAt), requestedAt: requestedAt)
            }
            redirects += 1
            request.url = step.url
            if !step.keepsMethod {
                request.httpMethod = "GET"
                request.httpBody = nil
                request.setValue(nil, forHTTPHeaderField: "Content-Type")
            }
        }
    }

    /// A request that was prepared and passed all checks.
    private struct Sent {
        let request: URLRequest
        let url: URL
        let origin: HTTPOrigin
    }

    private func prepared(_ request: URLRequest) async throws -> Sent {
        var request = request
        if let preparation = description.preparation { try await preparation(&request) }
        do throws(RequestRules.Refusal) {
            let origin = try requestRules.check(request)
            guard let url = request.url else { throw RequestRules.Refusal(message: "The token request has no URL.") }
            return Sent(request: request, url: url, origin: origin)
        } catch {
            throw failure(error.message)
        }
    }

    private func reply(to sent: Sent) async throws -> HTTPReply {
        let start = time.now()
        do {
            let limits = HTTPExchange.Limits(
                timeout: options.timeout, size: max(0, options.maximumResponseSize))
            let reply = try await HTTPExchange.reply(to: sent.request, limits)
            let taken = time.now().timeIntervalSince(start)
            log("the token endpoint \(sent.origin) answered with status \(reply.status) in \(taken) s", .debug)
            return reply
        } catch let problem as HTTPExchange.Failure {
            log("the token endpoint \(sent.origin) did not send a usable answer: \(problem)", .debug)
            switch problem {
            case .cancelled: throw CancellationError()
            case .timedOut: throw Self.failure(NSURLErrorDomain, NSURLErrorTimedOut, sent.origin)
            case .system(let domain, let code): throw Self.failure(domain, code, sent.origin)
            case .tooLong:
                throw failure(
                    """
                    The answer of the token endpoint \(sent.origin) is longer than \(options.maximumResponseSize) bytes \
                    (maximumResponseSize).
                    """)
            case .unreadable: throw failure("The answer of the token endpoint \(sent.origin) is not an HTTP response.")
            }
        }
    }

    private func grant(from reply: HTTPReply, _ sent: Sent, _ requestedAt: Date) throws -> ConnectGrant {
        guard reply.isSuccess else {
            throw Failure(
                error: AuthError.httpError(statusCode: reply.status),
                mayPass: Self.passingStatuses.contains(reply.status),
                retryAfter: RetryAfter.pause(reply.retryAfter, now: time.now(), maximum: options.maximumRetryAfter))
        }
        do throws(ConnectOptionsMapping.Failure) {
            return try mapping.grant(from: reply.body, clientID: clientID, requestedAt: requestedAt)
        } catch {
            throw failure("The answer of the token endpoint \(sent.origin) \(error.message).")
        }
    }

    /// Returns the failure for a problem that a retry cannot solve.
    private func failure(_ message: String) -> Failure {
        Failure(error: CourierError(.authenticationFailed, message), mayPass: false)
    }

    /// Returns the failure for a system error. It contains only the origin of the URL, which names the server that
    /// failed. The system's `userInfo` is left out, because it contains the whole URL.
    private static func failure(_ domain: String, _ code: Int, _ origin: HTTPOrigin) -> Failure {
        let userInfo = origin.url.map { [NSURLErrorFailingURLErrorKey: $0] } ?? [:]
        return Failure(
            error: AuthError.otherError(NSError(domain: domain, code: code, userInfo: userInfo)), mayPass: true)
    }

    private func log(_ text: @autoclosure () -> String, _ level: LogLevel) {
        options.logHandler?.log(level, source: "auth", clientID: clientID, text())
    }
}
