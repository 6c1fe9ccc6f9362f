import CourierCore

/// Handles the app's calls of `connect()`, `disconnect()` and `destroy()`.
extension ConnectionSupervisor {
    mutating func connectRequested(_ source: String, _ now: Instant, _ actions: inout [Action]) {
        hasSession = true
        switch phase {
        case .resting(let rest):
            beginAnew()
            actions.append(.log(.info, "connect() was called by \(source.quoted())"))
            switch rest {
            case .unused, .disconnected, .destroyed: start(.request, now, &actions)
            // Keep the minimum time between urgent attempts (attempts outside the schedule), because an app may call
            // `connect()` after each stop.
            case .stopped: startUrgently(.request, now, &actions)
            }
        case .paused(let resumption):
            switch (appPhase, resumption) {
            case (.background, .always): discard("App is in the background", &actions)
            case (.background, .forTopics): phase = .paused(.always)
            case (.foreground, _): start(.request, now, &actions)
            }
        case .waiting(let waiting):
            if case .request = waiting.occasion { return discard("Client is about to connect", &actions) }
            startUrgently(.request, now, &actions)
        case .authenticating: discard("Client is authenticating", &actions)
        case .locating: discard("Client connecting", &actions)
        case .opening: discard("Client connecting", &actions)
        case .connected: discard("Client already connected", &actions)
        case .closing(var closing):
            if case .begin(.request) = closing.next { return discard("Client is about to connect", &actions) }
            if case .rest = closing.next { closing.beginsAnew = true }
            closing.next = .begin(.request)
            phase = .closing(closing)
        }
    }

    /// Forgets earlier failures and endpoints, because the app begins a new series of attempts.
    mutating func beginAnew() {
        schedule.reset()
        authSchedule.reset()
        streak = Streak()
        drops = DropStreak()
        hasConnected = false
        finalFailures = FinalFailures()
        forgetEndpoints()
    }

    private func discard(_ reason: String, _ actions: inout [Action]) {
        actions.append(.emit(.connectDiscarded(reason: reason)))
    }

    /// Handles `disconnect()` and `destroy()`.
    mutating func endIntent(_ rest: Rest, _ now: Instant, _ actions: inout [Action]) {
        let clearsState = if case .destroyed = rest { true } else { false }
        guard clearsState || hasIntent else { return }
        attemptsInRow = 0
        actions.append(.emit(.courierDisconnect(clearsState: clearsState)))
        if clearsState { forget(&actions) }
        leave(for: .rest(rest), now, &actions)
        actions.append(.releaseWaiters(rest.endOfWait))
    }

    /// Clears the session's state at once, before the connection has closed. If the state were cleared later, the
    /// subscriptions and messages that the app adds after `destroy()` would be removed, too.
    private mutating func forget(_ actions: inout [Action]) {
        hasSession = false
        grant = nil
        redirect = nil
        beginAnew()
        takeoverSchedule.reset()
        actions.append(.clearStoredState)
    }

    /// True if the client is connected, tries to connect, or connects when the app is in the foreground again.
    private var hasIntent: Bool {
        switch phase {
        case .resting: false
        case .closing(let closing): if case .rest = closing.next { false } else { true }
        case .paused, .waiting, .authenticating, .locating, .opening, .connected: true
        }
    }

    /// Ends the current attempt or connection, and then continues with `next`. An open connection is closed with
    /// DISCONNECT.
    mutating func leave(for next: Closing.Next, _ now: Instant, _ actions: inout [Action]) {
        switch phase {
        case .resting, .paused, .waiting, .locating: proceed(to: next, now, &actions)
        case .authenticating(let authentication):
            if authentication.isForRedirect { endDetour() }
            abandon(authentication, now, &actions)
            proceed(to: next, now, &actions)
        case .opening(let opening):
            endDetour()
            close(.attempt(startedAt: opening.startedAt, .cancelled), next, now, &actions)
        case .connected(let connection):
            endRenewal(connection.renewal, now, &actions)
            close(.connection(connection, lost: nil), next, now, &actions)
        case .closing(var closing):
            endDetour()
            closing.next = next
            phase = .closing(closing)
        }
    }

    private mutating func close(
        _ ended: Closing.Ended, _ next: Closing.Next, _ now: Instant, _ actions: inout [Action]
    ) {
        let abortAt = now.advanced(by: configuration.closeTimeout)
        enter(.closing(Closing(ended: ended, next: next, abortAt: abortAt)), &actions)
        actions.append(.closeInOrder)
    }

    func abandon(_ authentication: Authentication, _ now: Instant, _ actions: inout [Action]) {
        actions.append(.abandonCredentials(authentication.attempt))
        let time = authentication.startedAt.duration(to: now)
        actions.append(.emit(.authFailed(after: time, .cancelled)))
    }

    func endRenewal(_ renewal: Renewal, _ now: Instant, _ actions: inout [Action]) {
        if case .fetching(let authentication) = renewal { abandon(authentication, now, &actions) }
    }

    /// Begins the next step, because the attempt or connection has ended.
    mutating func proceed(to next: Closing.Next, _ now: Instant, _ actions: inout [Action]) {
        switch next {
        case .rest(let rest):
            enter(.resting(rest), &actions)
            if case .destroyed = rest { setInfo(nil, &actions) }
        case .pause(let resumption): pauseOrResume(resumption, now, &actions)
        case .begin(let occasion): start(occasion, now, &actions)
        case .respond(let ending): respond(to: ending, now, &actions)
        }
    }

    mutating func setInfo(_ options: ConnectOptions?, _ actions: inout [Action]) {
        guard info != options else { return }
        info = options
        actions.append(.setConnectionInfo(options))
    }
}
