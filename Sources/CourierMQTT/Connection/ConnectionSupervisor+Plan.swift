import CourierCore

extension ConnectionSupervisor {
    /// The values that the app's `ConnectionStatus` is made from.
    struct Plan: Equatable, Sendable {
        var state = ConnectionState.disconnected
        /// The number of the present or next attempt since the last connection; 0 if there is none.
        var attempt = 0
        /// When the next attempt begins, if it is planned.
        var nextAttempt: Instant?
        /// The name of the server of the present attempt or connection, or of the last one.
        var endpoint: String?
    }

    /// The present values for the app's `ConnectionStatus`.
    var plan: Plan {
        var plan = Plan(state: state, endpoint: info?.endpointName)
        switch phase {
        case .resting, .paused, .connected, .closing: break
        case .authenticating, .locating, .opening: plan.attempt = attemptsInRow
        case .waiting(let waiting):
            plan.attempt = attemptsInRow + 1
            plan.nextAttempt = waiting.due
        }
        return plan
    }
}
