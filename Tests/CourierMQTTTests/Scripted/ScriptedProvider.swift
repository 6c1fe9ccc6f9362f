import CourierCore
import CourierTesting
import Synchronization

/// A provider of connect options that answers as a test says, and notes when it was asked.
final class ScriptedProvider: IConnectionServiceProvider, Sendable {
    typealias Completion = @Sendable (Result<ConnectOptions, AuthError>) -> Void

    /// What it does when it is asked.
    enum Answer: Sendable {
        /// Gives the options, which may be others than before.
        case options(ConnectOptions? = nil)
        case failure(AuthError)
        /// Keeps the completion for ``complete(_:)``.
        case silence
        /// Gives the options, and then this.
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

    /// Answers in this order, and then always with the options.
    init(_ options: ConnectOptions, _ answers: [Answer] = []) {
        self.options = options
        state = Mutex(State(answers: answers))
    }

    /// One that is asked in memory.
    convenience init(_ answers: [Answer], keepAlive: UInt16 = 0, clean: Bool = false) {
        self.init(
            ConnectOptions(
                host: "broker.invalid", port: 1883, keepAlive: keepAlive, clientId: "scripted", username: "",
                password: "", isCleanSession: clean), answers)
    }

    func use(_ clock: VirtualClock) { state.withLock { $0.clock = clock } }

    /// When it was asked, and told to forget, counted from the clock's start.
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

    /// How many were kept silent and are not answered yet.
    var keptCount: Int { state.withLock { $0.kept.count } }

    /// Answers all that were kept silent, from this thread.
    func completeKept(_ result: Result<ConnectOptions, AuthError>? = nil) {
        let kept = state.withLock { state in
            defer { state.kept = [] }
            return state.kept
        }
        for completion in kept { completion(result ?? .success(options)) }
    }
}
