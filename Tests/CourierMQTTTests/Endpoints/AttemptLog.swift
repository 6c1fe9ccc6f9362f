import CourierCore
import Synchronization

@testable import CourierMQTT

/// Where a client's attempts went, by the options that their events carry.
///
/// It hears of them on its own way, later than the client's own handlers and whoever awaits the client: a test waits for
/// what it looks for.
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

    /// Such as `127.0.0.1:1883`, in order, as far as it has heard.
    var targets: [String] { link.state.withLock { $0.targets } }

    /// The targets, once there are at least so many.
    func targets(_ count: Int) async -> [String] {
        await wait { $0.count >= count }
        return targets
    }

    /// Waits until the last attempt went there.
    func wait(forLast target: String) async { await wait { $0.last == target } }

    /// Ends with the test's time limit at the latest.
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
