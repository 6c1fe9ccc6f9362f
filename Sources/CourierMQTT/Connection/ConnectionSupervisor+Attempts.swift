import CourierCore
import Foundation
import MQTTCodec

/// The steps of an attempt: credentials, address, CONNECT and CONNACK.
extension ConnectionSupervisor {
    // MARK: Beginning an attempt

    /// Begins an urgent attempt: an attempt outside the schedule, for example after a call of `connect()` or the return
    /// of the network. If the last urgent attempt began less than `urgentAttemptSpacing` ago, waits until this time has
    /// passed.
    mutating func startUrgently(_ occasion: Occasion, _ now: Instant, _ actions: inout [Action]) {
        guard appPhase == .foreground else { return pause(occasion, &actions) }
        let planned: Instant? = if case .waiting(let waiting) = phase { waiting.planned } else { nil }
        if network == .unavailable, !occasion.isRequest {
            if planned == nil { wait(until: now, occasion, now, &actions) }
            return
        }
        let due = lastUrgentAt?.advanced(by: configuration.urgentAttemptSpacing) ?? now
        if due > now {
            let due = min(due, planned ?? due)
            return enter(.waiting(Waiting(due: due, planned: due, occasion: occasion, isUrgent: true)), &actions)
        }
        lastUrgentAt = now
        start(occasion, now, &actions)
    }

    /// Plans an attempt for the time `due`, or begins the attempt now if this time has passed. If the failed attempt
    /// had a planned restart before `due`, the new attempt begins at the time of that restart. During the pause,
    /// `connected()` throws `failure`, unless `failure` is `nil`.
    mutating func wait(
        until due: Instant, _ occasion: Occasion, failure: ConnectionFailure? = nil, _ now: Instant,
        _ actions: inout [Action]
    ) {
        guard appPhase == .foreground else { return pause(occasion, &actions) }
        var due = due
        var isUrgent = false
        if case .failure = occasion, let restartAt, max(restartAt, now) < due {
            due = max(restartAt, now)
            isUrgent = true
        }
        let planned = due
        if network == .unavailable { due = max(due, now.advanced(by: configuration.offlineRetryInterval)) }
        guard due > now else {
            if isUrgent { lastUrgentAt = now }
            return start(occasion, now, &actions)
        }
        var waiting = Waiting(due: due, planned: planned, occasion: occasion, isUrgent: isUrgent)
        waiting.failure = failure
        enter(.waiting(waiting), &actions)
        let tenths = (now.duration(to: due) / .milliseconds(100)).rounded(.up)
        let reason = network == .unavailable ? ", or as soon as there is a network" : ""
        actions.append(.log(.info, "the next attempt begins in \(tenths / 10) s\(reason)"))
    }

    /// Begins an attempt with the stored connect options. If there are no stored options, or if they expire soon, the
    /// provider is asked for new options first.
    mutating func start(_ occasion: Occasion, _ now: Instant, _ actions: inout [Action]) {
        guard appPhase == .foreground else { return pause(occasion, &actions) }
        let isAgain =
            switch occasion {
            case .failure, .takeover: true
            case .request, .change: false
            }
        attemptCount += 1
        attemptsInRow += 1
        let attempt = AttemptID(number: attemptCount)
        // The app may have called `connect()` because its user has changed. So never use the old options again, even if
        // the provider fails.
        if occasion.isRequest { grant = nil }
        if let grant, isUsable(grant, now) {
            return begin(grant, attempt, isAgain: isAgain, now, &actions)
        }
        if isAgain { actions.append(.emit(.reconnect)) }
        actions.append(.emit(.authStarted))
        enter(.authenticating(authentication(attempt, now)), &actions)
        actions.append(.fetchCredentials(attempt))
    }

    /// Continues an attempt with its options. If the broker has named another server that needs other credentials, the
    /// provider is asked for these credentials first.
    mutating func begin(
        _ grant: Grant, _ attempt: AttemptID, isAgain: Bool, _ now: Instant, _ actions: inout [Action]
    ) {
        guard let redirect, redirect.asksProvider, redirect.leads(from: endpointOptions(grant.options)),
            redirect.grant.map({ isUsable($0, now) }) != true
        else { return locate(grant, attempt, isAgain: isAgain, now, &actions) }
        if isAgain { actions.append(.emit(.reconnect)) }
        actions.append(.emit(.authStarted))
        var asking = authentication(attempt, now)
        asking.isForRedirect = true
        enter(.authenticating(asking), &actions)
        actions.append(.fetchRedirectCredentials(redirect.target, attempt))
    }

    /// Delays the attempt until the app is in the foreground.
    private mutating func pause(_ occasion: Occasion, _ actions: inout [Action]) {
        enter(.paused(occasion.isRequest ? .always : .forTopics), &actions)
    }

    /// Opens a connection for an attempt. If `isAgain` is true, the event `reconnect` is reported first.
    mutating func open(
        _ grant: Grant, _ attempt: AttemptID, isAgain: Bool, _ now: Instant, _ actions: inout [Action]
    ) {
        if isAgain { actions.append(.emit(.reconnect)) }
        round?.attempted()
        let options = located(grant.options)
        let timeout = configuration.connectTimeout
        liveness = Liveness(configuration.idleActivityTimeout, probeTimeout: configuration.probeTimeout, now: now)
        // If the client id has changed, forget the dropped connections of the old client id.
        if let info, !TopicRules.sameBytes(info.clientId, options.clientId) { drops = DropStreak() }
        setInfo(options, &actions)
        actions.append(.emit(.attempt))
        let giveUpAt = timeout.isEnabled ? now.advanced(by: .bounded(seconds: timeout.timeout)) : nil
        // `located(_:)` changes the options only if the current endpoint sent the redirect. If the options are
        // unchanged, this attempt uses no redirect.
        let detour = options == endpointOptions(grant.options) ? nil : redirect
        let opening = Opening(
            attempt: attempt, options: options, detour: detour, startedAt: now, giveUpAt: giveUpAt,
            warnAt: configuration.slowAttemptTime.map { now.advanced(by: $0) })
        enter(.opening(opening), &actions)
        actions.append(.open(options, attempt))
    }

    // MARK: CONNECT and CONNACK

    mutating func connectSent(_ actions: inout [Action]) {
        guard case .opening(var opening) = phase, !opening.isConnectSent else { return }
        opening.isConnectSent = true
        phase = .opening(opening)
        actions.append(.emit(.connectPacketSent))
    }

    mutating func accepted(
        _ connAck: ConnAck, _ version: ProtocolVersion, _ now: Instant, _ actions: inout [Action]
    ) {
        guard case .opening(let opening) = phase else { return }
        actions.append(.emit(.succeeded(after: opening.startedAt.duration(to: now))))
        if network == .available { report(.available, &actions) }
        round?.accepted(using: &random)
        wasTakenOver = false
        hasConnected = true
        attemptsInRow = 0
        finalFailures = FinalFailures()
        endDetour()
        let connection = Connection(
            options: opening.options, detour: opening.detour, openedAt: opening.startedAt, acceptedAt: now,
            version: version, renewal: renewal(of: opening.detour?.grant ?? grant, now), failback: failback(now))
        enter(.connected(connection), &actions)
        actions.append(.releaseWaiters(nil))
        let session = connAck.isSessionPresent ? "with its session" : "without a session"
        actions.append(.log(.info, "connected to \(opening.options.endpointName), \(session)"))
    }
}
