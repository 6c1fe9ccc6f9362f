import CourierCore
import MQTTCodec

/// Handles the end of attempts and connections, and begins the next step.
extension ConnectionSupervisor {
    /// Handles the end of an attempt or connection. The closure `ending` returns the cause. Its parameters are the
    /// connect options, and whether the broker had accepted the connection.
    mutating func closed(
        _ now: Instant, _ actions: inout [Action], _ ending: (ConnectOptions, Bool) -> ConnectionEnding
    ) {
        switch phase {
        case .opening(let opening): attemptFailed(opening, ending(opening.options, false), now, &actions)
        case .connected(let connection):
            let ending = judged(naming(refusedReferenceOf: ending(connection.options, true)), connection, now)
            endRenewal(connection.renewal, now, &actions)
            emitLoss(of: connection, failure(of: ending), now, &actions)
            respond(to: ending, now, &actions)
        case .closing(let closing):
            switch closing.ended {
            case .attempt(let startedAt, let failure):
                actions.append(.emit(.failed(after: startedAt.duration(to: now), failure)))
            case .connection(let connection, lost: nil):
                rewardStability(of: connection, now)
                drops.closed(after: connection.acceptedAt.duration(to: now), configuration)
                actions.append(.emit(.disconnected))
            case .connection(let connection, lost: let failure?):
                rewardStability(of: connection, now)
                drops = DropStreak()
                emitLoss(of: connection, failure, now, &actions)
            }
            if closing.beginsAnew { beginAnew() }
            proceed(to: closing.next, now, &actions)
        case .resting, .paused, .waiting, .authenticating, .locating: break
        }
    }

    /// Handles an attempt that failed before a connection was opened. Nothing has to be closed.
    mutating func openFailed(
        _ attempt: AttemptID, _ error: CourierError, _ now: Instant, _ actions: inout [Action]
    ) {
        switch phase {
        case .opening(let opening) where opening.attempt == attempt:
            attemptFailed(opening, ConnectionEnding(unopened: error), now, &actions)
        case .closing:  // The app has already ended this attempt, and no other input will report its end.
            closed(now, &actions) { _, _ in ConnectionEnding(unopened: error) }
        case .opening, .resting, .paused, .waiting, .authenticating, .locating, .connected: break
        }
    }

    mutating func attemptFailed(
        _ opening: Opening, _ ending: ConnectionEnding, _ now: Instant, _ actions: inout [Action]
    ) {
        var ending = naming(refusedReferenceOf: ending)
        ending.isOfDetour = isDetour(opening)
        attemptCameToNothing(opening)
        let time = opening.startedAt.duration(to: now)
        actions.append(.emit(.failed(after: time, failure(of: ending))))
        respond(to: ending, now, &actions)
    }

    /// Called when an attempt has ended without an accepted connection. Forgets the redirect that the attempt used.
    ///
    /// If no other endpoint remains to be tried, also resets the count of dropped connections. This count detects
    /// another client with the same id, and an unreachable broker is not a sign of such a client.
    mutating func attemptCameToNothing(_ opening: Opening) {
        if round?.hasNext != true { drops = DropStreak() }
        if isDetour(opening) { redirect = nil }
        endDetour()
    }

    /// True if the attempt uses a server that the broker named in a redirect. False if it uses the current endpoint.
    private func isDetour(_ opening: Opening) -> Bool {
        opening.options != grant.map { endpointOptions($0.options) }
    }

    /// Forgets a redirect that is valid for one attempt only. Called when this attempt has ended. Not called when an
    /// attempt is restarted, so that the restarted attempt still follows the redirect.
    mutating func endDetour() {
        if redirect?.term == .once { redirect = nil }
    }

    /// Drops an attempt or a connection. When the byte stream has closed, the client responds to `ending`.
    mutating func giveUp(
        _ ended: Closing.Ended, _ ending: ConnectionEnding, _ now: Instant, _ actions: inout [Action]
    ) {
        enter(.closing(Closing(ended: ended, next: .respond(ending), abortAt: nil)), &actions)
        actions.append(.abort)
    }

