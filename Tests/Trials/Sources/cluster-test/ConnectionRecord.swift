import CourierCore
import Synchronization

/// Counts the connection events of one client.
final class ConnectionRecord: ICourierEventHandler, Sendable {
    struct Figures {
        var connections = 0
        var subscribes = 0
        var downgrades = 0
        var lostAt: ContinuousClock.Instant?
        /// The time without a connection, for each lost connection.
        var outages: [Duration] = []
    }

    private let state = Mutex(Figures())

    var figures: Figures { state.withLock { $0 } }

    func onEvent(_ event: CourierEvent) {
        state.withLock { state in
            switch event.type {
            case .connectionSuccess:
                state.connections += 1
                if let lostAt = state.lostAt { state.outages.append(.now - lostAt) }
                state.lostAt = nil
            case .connectionLost: state.lostAt = .now
            case .subscribeAttempt: state.subscribes += 1
            case .deliveryDowngraded: state.downgrades += 1
            default: break
            }
        }
    }
}
