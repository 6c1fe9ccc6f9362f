import CourierCore

/// Chooses the endpoint for each attempt, and returns to a preferred endpoint later.
extension ConnectionSupervisor {
    // MARK: Finding endpoints

    /// Continues an attempt that has its connect options. Looks up the DNS service records if they are used and a
    /// look-up is due. Otherwise opens the connection.
    mutating func locate(
        _ grant: Grant, _ attempt: AttemptID, isAgain: Bool, _ now: Instant, _ actions: inout [Action]
    ) {
        useEndpoints(of: grant.options, &actions)
        guard configuration.usesServiceRecords, isSearchDue else {
            return open(grant, attempt, isAgain: isAgain, now, &actions)
        }
        let giveUpAt = now.advanced(by: configuration.serviceRecordTimeout)
        enter(.locating(Locating(attempt: attempt, isAgain: isAgain, giveUpAt: giveUpAt)), &actions)
        actions.append(.findEndpoints(grant.options, attempt))
    }

    mutating func endpointsFound(
        _ attempt: AttemptID, _ found: EndpointSearch, _ now: Instant, _ actions: inout [Action]
    ) {
        guard case .locating(let locating) = phase, locating.attempt == attempt, let grant else { return }
        areRecordsUnknown = false
        switch found {
        case .found(let endpoints):
            isSearchDue = false
            let list =
                EndpointList(endpoints, limit: configuration.maximumEndpoints)
                ?? EndpointList(grant.options, limit: configuration.maximumEndpoints)
            use(list, &actions)
        case .failed(let reason):
            isSearchDue = false  // The next look-up starts when all known endpoints have failed.
            areRecordsUnknown = true
            // After a failed look-up, the attempt continues with the endpoints of an earlier look-up. If there was no
            // earlier look-up, the attempt connects to the host of the options, because this host may be a broker.
            let host = grant.options.host.shownHost.quoted()
            actions.append(.log(.warning, "the service records of \(host) could not be looked up: \(reason)"))
        case .unavailable:
            use(EndpointList(grant.options, limit: configuration.maximumEndpoints), &actions)
            guard grant.options.alternatives.isEmpty else {
                isSearchDue = false
                break
            }
            return serviceUnavailable(grant, locating, now, &actions)
        }
        open(grant, attempt, isAgain: locating.isAgain, now, &actions)
    }

    /// Fails the attempt, because the service records say that the domain has no broker (the target is "."; RFC 2782).
    private mutating func serviceUnavailable(
        _ grant: Grant, _ locating: Locating, _ now: Instant, _ actions: inout [Action]
    ) {
        let error = CourierError(
            .connectionFailed,
            "The service records of \(grant.options.host.shownHost.quoted()) say that the domain has no broker for this kind of connection. "
                + "Ask the domain's administrator, or connect without service records.")
        let opening = Opening(
            attempt: locating.attempt, options: grant.options, detour: nil, startedAt: now, giveUpAt: nil)
        if locating.isAgain { actions.append(.emit(.reconnect)) }
        setInfo(grant.options, &actions)
        actions.append(.emit(.attempt))
        attemptFailed(opening, ConnectionEnding(.transport(.unreachable), error), now, &actions)
    }

    /// Uses the endpoints of these options if they differ from the endpoints of the previous options.
    mutating func useEndpoints(of options: ConnectOptions, _ actions: inout [Action]) {
        let given = EndpointList(options, limit: configuration.maximumEndpoints)
        guard given != givenList else { return }
        givenList = given
        isSearchDue = true
        use(given, &actions)
    }

    private mutating func use(_ list: EndpointList, _ actions: inout [Action]) {
        guard round?.list != list else { return }
        let present = round?.current
        round = EndpointRound(list, using: &random)
        if case .connected = phase, let present { round?.resume(at: present, using: &random) }
        guard list.leftOutCount > 0 else { return }
        let limit = "the limit of \(list.endpoints.count)"
        actions.append(.log(.warning, "\(list.leftOutCount) endpoints are not used, because they exceed \(limit)"))
    }

