import CourierTesting
import Synchronization

/// Collects the events of a proxy, and lets a test wait for them.
final class ProxyLog: Sendable {
    private struct State {
        var events: [ProxyEvent] = []
        var waiting: [(condition: @Sendable ([ProxyEvent]) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
            []
    }

    private let state = Mutex(State())

    func observe(_ event: ProxyEvent) {
        let met = state.withLock { state in
            state.events.append(event)
            let met = state.waiting.filter { $0.condition(state.events) }.map(\.continuation)
            state.waiting.removeAll { $0.condition(state.events) }
            return met
        }
        for continuation in met { continuation.resume() }
    }

    var events: [ProxyEvent] { state.withLock { $0.events } }
    var packets: [ProxiedPacket] { events.compactMap(\.packet) }
    var closeReasons: [ProxyCloseReason] { events.compactMap(\.closeReason) }

    /// Waits until the events meet a condition.
    func wait(until condition: @escaping @Sendable ([ProxyEvent]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMet = state.withLock { state in
                if condition(state.events) { return true }
                state.waiting.append((condition, continuation))
                return false
            }
            if isMet { continuation.resume() }
        }
    }

    /// Waits until the first connection has ended, and returns the reason.
    func endOfConnection() async -> ProxyCloseReason? {
        await wait { $0.contains { $0.closeReason != nil } }
        return closeReasons.first
    }
}

extension ProxyEvent {
    var packet: ProxiedPacket? { if case .packet(let packet) = self { packet } else { nil } }
    var closeReason: ProxyCloseReason? { if case .closed(_, let reason) = self { reason } else { nil } }
}
