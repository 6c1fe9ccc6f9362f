import CourierCore

/// Determines the time of the next timer, and handles the timer.
extension ConnectionSupervisor {
    /// The time when ``Input/timerFired`` is due, if no other input arrives earlier; `nil` if nothing is planned. Each
    /// input may change the deadline.
    var deadline: Instant? {
        switch phase {
        case .resting, .paused: return nil
        case .waiting(let waiting): return waiting.due
        case .authenticating(let authentication):
            return [authentication.giveUpAt, authentication.warnAt].compactMap(\.self).min()
        case .locating(let locating): return locating.giveUpAt
        case .opening(let opening): return [opening.giveUpAt, opening.warnAt, restartAt].compactMap(\.self).min()
        case .connected(let connection):
            let renewal: Instant? =
                switch connection.renewal {
                case .none: nil
                case .due(let due): due
                case .fetching(let authentication): authentication.giveUpAt
                }
            return [renewal, liveness.deadline, connection.failback?.due].compactMap(\.self).min()
        case .closing(let closing): return closing.abortAt
        }
    }

    mutating func timerFired(_ now: Instant, _ actions: inout [Action]) {
        switch phase {
        case .resting, .paused: break
        case .waiting(let waiting):
            guard now >= waiting.due else { return }
            if waiting.isUrgent { lastUrgentAt = now }
            start(waiting.occasion, now, &actions)
        case .authenticating(let authentication):
            guard let giveUpAt = authentication.giveUpAt, now >= giveUpAt else {
                return warnIfSlow(authentication, now, &actions)
            }
            authenticationTimedOut(authentication, now, &actions)
        case .locating(let locating):
            guard now >= locating.giveUpAt else { return }
            endpointsFound(locating.attempt, .failed("no answer in time"), now, &actions)
        case .opening(let opening):
            guard let giveUpAt = opening.giveUpAt, now >= giveUpAt else {
                warnIfSlow(opening, now, &actions)
                return restartIfDue(opening, now, &actions)
            }
            let time = opening.startedAt.duration(to: giveUpAt)
            let error = CourierError(
                .timedOut,
                "The client could not connect to \(opening.options.endpointName) in \(time) (connectTimeoutPolicy). "
                    + "Is the host correct, and is the port open?")
            attemptCameToNothing(opening)
            giveUp(
                .attempt(startedAt: opening.startedAt, .error(error)), ConnectionEnding(.connectTimeout, error), now,
                &actions)
        case .connected(let connection): look(at: connection, now, &actions)
        case .closing(var closing):
            guard let abortAt = closing.abortAt, now >= abortAt else { return }
            closing.abortAt = nil
            phase = .closing(closing)
            actions.append(.abort)
        }
    }

    private mutating func warnIfSlow(
        _ authentication: Authentication, _ now: Instant, _ actions: inout [Action]
    ) {
        guard let warnAt = authentication.warnAt, now >= warnAt else { return }
        var authentication = authentication
        authentication.warnAt = nil
        phase = .authenticating(authentication)
        // Log the configured time, because the measured time would make every log line different.
        let time = configuration.slowAttemptTime ?? .zero
        actions.append(
            .log(
                .warning,
                "the auth provider has not answered for \(time); the client keeps waiting. Check that the delivery queue runs."
            ))
    }

    private mutating func warnIfSlow(_ opening: Opening, _ now: Instant, _ actions: inout [Action]) {
        guard let warnAt = opening.warnAt, now >= warnAt else { return }
        var opening = opening
        opening.warnAt = nil
        phase = .opening(opening)
        let time = configuration.slowAttemptTime ?? .zero
        let name = opening.options.endpointName
        let problem =
            opening.isConnectSent
            ? "the broker \(name) has not answered the connection request for \(time)"
            : "no connection to the broker \(name) after \(time)"
        actions.append(
            .log(.warning, "\(problem); the client keeps waiting. Check the host, the port and the firewall."))
    }

    private mutating func look(at connection: Connection, _ now: Instant, _ actions: inout [Action]) {
        switch liveness.look(now: now) {
        case .alive: break
        case .probe: actions.append(.probe)
        case .dead(let time):
            let error = CourierError(
                .timedOut,
                "The broker \(connection.options.endpointName) sent nothing for \(time), although it had to answer.")
            endRenewal(connection.renewal, now, &actions)
            return giveUp(
                .connection(connection, lost: .error(error)), ConnectionEnding(.silence, error), now, &actions)
        }
        switch connection.renewal {
        case .due(let due) where now >= due: renewalDue(connection, now, &actions)
        case .fetching(let authentication):
            if let giveUpAt = authentication.giveUpAt, now >= giveUpAt {
                authenticationTimedOut(authentication, now, &actions)
            }
        case .none, .due: break
        }
        if case .connected(let connection) = phase { comeHomeIfDue(connection, now, &actions) }
    }
}
