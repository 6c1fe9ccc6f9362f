import CourierCore
import CourierTesting
import Synchronization

/// A provider of connect options. A test defines its answers. It records the times of the requests.
final class ScriptedProvider: IConnectionServiceProvider, Sendable {
    typealias Completion = @Sendable (Result<ConnectOptions, AuthError>) -> Void

    /// The reaction to a request.
    enum Answer: Sendable {
        /// Returns the options. They may differ from earlier options.
        case options(ConnectOptions? = nil)
        case failure(AuthError)
        /// Keeps the completion for ``complete(_:)``.
        case silence
        /// Returns the options, and then this error.
        case twice(AuthError)
    }

    private struct State {
        var clock: VirtualClock?
        var answers: [Answer]
        var asked: [Duration] = []
        var cleared: [Duration] = []
        var kept: [Completion] = []
    }

    let clientId = "scripted"
    private let options: ConnectOptions
    private let state: Mutex<State>

    /// Creates a provider that gives these answers in order, and later always returns the options.
    init(_ options: ConnectOptions, _ answers: [Answer] = []) {
        self.options = options
        state = Mutex(State(answers: answers))
    }

    /// Creates a provider for a broker in memory.
    convenience init(_ answers: [Answer], keepAlive: UInt16 = 0, clean: Bool = false) {
        self.init(
            ConnectOptions(
                host: "broker.invalid", port: 1883, keepAlive: keepAlive, clientId: "scripted", username: "",
                password: "", isCleanSession: clean), answers)
    }

    func use(_ clock: VirtualClock) { state.withLock { $0.clock = clock } }

    /// The times of the requests and of the clear requests, counted from the start of the clock.
    var asked: [Duration] { state.withLock { $0.asked } }
    var cleared: [Duration] { state.withLock { $0.cleared } }

    func getConnectOptions(completion: @escaping Completion) {
        let answer = state.withLock { state in
            state.asked.append(state.clock?.elapsed ?? .zero)
            return state.answers.isEmpty ? .options() : state.answers.removeFirst()
        }
        switch answer {
        case .options(let other): completion(.success(other ?? options))
        case .failure(let error): completion(.failure(error))
        case .silence: state.withLock { $0.kept.append(completion) }
        case .twice(let error):
            completion(.success(options))
            completion(.failure(error))
        }
    }

    func clearCachedAuthResponse() { state.withLock { $0.cleared.append($0.clock?.elapsed ?? .zero) } }

    /// The number of requests that were kept and are not answered yet.
    var keptCount: Int { state.withLock { $0.kept.count } }

    /// Answers all kept requests, on this thread.
    func completeKept(_ result: Result<ConnectOptions, AuthError>? = nil) {
        let kept = state.withLock { state in
            defer { state.kept = [] }
            return state.kept
        }
        for completion in kept { completion(result ?? .success(options)) }
    }
}