    mutating func forgetEndpoints() {
        round = nil
        givenList = nil
        isSearchDue = true
        areRecordsUnknown = false
        returnSchedule.reset()
    }

    // MARK: The current endpoint

    /// Returns these options with the host, port and scheme of the current endpoint. If the endpoint has no scheme, the
    /// scheme of the options remains.
    func endpointOptions(_ options: ConnectOptions) -> ConnectOptions {
        round.map { options.at($0.current) } ?? options
    }

    /// Returns these options with the current endpoint, or with the server that this endpoint has redirected the client
    /// to.
    func located(_ options: ConnectOptions) -> ConnectOptions {
        let options = endpointOptions(options)
        return redirect?.applied(to: options) ?? options
    }

    /// Returns the name of the cluster that the server of these options belongs to. The endpoints of one list count as
    /// a cluster: they share sessions and the MQTT version. Returns `nil` for a server outside the list, or if the list
    /// has one endpoint.
    func clusterName(of options: ConnectOptions) -> String? {
        guard let round, round.list.endpoints.count > 1, let grant,
            round.list.index(host: options.host, port: options.port) != nil
        else { return nil }
        return grant.options.authority
    }

    /// Returns the name that the certificate of an endpoint from DNS service records must have; `nil` for other
    /// endpoints. The name is the domain that was looked up, because an attacker could forge a name in a DNS response.
    func certifiedName(for options: ConnectOptions) -> String? {
        guard let round, !round.list.hasLeader, round.list.index(host: options.host, port: options.port) != nil
        else { return nil }
        return grant?.options.host
    }

    mutating func endpointFailed(_ row: LossPolicy.Row) -> EndpointRound.Turn {
        let turn = round?.failed(mayRecover: row.response != .stop, using: &random) ?? .over
        if turn == .over { isSearchDue = true }
        return turn
    }

    /// True if the client stops after a failure with this row of `LossPolicy`, until the app calls `connect()`. False
    /// while another endpoint may still work.
    func stops(_ row: LossPolicy.Row) -> Bool {
        row.response == .stop && !(row.subject == .endpoint && round?.goesOn == true)
    }

    // MARK: Returning to a preferred endpoint

    /// Plans the return to a preferred endpoint for a new connection. Returns `nil` if the connection uses a preferred
    /// endpoint, or if the configuration has no `returnInterval`.
    mutating func failback(_ now: Instant) -> EndpointFailback? {
        guard configuration.returnInterval != nil, let round else { return nil }
        guard !round.isAtPreferred else {
            returnSchedule.reset()
            return nil
        }
        let due = now.advanced(by: nextPause(of: \.returnSchedule))
        return EndpointFailback(due: due, latest: due.advanced(by: configuration.returnPatience))
    }

    /// Closes a connection to a less preferred endpoint with DISCONNECT, if the return is due and the connection has no
    /// traffic.
    mutating func comeHomeIfDue(_ connection: Connection, _ now: Instant, _ actions: inout [Action]) {
        guard let failback = connection.failback, now >= failback.due else { return }
        guard round?.isAtPreferred == false else {
            // The current endpoint is a preferred endpoint in a newer list. So cancel the planned return.
            var connection = connection
            connection.failback = nil
            phase = .connected(connection)
            return returnSchedule.reset()
        }
        let lastActive = [connection.acceptedAt, liveness.lastInbound, liveness.lastOutbound].compactMap(\.self).max()
        let quietAt = (lastActive ?? now).advanced(by: configuration.returnQuietTime)
        guard now >= min(quietAt, failback.latest) else {
            var connection = connection
            connection.failback?.due = min(quietAt, failback.latest)
            phase = .connected(connection)
            return
        }
        round?.returnToPreferred(using: &random)
        actions.append(.log(.info, "the client leaves \(connection.options.endpointName) for a preferred endpoint"))
        leave(for: .begin(.change), now, &actions)
    }
}
