import Foundation
import Synchronization

/// Lets callers wait for the two steps of a client's end: the app releases the client, and later the client has stored
/// its last changes.
final class ClientEnd: Sendable {
    /// The step that the client's end has reached, and the callers that wait for the end.
    private struct State {
        var isLetGo = false
        var hasFinished = false
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        var lastWaiter = 0
    }

    private let state = Mutex(State())
    /// A dispatch group that callers wait for. It is entered in `init`, and left when the app releases the client.
    private let held = DispatchGroup()

    init() { held.enter() }

    deinit { letGo() }

    func letGo() {
        let isFirst = state.withLock { state in
            defer { state.isLetGo = true }
            return !state.isLetGo
        }
        if isFirst { held.leave() }
    }

    /// Blocks until the app has released the client. Returns `false` if this takes longer than `limit`.
    func isLetGo(within limit: DispatchTimeInterval) -> Bool { held.wait(timeout: .now() + limit) == .success }

    func finish() {
        let waiters = state.withLock { state in
            state.hasFinished = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    /// Waits until the client has stored its last changes. Returns `false` if this takes longer than `limit`.
    func hasFinished(within limit: DispatchTimeInterval) async -> Bool {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                guard !state.hasFinished else { return nil }
                state.lastWaiter += 1
                state.waiters[state.lastWaiter] = continuation
                return state.lastWaiter
            }
            guard let number else { return continuation.resume(returning: true) }
            DispatchQueue.global().asyncAfter(deadline: .now() + limit) { [weak self] in
                self?.state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: false)
            }
        }
    }
}
