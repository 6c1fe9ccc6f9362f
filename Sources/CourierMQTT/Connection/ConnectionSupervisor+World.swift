import CourierCore

/// Handles changes of the network and of the app's phase, and the end of a suspension of the machine.
extension ConnectionSupervisor {
    mutating func networkChanged(_ status: NetworkStatus, _ now: Instant, _ actions: inout [Action]) {
        guard status != network else {
            // The network's status has not changed. But if the last event reported another status, for example because
            // the provider failed, report the present status.
            return report(status, &actions)
        }
        network = status
        report(status, &actions)
        switch status {
        case .unavailable:
            restartAt = nil
            guard case .waiting(var waiting) = phase, !waiting.occasion.isRequest else { return }
            waiting.due = max(waiting.due, now.advanced(by: configuration.offlineRetryInterval))
            // Without a network, no failure is final. So callers of `connected()` wait for the next attempt instead of
            // getting this failure.
            if case .failure = waiting.occasion { waiting.failure = nil }
            phase = .waiting(waiting)
        case .available: wakeUp(now, &actions)
        }
    }

    /// Reports a change of the network to the app.
    mutating func report(_ status: NetworkStatus, _ actions: inout [Action]) {
        guard status != reportedNetwork else { return }
        reportedNetwork = status
        actions.append(.emit(status == .available ? .networkAvailable : .networkUnavailable))
    }

    /// Handles the end of a suspension, or the return of the network. Ends a pause, because an attempt may succeed now.
    /// Sends a PINGREQ on an open connection, because the connection may be dead.
    private mutating func wakeUp(_ now: Instant, _ actions: inout [Action]) {
        switch phase {
        case .waiting(var waiting):
            guard case .takeover = waiting.occasion else { return startUrgently(waiting.occasion, now, &actions) }
            // After another client has taken over the session, do not shorten the pause, because an early attempt would
            // take the session back. But if the pause became longer because there was no network, use the planned time
            // again.
            guard network == .available else { return }
            waiting.due = max(waiting.planned, now)
            phase = .waiting(waiting)
        case .connected:
            liveness.probed(now: now)
            actions.append(.probe)
        // The pending request to the provider may still succeed, so do not cancel it. If the request fails, the client
        // asks again at the planned restart time at the latest.
        case .authenticating(let authentication): planRestart(authentication.startedAt, now)
        case .opening(let opening):
            planRestart(opening.startedAt, now)
            restartIfDue(opening, now, &actions)
        case .resting, .paused, .locating, .closing: break
        }
    }

    /// Plans the restart of an attempt, because its network path may not work any more.
    ///
    /// The restart is due `urgentAttemptSpacing` after the start of the attempt. If an urgent attempt (an attempt
    /// outside the schedule) began later, the restart is due `urgentAttemptSpacing` after the start of that urgent
    /// attempt. If the attempt fails before its restart is due, the next attempt begins at the time of the restart at
    /// the latest.
    private mutating func planRestart(_ startedAt: Instant, _ now: Instant) {
        // Plan no restart if the attempt began at this moment, because the network has not changed during the attempt.
        guard network == .available, startedAt < now else { return }
        let last = max(startedAt, lastUrgentAt ?? startedAt)
        restartAt = last.advanced(by: configuration.urgentAttemptSpacing)
    }

    /// Drops an attempt if its restart is due. The next attempt begins when the dropped attempt has ended.
    mutating func restartIfDue(_ opening: Opening, _ now: Instant, _ actions: inout [Action]) {
        guard let restartAt, now >= restartAt else { return }
        lastUrgentAt = now
        let error = CourierError(
            .connectionFailed,
            "The network changed, or the machine slept, "
                + "during the attempt to connect to \(opening.options.endpointName). The client tries again at once.")
        actions.append(.log(.info, error.message))
        let ended = Closing.Ended.attempt(startedAt: opening.startedAt, .error(error))
        enter(.closing(Closing(ended: ended, next: .begin(.failure), abortAt: nil)), &actions)
        actions.append(.abort)
    }

    mutating func resumedFromSuspend(_ now: Instant, _ actions: inout [Action]) { wakeUp(now, &actions) }

    mutating func phaseChanged(_ newPhase: AppPhase, _ now: Instant, _ actions: inout [Action]) {
        guard newPhase != appPhase else { return }
        appPhase = newPhase
        switch newPhase {
        case .background:
            actions.append(.emit(.appBackground))
            switch phase {
            case .resting, .paused, .closing: break  // When the close has ended, the next step checks the app phase.
            case .waiting(let waiting):
                if case .request = waiting.occasion { return leave(for: .pause(.always), now, &actions) }
                leave(for: .pause(.forTopics), now, &actions)
            case .authenticating, .locating, .opening, .connected: leave(for: .pause(.forTopics), now, &actions)
            }
        case .foreground:
            actions.append(.emit(.appForeground))
            resumeIfPaused(now, &actions)
        }
    }

    mutating func topicsChanged(_ areWanted: Bool, _ now: Instant, _ actions: inout [Action]) {
        guard areWanted != areTopicsWanted else { return }
        areTopicsWanted = areWanted
        resumeIfPaused(now, &actions)
    }

    private mutating func resumeIfPaused(_ now: Instant, _ actions: inout [Action]) {
        if case .paused(let resumption) = phase { pauseOrResume(resumption, now, &actions) }
    }

    /// Starts an attempt if the app is in the foreground and the resume condition is met. Otherwise, the client stays
    /// paused.
    mutating func pauseOrResume(_ resumption: ResumeCondition, _ now: Instant, _ actions: inout [Action]) {
        let occasion: Occasion? =
            switch resumption {
            case .always: .request
            case .forTopics: areTopicsWanted ? .change : nil
            }
        guard appPhase == .foreground, let occasion else {
            enter(.paused(resumption), &actions)
            if case .failed(let failure) = waiterAnswer { actions.append(.releaseWaiters(failure)) }
            return
        }
        startUrgently(occasion, now, &actions)
    }
}
