import CourierCore
import Dispatch
import Foundation
import Synchronization

/// Asks the app's provider for connect options. Delivers only the provider's response to the current request.
///
/// A second response to a request is ignored, and so is a response after ``abandon(_:)``. A provider that never
/// responds does not keep the source alive, because the provider's completion closure references the source weakly.
final class CredentialSource: Sendable {
    /// A closure that receives the provider's connect options or error for an attempt. It is called on the thread on
    /// which the provider responds.
    typealias Deliver = @Sendable (AttemptID, Result<ConnectGrant, any Error>) -> Void

    /// A request for connect options that waits for the provider's response.
    private struct Request {
        let attempt: AttemptID
        /// The server to which the broker redirected the client; `nil` to request options for the provider's own
        /// broker.
        let server: BrokerEndpoint?
        let deliver: Deliver
    }

    /// A broker's challenge (AUTH) that waits for the provider's response.
    private struct Challenge {
        let data: Data?
        let method: String
        let done: @Sendable (Result<Data, any Error>) -> Void
    }

    private struct State {
        /// The request that waits for the provider's response; `nil` if no request waits.
        var request: Request?
        /// True if the broker refused the options. The next attempt must then ask the provider, even if the provider
        /// has cached options.
        var asksAnyway = false
        /// The task that calls an async provider for options; `nil` if none is running.
        var task: Task<Void, Never>?
        /// The attempt for which the task requests options. `nil` before the task begins, and while the task clears the
        /// provider's options.
        var asking: AttemptID?
        /// True until the async provider is called for the request. The provider gets only one call at a time. So the
        /// request may have to wait until an earlier call ends.
        var isWaiting = false
        /// The task that gets the response to a broker's challenge; `nil` if none is running.
        var answering: Task<Void, Never>?
        /// The latest challenge that the provider has not received yet; `nil` if no challenge waits.
        var challenge: Challenge?
        /// Whether the provider must clear its options before the next request.
        var needsClear = false
    }

    /// The app's provider. It responds by calling a closure, or it is async.
    private enum Provider: Sendable {
        /// A provider that responds by calling a closure, and the queue on which the client calls this provider.
        case closures(NonSendableBox<any IConnectionServiceProvider>, DispatchQueue)
        case tasks(any ConnectionServiceProvider)
    }

    private let provider: Provider
    private let state = Mutex(State())

    /// Makes a source that calls `provider` on `queue` only, which must be serial.
    init(_ provider: any IConnectionServiceProvider, on queue: DispatchQueue) {
        self.provider = .closures(NonSendableBox(provider), queue)
    }

    /// Makes a source that calls `provider` from its own task, one call at a time.
    init(_ provider: any ConnectionServiceProvider) { self.provider = .tasks(provider) }

    deinit {
        let (task, answering) = state.withLock { ($0.task, $0.answering) }
        task?.cancel()
        answering?.cancel()
    }

    /// Asks the provider for the options of `attempt`. An earlier request that has no response yet is abandoned.
    ///
    /// `server` is the server to which a broker redirected the client. If `server` is `nil`, the provider returns
    /// options for its own broker.
    ///
    /// `deliver` is called at most once, on any thread. The call may happen before this method returns.
    func fetch(_ attempt: AttemptID, for server: BrokerEndpoint? = nil, deliver: @escaping Deliver) {
        switch provider {
        case .closures(let provider, let queue):
            state.withLock { $0.request = Request(attempt: attempt, server: server, deliver: deliver) }
            queue.async { [weak self] in
                guard let self else { return }
                provider.use { self.ask($0, attempt, server) }
            }
        case .tasks(let provider):
            let abandoned = state.withLock { state in
                state.request = Request(attempt: attempt, server: server, deliver: deliver)
                state.isWaiting = true
                return state.asking == nil ? nil : state.task
            }
            abandoned?.cancel()
            work(provider)
        }
    }

    /// Ignores responses for `attempt` from now on. If the provider is async, its task for this attempt is cancelled.
    func abandon(_ attempt: AttemptID) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard state.request?.attempt == attempt else { return nil }
            state.request = nil
            state.isWaiting = false
            return state.asking == attempt ? state.task : nil
        }
        task?.cancel()
    }

    /// Makes the provider clear its options, because the broker refused them. The next attempt asks the provider, even
    /// if the provider has cached options.
    func clear() {
        switch provider {
        case .closures(let provider, let queue):
            state.withLock { $0.asksAnyway = true }
            queue.async { provider.use { $0.clearCachedAuthResponse() } }
        case .tasks(let provider):
            state.withLock { $0.needsClear = true }
            work(provider)
        }
    }

    /// Asks the provider for the response to a broker's challenge, and calls `done` with the response. If the provider
    /// is not async, `done` gets an error, because only an async provider can respond to challenges. May be called from
    /// any thread.
    ///
    /// If the task for an earlier challenge is still running, it is cancelled. The `done` of that challenge is called
    /// when its task has ended. If a challenge is replaced before its task begins, its `done` is never called.
    func answer(
        _ challenge: Data?, method: String, _ done: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        guard case .tasks(let provider) = provider else {
            return done(
                .failure(
                    CourierError(
                        .authenticationFailed,
                        "The broker sent a challenge for the method \(method.quoted()). "
                            + "Only a ConnectionServiceProvider can answer a challenge.")))
        }
        let former = state.withLock { state -> Task<Void, Never>? in
            defer { state.challenge = Challenge(data: challenge, method: method, done: done) }
            // If another challenge already waits, return no task. The running task was already cancelled when that
            // challenge arrived.
            return state.challenge == nil ? state.answering : nil
        }
        former?.cancel()
        answerNext(provider)
    }

    private func complete(_ attempt: AttemptID, _ result: Result<ConnectGrant, any Error>) {
        let request = state.withLock { state -> Request? in
            guard let request = state.request, request.attempt == attempt else { return nil }
            state.request = nil
            if case .success = result, request.server == nil { state.asksAnyway = false }
            return request
        }
        request?.deliver(attempt, result)
    }
}