    private func emitLoss(
        of connection: Connection, _ failure: ConnectionFailure, _ now: Instant, _ actions: inout [Action]
    ) {
        actions.append(
            .emit(
                .lost(
                    after: connection.openedAt.duration(to: now), failure,
                    sinceInbound: liveness.lastInbound?.duration(to: now),
                    sinceOutbound: liveness.lastOutbound?.duration(to: now))))
    }

    /// Forgets earlier failures if the connection lasted long enough to count as stable.
    private mutating func rewardStability(of connection: Connection, _ now: Instant) {
        let lasted = connection.acceptedAt.duration(to: now)
        if lasted >= configuration.stableConnectionTime {
            schedule.reset()
            streak = Streak()
        }
        // While two clients take over each other's session, a connection lasts as long as the pause of the other
        // client. So only a connection that lasted longer than the longest pause shows that the takeovers have ended.
        if lasted > configuration.maximumTakeoverInterval { takeoverSchedule.reset() }
    }

    /// Counts a connection that the broker dropped, and returns the ending of the connection. After several drops in a
    /// row, another client with the same id may be the cause. Then the error of the ending mentions such a client, or
    /// the cause becomes `repeatedDrops`.
    private mutating func judged(
        _ ending: ConnectionEnding, _ connection: Connection, _ now: Instant
    ) -> ConnectionEnding {
        rewardStability(of: connection, now)
        // Only a drop by the broker while there is a network is a sign of another client with the same id. After any
        // other end, reset the count of dropped connections.
        guard ending.isByPeer, network == .available else {
            drops = DropStreak()
            return ending
        }
        // `drops` counts connections that another client with the same id may have ended. If a message made the broker
        // end this connection, do not count it in `drops`.
        guard !isLossExplained else {
            schedule.reset()
            return ending
        }
        drops.dropped(after: connection.acceptedAt.duration(to: now), configuration)
        guard drops.mayBeTakeover else { return ending }
        // The log writes equal lines only once a minute. A growing number would make each line different, so a large
        // number is written as "many".
        let count = drops.count > configuration.takeoverTurnCount ? "many" : "\(drops.count)"
        let dropped =
            "The broker \(connection.options.endpointName) dropped \(count) connections in a row soon after accepting them."
        let id = connection.options.clientId.quoted()
        guard drops.isTakeover, connection.version < .v5 else {
            // If another client takes over the session, most MQTT 5 brokers report reason code 0x8E. Without this code,
            // an unstable network is an equally likely cause of the drops. So the error only mentions another client as
            // a possible cause.
            guard !connection.options.clientId.isEmpty else { return ending }
            var ending = ending
            ending.error = CourierError(
                ending.error.code,
                "\(ending.error.message.asSentence) \(dropped) "
                    + "Perhaps another client uses the client id \(id), although the broker does not say so. "
                    + "Give each client its own id.",
                cause: ending.error.cause)
            return ending
        }
        return ConnectionEnding(
            .repeatedDrops,
            CourierError(
                .sessionTakenOver,
                "\(dropped) Another client probably uses the client id \(id); give each client its own id.",
                cause: ending.error))
    }

    /// Returns the failure for the app. If the client makes no further attempts by itself, the error says that the
    /// client waits for `connect()`.
    private func failure(of ending: ConnectionEnding) -> ConnectionFailure {
        let row = ending.row
        guard stops(row) else { return .error(ending.error) }
        return ending.failure(followedBy: "The client waits for connect(): \(row.reason)")
    }

    /// Records the failure of an attempt or a connection in ``finalFailures``.
    private mutating func noteFailure(_ ending: ConnectionEnding) {
        let row = ending.row
        let isFinal =
            switch row.response {
            case .stop: true
            case .renewCredentials: refusesFixedCredentials(ending.cause)
            // A host name with service records may have no address. So if the look-up of service records failed, an
            // unknown host is not a final failure.
            case .retry: row.isFinal && !(areRecordsUnknown && ending.cause == .transport(.unknownHost))
            case .retryAtOnce, .switchVersion, .followOnce, .followForGood, .yield: false
            }
        // A failure is not final in two cases, because a later attempt may succeed:
        // - The network was missing or the machine was suspended during a part of the attempt.
        // - The broker named the failed server in a redirect, and may name another server next time.
        finalFailures.add(
            isFinal: isFinal && network == .available && restartAt == nil && !ending.isOfDetour,
            isOfEveryEndpoint: row.subject == .client)
    }

