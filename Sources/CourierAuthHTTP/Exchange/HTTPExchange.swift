import CourierCore
import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One HTTP request and its response. Each exchange has its own `URLSession`. Two requests thus never use the same
/// cookies, cache, credentials or connection.
///
/// The exchange ends as soon as the response is longer than allowed. Redirects are not followed. A redirect is returned
/// like any other response.
final class HTTPExchange: NSObject, Sendable {
    /// The reason why an exchange returned no response.
    enum Failure: Error {
        /// The caller's task was cancelled.
        case cancelled
        /// The response was not complete before the timeout.
        case timedOut
        /// The body of the response is longer than the maximum size.
        case tooLong
        /// The response is not HTTP.
        case unreadable
        /// The system reported an error.
        case system(domain: String, code: Int)
    }

    struct Limits: Sendable {
        let timeout: Duration
        let size: Int

        /// The timeout in seconds, limited to 10^9 s, about 31 years.
        var timeoutSeconds: Double { min(max(0, timeout / .seconds(1)), 1e9) }
    }

    private struct State {
        var task: URLSessionDataTask?
        var waiter: CheckedContinuation<HTTPReply, any Error>?
        var body = Data()
        /// True after the exchange has ended. The session may report the end of its task later.
        var isOver = false
        /// True after the session has reported the end of its task.
        var isComplete = false
    }

    private let limits: Limits
    private let state = Mutex(State())
    /// The queue for all calls to the session. Such a call waits while the reading queue is busy, which all sessions of
    /// the process share. A peer that never stops sending can keep the reading queue busy. Swift tasks must not make
    /// these calls, because all tasks share a few threads, and each waiting call would block one thread.
    private let side = DispatchQueue(label: "courier.auth.http")

    private init(_ limits: Limits) { self.limits = limits }

    /// Sends `request` and returns the response.
    ///
    /// - Throws: A ``Failure``.
    static func reply(to request: URLRequest, _ limits: Limits) async throws -> HTTPReply {
        let exchange = HTTPExchange(limits)
        // This closure holds the exchange only weakly. After it is cancelled, the work item stays in its queue until
        // its time, and a strong reference would keep the connection open until then.
        let deadline = DispatchWorkItem { [weak exchange] in exchange?.end(by: .failure(Failure.timedOut)) }
        defer { deadline.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let isWanted = exchange.state.withLock { state in
                    if state.isOver { return false }
                    state.waiter = waiter
                    return true
                }
                guard isWanted else { return waiter.resume(throwing: Failure.cancelled) }
                DispatchQueue.global().asyncAfter(deadline: .now() + limits.timeoutSeconds, execute: deadline)
                exchange.side.async { exchange.begin(request) }
            }
        } onCancel: {
            exchange.end(by: .failure(Failure.cancelled))
        }
    }

    /// Starts the transfer. Runs on the queue `side`.
    private func begin(_ request: URLRequest) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        // This timeout is used only if the timer of this class fails. The value is in whole seconds, because Linux
        // ignores fractions of a second.
        configuration.timeoutIntervalForRequest = max(1, limits.timeoutSeconds).rounded(.up) + 1
        guard !state.withLock({ $0.isOver }) else { return }
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: CallerQueue())
        let task = session.dataTask(with: request)
        let isWanted = state.withLock { state in
            state.task = state.isOver ? nil : task
            return !state.isOver
        }
        if isWanted { task.resume() } else { task.cancel() }
        session.finishTasksAndInvalidate()
    }

    /// Resumes the caller with `result`, and cancels the transfer if it is still running. Later calls do nothing.
    private func end(by result: Result<HTTPReply, any Error>) {
        let (waiter, task) = state.withLock {
            state -> (CheckedContinuation<HTTPReply, any Error>?, URLSessionDataTask?) in
            guard !state.isOver else { return (nil, nil) }
            state.isOver = true
            state.body = Data()
            return (state.waiter.take(), state.isComplete ? nil : state.task)
        }
        if let task {
            side.async { task.cancel() }
        }
        waiter?.resume(with: result)
    }
}

extension HTTPExchange: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if response.expectedContentLength > Int64(limits.size) { end(by: .failure(Failure.tooLong)) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = state.withLock { state in
            if state.isOver { return false }
            guard state.body.count + data.count <= limits.size else { return true }
            state.body.append(data)
            return false
        }
        if isTooLong { end(by: .failure(Failure.tooLong)) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The completion handler is never called, because on Linux, the process would crash if the handler were called
        // at the same time as the cancellation. The task waits for the handler until `end(by:)` cancels the task.
        end(by: .success(reply(response)))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // On Linux, the challenge always belongs to a response with status 401, and this response is returned to
            // the caller. The completion handler must be called, because the task would otherwise wait forever. The
            // call cancels the task, which must not happen on this queue.
            if let response = challenge.failureResponse as? HTTPURLResponse { end(by: .success(reply(response))) }
            side.async { completionHandler(.cancelAuthenticationChallenge, nil) }
        #else
            completionHandler(.performDefaultHandling, nil)
        #endif
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        state.withLock { $0.isComplete = true }
        if let error {
            let bridged = error as NSError
            end(by: .failure(Failure.system(domain: bridged.domain, code: CredentialServiceFailure.code(of: bridged))))
        } else if let response = task.response as? HTTPURLResponse {
            end(by: .success(reply(response)))
        } else {
            end(by: .failure(Failure.unreadable))
        }
    }

    private func reply(_ response: HTTPURLResponse) -> HTTPReply {
        HTTPReply(
            status: response.statusCode, location: response.value(forHTTPHeaderField: "Location"),
            retryAfter: response.value(forHTTPHeaderField: "Retry-After"), body: state.withLock { $0.body })
    }
}
