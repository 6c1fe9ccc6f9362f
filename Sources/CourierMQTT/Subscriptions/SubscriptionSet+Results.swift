import CourierCore

/// Handles the start and the end of connections, and the broker's answers.
extension SubscriptionSet {
    /// Handles a connection that the broker has accepted, and sends the requests that are due.
    ///
    /// - Parameters:
    ///   - sessionPresent: Whether the broker already has a session of the client.
    ///   - isOtherSession: Whether the session may be another one than before, or another client may have changed
    ///     the session; `false` by default.
    ///   - support: The broker's support for subscriptions; everything except identifiers by default.
    ///   - now: The current time.
    /// - Returns: The actions to perform.
    mutating func connected(
        sessionPresent: Bool, isOtherSession: Bool = false, support: SubscriptionSupport = SubscriptionSupport(),
        now: Instant
    ) -> [Action] {
        var actions = disconnected(now: now)
        self.support = support
        if support.hasIdentifiers != (identifiers != nil) { useIdentifiers(support.hasIdentifiers) }
        if !sessionPresent { identifiers?.forgetGone() }
        if !sessionPresent || isOtherSession { knowsSession = !sessionPresent }
        for place in entries.indices {
            guard place < entries.count, entries[place] != nil else { continue }
            if !sessionPresent {
                entries[place]?.confirmed = .absent
            } else if isOtherSession, entries[place]?.confirmed != .absent {
                entries[place]?.confirmed = .unknown
            }
            changed(place, &actions)
        }
        send(now, &actions)
        return actions
    }

    /// Handles a connection that has ended, or is about to end. Marks the state of filters with a request under way as
    /// unknown. Refused filters are requested again on the next connection.
    mutating func disconnected(now: Instant) -> [Action] {
        var actions: [Action] = []
        support = nil
        for place in queue.removeAll() {
            entries[place]?.isQueued = false
            removeIfSpent(place)
        }
        for id in pending.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            give(up: id, .connectionLost, now: now, &actions)
        }
        for place in entries.indices { entries[place]?.failed = nil }
        return actions
    }

    /// Handles SUBACK, which has a code for each filter.
    mutating func subAck(_ id: RequestID, _ codes: [ReasonCode], now: Instant) -> [Action] {
        answered(id, now: now) { index, request, entry in
            let code = index < codes.count ? codes[index] : .unspecifiedError
            guard case .subscribe(let asked) = request, let granted = QoS(granted: code) else {
                return .refused(code.isError ? code : .protocolError)
            }
            entry.confirmed = .subscribed(asked: asked, granted: granted)
            entry.confirmedIdentifier = entry.identifierInFlight
            entry.confirmedUserProperties = entry.userPropertiesInFlight
            return nil
        }
    }

    /// Handles UNSUBACK. In MQTT 5, UNSUBACK has a code for each filter. Before MQTT 5, UNSUBACK has no codes, and
    /// means success.
    mutating func unsubAck(_ id: RequestID, _ codes: [ReasonCode], now: Instant) -> [Action] {
        answered(id, now: now) { index, _, entry in
            let code = index < codes.count ? codes[index] : .success
            if code.isError { return .refused(code) }
            entry.confirmed = .absent
            return nil
        }
    }

    /// Handles the failure of a packet: the connection was lost before the answer, or the packet could not be sent.
    ///
    /// If a packet could not be sent, it is not repeated on this connection, and the waiting callers receive the
    /// failure.
    mutating func failed(_ id: RequestID, _ failure: Action.Failure, now: Instant) -> [Action] {
        var actions: [Action] = []
        give(up: id, failure, now: now, &actions)
        send(now, &actions)
        return actions
    }

    /// Handles SUBACK or UNSUBACK. `judge` updates the entry of each filter. `judge` returns `nil` for success,
    /// or the reason why the request for the filter failed. Answers to requests of an earlier connection are ignored.
    private mutating func answered(
        _ id: RequestID, now: Instant,
        _ judge: (Int, SubscriptionEntry.Request, inout SubscriptionEntry) -> Action.Failure?
    ) -> [Action] {
        guard let packet = pending.removeValue(forKey: id) else { return [] }
        var report = SubscriptionReport(timeTaken: now - packet.sentAt)
        var actions: [Action] = []
        for (index, place) in packet.entries.enumerated() {
            guard var entry = entries[place] else { continue }
            let request = packet.requests[index]
            entry.inFlight = nil
            if let failure = judge(index, request, &entry) {
                entry.note(failure, of: request)
                entry.lastRetained = 0
                report.failed(entry, request, failure)
                endReaders(of: entry, request, failure, &actions)
            } else {
                entry.failed = nil
                report.succeeded(entry)
                answer(entry.reached(), &actions)
            }
            entries[place] = entry
            changed(place, &actions)
        }
        report.append(to: &actions)
        send(now, &actions)
        return actions
    }

    private mutating func give(
        up id: RequestID, _ failure: Action.Failure, now: Instant, _ actions: inout [Action]
    ) {
        guard let packet = pending.removeValue(forKey: id) else { return }
        var report = SubscriptionReport(timeTaken: now - packet.sentAt)
        for (place, request) in zip(packet.entries, packet.requests) {
            guard var entry = entries[place] else { continue }
            entry.inFlight = nil
            if failure == .connectionLost { entry.confirmed = .unknown }
            entry.note(failure, of: request)
            entry.lastRetained = 0
            report.failed(entry, request, failure)
            endReaders(of: entry, request, failure, &actions)
            entries[place] = entry
            changed(place, &actions)
        }
        report.append(to: &actions)
    }

    /// Ends the loops of readers whose filter was refused, because these loops would wait forever. If the broker still
    /// has an earlier subscription for the filter, the loops continue.
    func endReaders(
        of entry: SubscriptionEntry, _ request: SubscriptionEntry.Request, _ failure: Action.Failure,
        _ actions: inout [Action]
    ) {
        guard case .subscribe = request, entry.missing == request, failure != .connectionLost,
            !entry.readerIntents.isEmpty
        else { return }
        if case .subscribed = entry.confirmed { return }
        actions.append(.endReaders(entry.readerIntents.keys.sorted(), entry.filter, failure))
    }
}

extension QoS {
    /// The granted quality of service of a SUBACK code; `nil` for a refusal.
    fileprivate init?(granted code: ReasonCode) {
        switch code {
        case .grantedQoS0: self = .zero
        case .grantedQoS1: self = .one
        case .grantedQoS2: self = .two
        default: return nil
        }
    }
}