    /// Records a refusal of credentials. Returns true if the client has no other credentials: the options are fixed, or
    /// the provider returned the same options again. Only a refusal in CONNACK counts, because the same code in
    /// DISCONNECT may mean that the broker refused a topic.
    private mutating func refusesFixedCredentials(_ cause: LossCause) -> Bool {
        guard case .refused = cause else { return false }
        return finalFailures.refused(grant?.options) || configuration.areOptionsFixed
    }

    /// Performs the response that `LossPolicy` defines for the cause of this ending.
    mutating func respond(to ending: ConnectionEnding, _ now: Instant, _ actions: inout [Action]) {
        let row = ending.row
        let isStop = stops(row)
        if row.subject == .endpoint { actions.append(.avoidAddress) }
        actions.append(.log(isStop ? .error : .warning, ending.error.message))
        if follow(ending, row.response) { return wait(until: now, .failure, now, &actions) }
        if row.response != .switchVersion { noteFailure(ending) }
        if row.subject == .endpoint, !isStop {
            switch endpointFailed(row) {
            case .next: return wait(until: now, .failure, now, &actions)
            case .other: return retryAtOnce(schedule.isFresh, after: ending, now, &actions)
            case .over: break
            }
        }
        switch row.response == .stop && !isStop ? .retry : row.response {
        case .retry, .followOnce: waitForSchedule(after: ending, now, &actions)
        case .retryAtOnce: retryAtOnce(schedule.isFresh, after: ending, now, &actions)
        case .switchVersion: wait(until: now, .failure, now, &actions)
        case .renewCredentials, .followForGood: renewCredentials(after: ending, now, &actions)
        case .yield:
            wasTakenOver = true
            streak.redirects = 0
            _ = finalFailures.endRound()
            let pause = nextPause(of: \.takeoverSchedule)
            let failure = failure(of: ending)
            wait(until: now.advanced(by: pause), .takeover, failure: failure, now, &actions)
            actions.append(.releaseWaiters(failure))
        case .stop: stop(failure(of: ending), &actions)
        }
    }

    private mutating func stop(_ failure: ConnectionFailure, _ actions: inout [Action]) {
        enter(.resting(.stopped(failure)), &actions)
        actions.append(.releaseWaiters(failure))
    }

    /// Ends the round of attempts, and begins the next pause of the schedule.
    ///
    /// If all failures of the round are final, callers that wait for the first connection get the last failure. If
    /// `whenRefused` is also `.stop`, the client stops instead of pausing.
    private mutating func waitForSchedule(after ending: ConnectionEnding, _ now: Instant, _ actions: inout [Action]) {
        streak.redirects = 0
        let isFinal = finalFailures.endRound()
        if isFinal, configuration.whenRefused == .stop {
            actions.append(.log(.error, "the client waits for connect(), because reconnect.whenRefused is .stop"))
            return stop(
                ending.failure(followedBy: "The client waits for connect(), because reconnect.whenRefused is .stop."),
                &actions)
        }
        let failure =
            isFinal && !hasConnected ? ending.failure(followedBy: "The client tries again after a pause.") : nil
        let pause = nextPause(of: \.schedule)
        wait(until: now.advanced(by: pause), .failure, failure: failure, now, &actions)
        if let failure { actions.append(.releaseWaiters(failure)) }
    }

    /// Begins an attempt at once if `isGranted` is true and not too many redirects were followed since the last pause.
    /// Otherwise begins the attempt after the next pause of the schedule. In both cases, the schedule advances by one
    /// pause.
    mutating func retryAtOnce(
        _ isGranted: Bool, after ending: ConnectionEnding, _ now: Instant, _ actions: inout [Action]
    ) {
        guard isGranted, streak.redirects < configuration.maximumRedirects else {
            return waitForSchedule(after: ending, now, &actions)
        }
        _ = finalFailures.endRound()
        _ = nextPause(of: \.schedule)
        wait(until: now, .failure, now, &actions)
    }
}
