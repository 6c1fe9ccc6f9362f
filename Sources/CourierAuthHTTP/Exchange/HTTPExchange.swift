import CourierCore
import Dispatch
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request and its reply, over a `URLSession` of its own: no cookie, cache, credential or connection of one request is
/// there for the next.
///
/// The reply is read as it comes, and given up when it is longer than allowed. Redirects are not followed; they are replies like others.
final class HTTPExchange: NSObject, Sendable {
    /// Why there is no reply.
    enum Failure: Error {
        /// The caller does not want it any more.
        case cancelled
        /// It was not there in time.
        case timedOut
        /// Its body is longer than allowed.
        case tooLong
        /// It is no reply of HTTP.
        case unreadable
        /// The system's error.
        case system(domain: String, code: Int)
    }

    struct Limits: Sendable {
        let timeout: Duration
        let size: Int

        /// At most thirty years, whatever the app has asked for.
        var timeoutSeconds: Double { min(max(0, timeout / .seconds(1)), 1e9) }
    }

    private struct State {
        var task: URLSessionDataTask?
        var waiter: CheckedContinuation<HTTPReply, any Error>?
        var body = Data()
        /// Why the exchange ends before the session says so.
        var isOver = false
        /// Whether the session has told its end.
        var isComplete = false
    }

    private let limits: Limits
    private let state = Mutex(State())
    /// For every call to the session. Each waits for the queue on which all sessions of the process read, and a peer that
    /// never stops sending can keep that busy: on one of the few threads of Swift's tasks the wait would hold up all of them.
    private let side = DispatchQueue(label: "courier.auth.http")

    private init(_ limits: Limits) { self.limits = limits }

    /// Sends `request` and waits for the reply.
    ///
    /// - Throws: A ``Failure``.
    static func reply(to request: URLRequest, _ limits: Limits) async throws -> HTTPReply {
        let exchange = HTTPExchange(limits)
        // Weak, as a cancelled work item stays in its queue until its time, and the connection would stay open with it.
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

    /// On `side`.
    private func begin(_ request: URLRequest) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        // Only in case our own timer should fail; whole seconds, as fractions are cut off on Linux.
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

    /// Answers the caller, the first time, and ends the transfer if it continues.
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
        // The handler is never called: the task waits for it until it is cancelled, which `end(by:)` does. Called, it would
        // cross with a cancellation that is under way already, and that ends the process on Linux.
        end(by: .success(reply(response)))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Here it is always the challenge of a reply with status 401, which is what the caller wants to know. Without an
            // answer the task would wait for ever; the refusal cancels it, which must not happen on this queue.
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
