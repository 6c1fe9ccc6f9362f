import CourierCore

/// The network, the app's lifecycle, and the machine's sleep.
extension ConnectionSupervisor {
    mutating func networkChanged(_ status: NetworkStatus, _ now: Instant, _ actions: inout [Action]) {
        guard status != network else {
            // The monitor repeats itself; only a network error of the provider can have said otherwise since.
            return report(status, &actions)
        }
        network = status
        report(status, &actions)
        switch status {
        case .unavailable:
            restartAt = nil
            guard case .waiting(var waiting) = phase, !waiting.occasion.isRequest else { return }
            waiting.due = max(waiting.due, now.advanced(by: configuration.offlineRetryInterval))
            // Without a network no failure is final, and callers wait for the next attempt.
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

    /// The machine, or its network, is back: waiting is pointless, and a connection may be dead without knowing.
    private mutating func wakeUp(_ now: Instant, _ actions: inout [Action]) {
        switch phase {
        case .waiting(var waiting):
            guard case .takeover = waiting.occasion else { return startUrgently(waiting.occasion, now, &actions) }
            // No reason to hurry, but what the missing network has put off is due again when it was planned.
            guard network == .available else { return }
            waiting.due = max(waiting.planned, now)
            phase = .waiting(waiting)
        case .connected:
            liveness.probed(now: now)
            actions.append(.probe)
        // The provider is not interrupted. If it fails, it is asked again soon.
        case .authenticating(let authentication): planRestart(authentication.startedAt, now)
        case .opening(let opening):
            planRestart(opening.startedAt, now)
            restartIfDue(opening, now, &actions)
        case .resting, .paused, .locating, .closing: break
        }
    }

    /// An attempt may hang on a way that is gone by now. It has the time between two urgent attempts to get there; if
    /// it fails before, the next one does not begin later than it would have been made anew.
    private mutating func planRestart(_ startedAt: Instant, _ now: Instant) {
        // A status that is reported while the attempt begins is not a change.
        guard network == .available, startedAt < now else { return }
        let last = max(startedAt, lastUrgentAt ?? startedAt)
        restartAt = last.advanced(by: configuration.urgentAttemptSpacing)
    }

    /// Abandons an attempt to restart it. The next attempt begins after its end.
    mutating func restartIfDue(_ opening: Opening, _ now: Instant, _ actions: inout [Action]) {
        guard let restartAt, now >= restartAt else { return }
        lastUrgentAt = now
        let error = CourierError(
            .connectionFailed,
            "The network changed, or the machine slept, while the client connected to "
                + "\(opening.options.endpointName); it tries again at once.")
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
            case .resting, .paused, .closing: break  // What follows a close looks at the phase by itself.
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

    /// Pauses, unless everything is there that ends the pause.
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
