import CourierCore

extension ConnectionSupervisor {
    /// The values from which the client makes the app's `ConnectionStatus`.
    struct Plan: Equatable, Sendable {
        var state = ConnectionState.disconnected
        /// The number of the current or planned attempt; 0 if there is none. Attempts are counted from the last
        /// accepted connection, or from the last `disconnect()` or `destroy()`.
        var attempt = 0
        /// The time when the planned attempt begins; `nil` if no attempt is planned.
        var nextAttempt: Instant?
        /// The name of the server of the latest attempt or connection; `nil` before the first attempt.
        var endpoint: String?
    }

    /// The current values for the app's `ConnectionStatus`.
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
