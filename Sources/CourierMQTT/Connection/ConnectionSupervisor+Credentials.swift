import CourierCore
import Foundation
import MQTTCodec

/// Asks the provider for credentials, renews them before they expire, and drops credentials that the broker refused.
extension ConnectionSupervisor {
    /// True if another attempt may use these stored options. Stored options that expire within the time `margin` are
    /// not used. New options from the provider are used without this check.
    func isUsable(_ grant: Grant, _ now: Instant) -> Bool {
        guard let expiresAt = grant.expiresAt else { return true }
        return now.advanced(by: margin(of: grant, expiresAt)) < expiresAt
    }

    /// The time before the expiry at which the credentials are renewed. The time is
    /// `SupervisorConfiguration/renewalMargin`, but at most half of the credentials' lifetime.
    private func margin(of grant: Grant, _ expiresAt: Instant) -> Duration {
        max(.zero, min(configuration.renewalMargin, grant.receivedAt.duration(to: expiresAt) / 2))
    }

    func renewal(of grant: Grant?, _ now: Instant) -> Renewal {
        // If the credentials had already expired on arrival, a clock is wrong or the provider made a mistake. So plan
        // no renewal.
        guard let grant, let expiresAt = grant.expiresAt, expiresAt > grant.receivedAt else { return .none }
        let due = expiresAt.advanced(by: .zero - margin(of: grant, expiresAt))
        return .due(max(due, now.advanced(by: configuration.minimumRenewalInterval)))
    }

    func authentication(_ attempt: AttemptID, _ now: Instant) -> Authentication {
        Authentication(
            attempt: attempt, startedAt: now,
            giveUpAt: configuration.authenticationTimeout.map { now.advanced(by: $0) },
            warnAt: configuration.slowAttemptTime.map { now.advanced(by: $0) })
    }

    mutating func credentialsArrived(
        _ attempt: AttemptID, _ granted: ConnectGrant, _ date: Date, _ now: Instant, _ actions: inout [Action]
    ) {
        switch phase {
        case .authenticating(let authentication) where authentication.attempt == attempt:
            let accepted = accept(granted, date, authentication, now, &actions)
            guard authentication.isForRedirect else {
                guard redirect?.asksProvider == true else {
                    return locate(accepted, attempt, isAgain: false, now, &actions)
                }
                attemptCount += 1
                return begin(accepted, AttemptID(number: attemptCount), isAgain: false, now, &actions)
            }
            redirect?.grant = accepted
            if let grant { locate(grant, attempt, isAgain: false, now, &actions) }
        case .connected(var connection):
            guard case .fetching(let authentication) = connection.renewal, authentication.attempt == attempt else {
                return
            }
            let accepted = accept(granted, date, authentication, now, &actions)
            connection.renewal = renewal(of: accepted, now)
            if authentication.isForRedirect {
                connection.detour?.grant = accepted
                if redirect?.target == connection.detour?.target { redirect?.grant = accepted }
            }
            phase = .connected(connection)
            guard let grant else { return }
            let home = endpointOptions(grant.options)
            var options = connection.detour?.applied(to: home) ?? home
            // Leave the alternative endpoints out of the comparison below, because they do not affect this connection.
            options.alternatives = connection.options.alternatives
            guard options != connection.options else { return }
            if connection.version >= .v5, let renewed = options.renewedAuthentication(from: connection.options) {
                connection.options = options
                phase = .connected(connection)
                return actions.append(.reauthenticate(renewed))
            }
            actions.append(
                .log(.info, "the auth provider returned other options; the client connects again with these options"))
            leave(for: .begin(.change), now, &actions)
        // The provider's response is too late, or the attempt has already received options.
        case .authenticating, .resting, .paused, .waiting, .locating, .opening, .closing: break
        }
    }

    private mutating func accept(
        _ granted: ConnectGrant, _ date: Date, _ authentication: Authentication, _ now: Instant,
        _ actions: inout [Action]
    ) -> Grant {
        authSchedule.reset()
        let remaining = granted.expiresAt.map { Duration.bounded(seconds: $0.timeIntervalSince(date)) }
        let accepted = Grant(
            options: granted.options, receivedAt: now, expiresAt: remaining.map { now.advanced(by: $0) })
        if !authentication.isForRedirect {
            useEndpoints(of: accepted.options, &actions)
            grant = accepted
        }
        actions.append(.emit(.authSucceeded(after: authentication.startedAt.duration(to: now))))
        if network == .available { report(.available, &actions) }
        return accepted
    }

    mutating func credentialsFailed(
        _ attempt: AttemptID, _ failure: CredentialFailure, _ now: Instant, _ actions: inout [Action]
    ) {
        switch phase {
        case .authenticating(let authentication) where authentication.attempt == attempt:
            report(failure, authentication, now, &actions)
            if authentication.isForRedirect { redirect = nil }
            let pause = nextAuthPause(after: failure)
            wait(until: now.advanced(by: pause), .failure, now, &actions)
        case .connected(var connection):
            guard case .fetching(let authentication) = connection.renewal, authentication.attempt == attempt else {
                return
            }
            report(failure, authentication, now, &actions)
            let pause = nextAuthPause(after: failure)
            connection.renewal = .due(now.advanced(by: pause))
            phase = .connected(connection)
        case .authenticating, .resting, .paused, .waiting, .locating, .opening, .closing: break
        }
    }

    private mutating func report(
        _ failure: CredentialFailure, _ authentication: Authentication, _ now: Instant, _ actions: inout [Action]
    ) {
        let time = authentication.startedAt.duration(to: now)
        actions.append(.emit(.authFailed(after: time, .error(failure.error))))
        if failure.isOfNetwork { report(.unavailable, &actions) }
        actions.append(.log(.warning, failure.error.message))
    }

    /// Handles the timeout of a request to the provider. Responds in the same way as to a failure of the provider.
    mutating func authenticationTimedOut(
        _ authentication: Authentication, _ now: Instant, _ actions: inout [Action]
    ) {
        actions.append(.abandonCredentials(authentication.attempt))
        let timeout = authentication.startedAt.duration(to: authentication.giveUpAt ?? now)
        credentialsFailed(authentication.attempt, .timedOut(after: timeout), now, &actions)
    }

    /// Asks the provider for new credentials, because the credentials of the connection expire soon.
    mutating func renewalDue(_ connection: Connection, _ now: Instant, _ actions: inout [Action]) {
        attemptCount += 1
        var authentication = authentication(AttemptID(number: attemptCount), now)
        var connection = connection
        let redirect = connection.detour.flatMap { $0.asksProvider ? $0.target : nil }
        authentication.isForRedirect = redirect != nil
        connection.renewal = .fetching(authentication)
        phase = .connected(connection)
        actions.append(.emit(.authStarted))
        actions.append(
            redirect.map { .fetchRedirectCredentials($0, authentication.attempt) }
                ?? .fetchCredentials(authentication.attempt))
    }

    mutating func renewCredentials(
        after ending: ConnectionEnding, _ now: Instant, _ actions: inout [Action]
    ) {
        grant = nil
        actions.append(.clearCredentials)
        streak.refusals += 1
        // Pause before the next attempt if the options are fixed, because the broker would refuse them again.
        retryAtOnce(streak.refusals == 1 && !configuration.areOptionsFixed, after: ending, now, &actions)
    }
}
