import CourierCore
import Synchronization

@testable import CourierMQTT

/// The addresses of a client's attempts, from the options of its events.
///
/// The log may receive an event later than the client's other handlers. So a test waits for the expected addresses.
final class AttemptLog: Sendable {
    private struct State {
        var targets: [String] = []
        var waiters: [(isMet: @Sendable ([String]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private final class Link: Sendable {
        let state = Mutex(State())
    }

    private let link: Link
    private let subscription: AnyCancellable

    init(_ test: TestClient) {
        let link = Link()
        self.link = link
        subscription = test.client.eventPublisher.sink { event in
            guard case .connectionAttempt = event.type, let info = event.connectionInfo else { return }
            let met = link.state.withLock { state in
                state.targets.append(info.endpointName)
                let met = state.waiters.filter { $0.isMet(state.targets) }
                state.waiters.removeAll { $0.isMet(state.targets) }
                return met
            }
            for waiter in met { waiter.continuation.resume() }
        }
    }

    /// The addresses so far, such as `127.0.0.1:1883`, in the order of the attempts.
    var targets: [String] { link.state.withLock { $0.targets } }

    /// Waits for `count` attempts, and returns their addresses.
    func targets(_ count: Int) async -> [String] {
        await wait { $0.count >= count }
        return targets
    }

    /// Waits until the last attempt has this address.
    func wait(forLast target: String) async { await wait { $0.last == target } }

    /// The time limit of the test ends the wait.
    private func wait(for isMet: @escaping @Sendable ([String]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = link.state.withLock { state in
                if isMet(state.targets) { return true }
                state.waiters.append((isMet, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
