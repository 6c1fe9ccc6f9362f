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
            guard case .waiting(var waiting) = phase else { return }
            if case .request = waiting.occasion { return }
            waiting.due = max(waiting.due, now.advanced(by: configuration.offlineRetryInterval))
            phase = .waiting(waiting)
        case .available: wakeUp(now, &actions)
        }
    }

    /// Says that there is a network, or none, if the app was not told so last.
    mutating func report(_ status: NetworkStatus, _ actions: inout [Action]) {
        guard status != reportedNetwork else { return }
        reportedNetwork = status
        actions.append(.emit(status == .available ? .networkAvailable : .networkUnavailable))
    }

    /// The machine, or its network, is back: waiting is pointless, and a connection may be dead without knowing.
    private mutating func wakeUp(_ now: Instant, _ actions: inout [Action]) {
        switch phase {
        case .waiting(let waiting):
            if case .takeover = waiting.occasion { return }
            startUrgently(waiting.occasion, now, &actions)
        case .connected:
            liveness.probed(now: now)
            actions.append(.probe)
        case .resting, .paused, .authenticating, .locating, .opening, .closing: break
        }
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
    mutating func pauseOrResume(_ resumption: Resumption, _ now: Instant, _ actions: inout [Action]) {
        let isWanted =
            switch resumption {
            case .always: true
            case .forTopics: areTopicsWanted
            }
        guard appPhase == .foreground, isWanted else {
            enter(.paused(resumption), &actions)
            if case .failed(let failure) = waiterAnswer { actions.append(.releaseWaiters(failure)) }
            return
        }
        startUrgently(.change, now, &actions)
    }
}
