import CourierCore
import Dispatch
import Foundation
import Synchronization

/// Asks the app's provider for options, and lets through the one answer that somebody waits for.
///
/// A second answer, one after ``abandon(_:)``, and one that never comes do nothing and hold nothing: the provider's
/// closure knows the source weakly.
final class CredentialSource: Sendable {
    /// Takes the result, on the provider's thread.
    typealias Deliver = @Sendable (AttemptID, Result<ConnectGrant, any Error>) -> Void

    private struct Request {
        let attempt: AttemptID
        /// The server that a broker has referred to; `nil` for the provider's own.
        let server: BrokerEndpoint?
        let deliver: Deliver
    }

    private struct Challenge {
        let data: Data?
        let method: String
        let done: @Sendable (Result<Data, any Error>) -> Void
    }

    private struct State {
        /// The request that is to be answered.
        var request: Request?
        /// Whether options that the provider has at hand were refused, and asking it is the only way to others.
        var asksAnyway = false
        /// The task in which an async provider works.
        var task: Task<Void, Never>?
        /// The attempt that the task asks for; `nil` while it clears, or before it has begun.
        var asking: AttemptID?
        /// Whether the request waits for its turn: an async provider has one call at a time.
        var isWaiting = false
        /// The task in which a challenge is answered.
        var answering: Task<Void, Never>?
        /// The challenge that waits for its turn, the latest one.
        var challenge: Challenge?
        /// Whether the provider is to forget what it has before it is asked next.
        var needsClear = false
    }

    private enum Provider: Sendable {
        /// Used on the queue only.
        case closures(NonSendableBox<any IConnectionServiceProvider>, DispatchQueue)
        case tasks(any ConnectionServiceProvider)
    }

    private let provider: Provider
    private let state = Mutex(State())

    /// Asks `provider`, which is used on `queue` only; the queue must be serial.
    init(_ provider: any IConnectionServiceProvider, on queue: DispatchQueue) {
        self.provider = .closures(NonSendableBox(provider), queue)
    }

    /// Asks `provider` from a task of its own, one call at a time.
    init(_ provider: any ConnectionServiceProvider) { self.provider = .tasks(provider) }

    deinit {
        let (task, answering) = state.withLock { ($0.task, $0.answering) }
        task?.cancel()
        answering?.cancel()
    }

    /// Asks the provider for the options of `attempt`; an earlier request without an answer is abandoned.
    ///
    /// `server` is the server that a broker has referred to; `nil` asks for the provider's own broker.
    ///
    /// `deliver` is called at most once, from any thread, also before this returns.
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

    /// Lets no answer for `attempt` through any more, and cancels the work on it where that is possible.
    func abandon(_ attempt: AttemptID) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard state.request?.attempt == attempt else { return nil }
            state.request = nil
            state.isWaiting = false
            return state.asking == attempt ? state.task : nil
        }
        task?.cancel()
    }

    /// The broker refused the options: the provider is told, and asked the next time even if it has some at hand.
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

    /// Has a challenge answered, on any thread; only a provider for `async` code does.
    ///
    /// An earlier one that is not answered yet is given up: its task is cancelled, and its `done` is called when that has
    /// ended. One that a later one replaces before its turn is never heard of again.
    func answer(
        _ challenge: Data?, method: String, _ done: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        guard case .tasks(let provider) = provider else {
            return done(
                .failure(
                    CourierError(
                        .authenticationFailed,
                        "The broker sent a challenge for the method \(method.quoted()); only a ConnectionServiceProvider "
                            + "can answer one.")))
        }
        let former = state.withLock { state -> Task<Void, Never>? in
            defer { state.challenge = Challenge(data: challenge, method: method, done: done) }
            // While one waits, the task has not begun, or was cancelled before.
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

/// The provider that takes closures.
extension CredentialSource {
    private func ask(_ provider: any IConnectionServiceProvider, _ attempt: AttemptID, _ server: BrokerEndpoint?) {
        let asksAnyway = state.withLock { state in
            state.request?.attempt == attempt ? state.asksAnyway : nil
        }
        guard let asksAnyway else { return }  // Abandoned before its turn came.
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

/// The provider for `async` code.
extension CredentialSource {
    private enum Step {
        case clear
        case ask(AttemptID, BrokerEndpoint?)
    }

    /// What a task knows of its source: enough to answer it, not enough to keep it.
    private struct Asker: Sendable {
        weak let source: CredentialSource?
    }

    /// Starts a task if there is something to do and none at work.
    private func work(_ provider: any ConnectionServiceProvider) {
        let asker = Asker(source: self)
        state.withLock { state in
            guard state.task == nil, state.needsClear || state.isWaiting else { return }
            // Owned by `state`: it ends by itself, and is cancelled with its request or with the source.
            state.task = Task { await Self.run(provider, for: asker) }
        }
    }

    /// One clearing or one question, then whatever has come up meanwhile, in a task of its own: each has its own
    /// cancellation.
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

/// Challenges, one at a time as well.
extension CredentialSource {
    /// Starts a task for the challenge that waits, if there is one and none is being answered.
    private func answerNext(_ provider: any ConnectionServiceProvider) {
        let asker = Asker(source: self)
        state.withLock { state in
            guard state.answering == nil, state.challenge != nil else { return }
            // Owned by `state`: it ends by itself, and is cancelled with its challenge or with the source.
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
