import CourierCore

/// Sends the difference between the wanted and the confirmed subscriptions.
extension SubscriptionSet {
    /// Handles a possible change of the entry at `place`: resumes the callers whose result is now known, updates the
    /// store, and queues the next request.
    mutating func changed(_ place: Int, _ actions: inout [Action]) {
        compare(place)
        guard var entry = entries[place] else { return }
        answer(entry.settled(), &actions)
        // If no owner wants the filter any more, forget the failure of its last request. So a new request is sent when
        // an owner wants the filter again.
        if entry.wanted == nil, entry.confirmed == .absent { entry.failed = nil }
        if let change = entry.changeToStore() { actions.append(.store(change)) }
        entries[place] = entry
        enqueue(place)
        removeIfSpent(place)
    }

    /// Queues the entry if a request must be sent. A renewal, which is a SUBSCRIBE for an existing subscription, is
    /// urgent, because it may carry a new identifier. The broker must have this identifier before messages for a new
    /// filter arrive.
    private mutating func enqueue(_ place: Int) {
        guard support != nil, let entry = entries[place], entry.due != nil, !entry.isQueued else { return }
        entries[place]?.isQueued = true
        queue.append(place, isUrgent: entry.isRenewal)
    }

    /// Compares the filter of a new entry with the filters of all other entries. If a topic can match two filters,
    /// assigns identifiers to both.
    private mutating func compare(_ place: Int) {
        guard identifiers != nil, let entry = entries[place], entry.wanted != nil, !entry.isCompared else { return }
        entries[place]?.isCompared = true
        var identified = entry.properties.identifier.flatMap { identifiers?.choose($0, for: entry.filter) } ?? []
        let known = entries.lazy.compactMap { $0?.filter }
        identified += identifiers?.add(entry.filter, beside: known) ?? []
        for filter in identified {
            guard let other = places[filter] else { continue }
            entries[other]?.identifier = identifiers?[filter]
            if other != place { enqueue(other) }
        }
    }

    /// True while a SUBSCRIBE with an outdated identifier is unanswered: the filter got another identifier after the
    /// packet was sent. During this time, the client requests no new filter that has an identifier.
    private var isIdentifying: Bool {
        identifiers != nil
            && pending.values.contains { packet in
                packet.entries.contains { place in
                    guard let entry = entries[place], case .subscribe? = entry.inFlight else { return false }
                    return entry.identifierInFlight != entry.identifier
                }
            }
    }

    mutating func useIdentifiers(_ areUsed: Bool) {
        identifiers = areUsed ? SubscriptionIdentifiers() : nil
        for place in entries.indices where entries[place] != nil {
            entries[place]?.identifier = nil
            entries[place]?.isCompared = false
        }
    }

    mutating func answer(_ answers: [SubscriptionEntry.Answer], _ actions: inout [Action]) {
        for answer in answers { actions.append(.waiter(answer.waiter, answer.outcome)) }
        waiterCount -= answers.count
    }

    /// Sends the requests that are due, within the limits.
    mutating func send(_ now: Instant, _ actions: inout [Action]) {
        guard let support else { return }
        let size = min(limits.bytesPerPacket, support.maximumPacketSize)
        var subscribe = SubscriptionBatch(maximumCount: limits.filtersPerPacket, maximumSize: size)
        var unsubscribe = subscribe
        var ruledOut = SubscriptionReport(timeTaken: .zero)
        let isIdentifying = isIdentifying
        while let place = queue.first {
            guard let entry = entries[place], let request = entry.due else {
                takeFirstQueued(place)
                removeIfSpent(place)
                continue
            }
            if isIdentifying, entry.identifier != nil, !entry.isRenewal, request != .unsubscribe { break }
            if let failure = support.failure(of: request, for: entry) {
                takeFirstQueued(place)
                entries[place]?.failed = (request, failure)
                ruledOut.failed(entry, request, failure)
                endReaders(of: entry, request, failure, &actions)
                changed(place, &actions)
                continue
            }
            let hasTaken =
                request == .unsubscribe
                ? append(place, entry, request, to: &unsubscribe, beside: subscribe, now, &actions)
                : append(place, entry, request, to: &subscribe, beside: unsubscribe, now, &actions)
            if !hasTaken { break }
        }
        ruledOut.append(to: &actions)
        emit(&subscribe, now, &actions)
        emit(&unsubscribe, now, &actions)
    }

    /// Moves the first entry of the queue to `batch`. Returns false, and leaves the entry in the queue, if the maximum
    /// number of packets already waits for answers.
    private mutating func append(
        _ place: Int, _ entry: SubscriptionEntry, _ request: SubscriptionEntry.Request,
        to batch: inout SubscriptionBatch, beside other: SubscriptionBatch, _ now: Instant,
        _ actions: inout [Action]
    ) -> Bool {
        if !batch.isEmpty, !batch.hasRoom(for: entry, request) { emit(&batch, now, &actions) }
        if batch.isEmpty, pending.count + (other.isEmpty ? 0 : 1) >= max(limits.packetsInFlight, 1) { return false }
        takeFirstQueued(place)
        batch.append(place, entry, request)
        return true
    }

    private mutating func takeFirstQueued(_ place: Int) {
        queue.removeFirst()
        entries[place]?.isQueued = false
    }

    private mutating func emit(_ batch: inout SubscriptionBatch, _ now: Instant, _ actions: inout [Action]) {
        guard !batch.isEmpty else { return }
        lastRequest += 1
        let id = RequestID(rawValue: lastRequest)
        pending[id] = Pending(
            entries: batch.places, requests: batch.requests, userProperties: batch.userProperties, sentAt: now)
        for (place, request) in zip(batch.places, batch.requests) {
            entries[place]?.begin(request)
            if let change = entries[place]?.changeToStore() { actions.append(.store(change)) }
        }
        actions.append(batch.action(id))
        batch.removeAll()
    }
}