/// Calls a provider that responds by calling a closure (`IConnectionServiceProvider`).
extension CredentialSource {
    private func ask(_ provider: any IConnectionServiceProvider, _ attempt: AttemptID, _ server: BrokerEndpoint?) {
        let asksAnyway = state.withLock { state in
            state.request?.attempt == attempt ? state.asksAnyway : nil
        }
        guard let asksAnyway else { return }  // The attempt was abandoned before this call.
        if let server {
            return provider.getConnectOptions(for: server) { [weak self] result in
                self?.complete(attempt, result.map { ConnectGrant($0) }.mapError { $0 })
            }
        }
        if !asksAnyway, let options = provider.existingConnectOptions {
            return complete(attempt, .success(ConnectGrant(options)))
        }
        provider.getConnectOptions { [weak self] result in
            self?.complete(attempt, result.map { ConnectGrant($0) }.mapError { $0 })
        }
    }
}

/// Calls an async provider (`ConnectionServiceProvider`).
extension CredentialSource {
    /// The next call of an async provider.
    private enum Step {
        case clear
        case ask(AttemptID, BrokerEndpoint?)
    }

    /// A task's weak reference to its `CredentialSource`, so that the task does not keep the source alive.
    private struct Asker: Sendable {
        weak let source: CredentialSource?
    }

    /// Starts a task if the provider must clear its options or be asked for options, and no task is running.
    private func work(_ provider: any ConnectionServiceProvider) {
        let asker = Asker(source: self)
        state.withLock { state in
            guard state.task == nil, state.needsClear || state.isWaiting else { return }
            // `state` owns the task. The task ends by itself, or is cancelled when its request is abandoned or the
            // source is released.
            state.task = Task { await Self.run(provider, for: asker) }
        }
    }

    /// Makes one call to the provider: either clears its options, or asks for options. If another request or clear
    /// arrives during this call, a new task performs it. Each request needs its own task, so that it can be cancelled
    /// separately.
    private static func run(_ provider: any ConnectionServiceProvider, for asker: Asker) async {
        switch asker.source?.nextStep() {
        case nil: break
        case .clear: await provider.clearCachedOptions()
        case .ask(let attempt, let server):
            let result: Result<ConnectGrant, any Error>
            do {
                if let server {
                    result = .success(try await provider.connectOptions(for: server))
                } else {
                    result = .success(try await provider.connectOptions())
                }
            } catch {
                result = .failure(error)
            }
            asker.source?.complete(attempt, result)
        }
        guard let source = asker.source else { return }
        source.state.withLock { state in
            state.task = nil
            state.asking = nil
        }
        source.work(provider)
    }

    private func nextStep() -> Step? {
        state.withLock { state in
            if state.needsClear {
                state.needsClear = false
                return .clear
            }
            guard state.isWaiting, let request = state.request else { return nil }
            state.isWaiting = false
            state.asking = request.attempt
            return .ask(request.attempt, request.server)
        }
    }
}

/// Gets the responses to challenges from the provider, one at a time.
extension CredentialSource {
    /// Starts a task for the waiting challenge, if no task for another challenge is running.
    private func answerNext(_ provider: any ConnectionServiceProvider) {
        let asker = Asker(source: self)
        state.withLock { state in
            guard state.answering == nil, state.challenge != nil else { return }
            // `state` owns the task. The task ends by itself, or is cancelled when another challenge arrives or the
            // source is released.
            state.answering = Task { await Self.answerOne(provider, for: asker) }
        }
    }

    private static func answerOne(_ provider: any ConnectionServiceProvider, for asker: Asker) async {
        if let challenge = asker.source?.nextChallenge() {
            let result: Result<Data, any Error>
            do {
                result = .success(try await provider.answer(challenge.data, method: challenge.method))
            } catch {
                result = .failure(error)
            }
            challenge.done(result)
        }
        guard let source = asker.source else { return }
        source.state.withLock { $0.answering = nil }
        source.answerNext(provider)
    }

    private func nextChallenge() -> Challenge? {
        state.withLock { state in
            defer { state.challenge = nil }
            return state.challenge
        }
    }
}
