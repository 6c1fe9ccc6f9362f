import MQTTCodec

extension BrokerMachine {
    /// Sends a message on to all sessions with a matching subscription: one copy to each, and one to a member of each
    /// shared subscription.
    ///
    /// - Returns: How many copies there are.
    @discardableResult
    mutating func route(
        _ message: BrokerMessage, _ levels: [ExactText], now: Instant, _ actions: inout [Action]
    ) -> Int {
        let matches = subscriptions.matches(levels)
        var deliveries: [SessionID: BrokerDelivery] = [:]
        for (session, options) in matches.direct {
            if options.isNoLocal, sessions[session]?.clientID == message.publisher { continue }  // [MQTT-3.8.3-3]
            if deliveries[session] == nil { deliveries[session] = BrokerDelivery(message, by: options) }
            deliveries[session]?.merge(options)
        }
        for (session, delivery) in deliveries.sorted(by: { $0.key < $1.key }) {
            deliver(delivery, to: session, now: now, &actions)
        }
        let shares = matches.shared.count > 1 ? matches.shared.sorted { $0.text.utf8 < $1.text.utf8 } : matches.shared
        for share in shares { deliver(message, to: share, now: now, &actions) }
        return deliveries.count + shares.count
    }

    /// Sends what a new subscription asks for of the retained messages; those beyond the allowance are dropped.
    mutating func deliverRetained(
        _ filter: BrokerFilter, _ options: SubscriptionTree.Options, to session: SessionID, now: Instant,
        _ allowance: inout RetainedAllowance, _ actions: inout [Action]
    ) {
        for message in retained.matches(filter, now: now) {
            if options.isNoLocal, sessions[session]?.clientID == message.publisher { continue }
            if allowance.take(message) {
                deliver(BrokerDelivery(retained: message, by: options), to: session, now: now, &actions)
            } else {
                dropped += 1
            }
        }
    }

    /// Gives the messages of shared subscriptions that `session` leaves behind to other members: those that were not sent,
    /// and those of QoS 1 that were not acknowledged, but none of QoS 2 that was sent ([MQTT-4.8.2-5]).
    mutating func redistribute(from session: BrokerSession, now: Instant, _ actions: inout [Action]) {
        let sent = session.outgoing.published.filter { $0.qos == .atLeastOnce }
        for delivery in sent + session.queue.all {
            guard let share = delivery.share, !delivery.message.isExpired(at: now) else { continue }
            deliver(delivery.message, to: share, now: now, &actions)
        }
    }

    /// A client has a session again: sends what was not acknowledged ([MQTT-4.4.0-1]), in the order in which it was sent
    /// first ([MQTT-4.6.0-1], [MQTT-4.6.0-4]), and then what waited.
    mutating func resume(_ session: SessionID, over id: ConnectionID, now: Instant, _ actions: inout [Action]) {
        for packetID in sessions[session]?.outgoing.connectionResumed() ?? [] {
            send(.pubRel(Acknowledgement(packetID: packetID)), to: id, now: now, &actions)
        }
        pump(session, now: now, &actions)
    }

    /// Sends as much of what waits as the client takes at a time ([MQTT-3.3.4-9]).
    mutating func pump(_ session: SessionID, now: Instant, _ actions: inout [Action]) {
        guard let id = sessions[session]?.connection else { return }
        while hasRoomOnWire(session) {
            if let (packetID, delivery) = sessions[session]?.outgoing.nextUnsent() {
                // A message that was sent once does not expire any more ([MQTT-4.3.3-7]).
                if !transmit(delivery, packetID, isDuplicate: true, to: id, now: now, &actions) {
                    sessions[session]?.outgoing.end(packetID)
                }
            } else if let delivery = sessions[session]?.queue.popFirst() {
                if delivery.message.isExpired(at: now) { continue }
                guard let packetID = sessions[session]?.outgoing.begin(delivery) else { return }
                if !transmit(delivery, packetID, isDuplicate: false, to: id, now: now, &actions) {
                    sessions[session]?.outgoing.end(packetID)
                }
            } else {
                return
            }
        }
    }
}

extension BrokerMachine {
    /// Whether the client takes one more QoS 1 or 2 message now.
    private func hasRoomOnWire(_ session: SessionID) -> Bool {
        guard let id = sessions[session]?.connection, let onWire = sessions[session]?.outgoing.onWireCount,
            let link = links[id], !link.isCongested
        else { return false }
        return onWire < min(link.receiveMaximum, max(Int(configuration.maximumInFlight), 1))
    }

    private mutating func deliver(
        _ message: BrokerMessage, to share: BrokerFilter, now: Instant, _ actions: inout [Action]
    ) {
        let sessions = sessions
        let next = subscriptions.nextMember(of: share) { sessions[$0]?.connection != nil }
        guard let next else { return }
        deliver(BrokerDelivery(message, by: next.options, share: share), to: next.session, now: now, &actions)
    }

    private mutating func deliver(
        _ delivery: BrokerDelivery, to session: SessionID, now: Instant, _ actions: inout [Action]
    ) {
        guard delivery.qos == .atMostOnce else {
            enqueue(delivery, for: session, now: now)
            return pump(session, now: now, &actions)
        }
        // QoS 0 waits for nobody: neither for a client that is away, nor behind messages of other QoS.
        guard let id = sessions[session]?.connection, links[id]?.isCongested == false else {
            dropped += 1
            return
        }
        _ = transmit(delivery, nil, isDuplicate: false, to: id, now: now, &actions)
    }

    /// Queues a delivery, and drops as many as the limits and the overflow policy demand; one that need not wait is
    /// never dropped.
    private mutating func enqueue(_ delivery: BrokerDelivery, for session: SessionID, now: Instant) {
        func isFull() -> Bool {
            guard let queue = sessions[session]?.queue else { return true }
            if queue.isEmpty, hasRoomOnWire(session) { return false }
            return queue.count >= configuration.maximumQueuedMessages
                || queue.byteCount + delivery.message.byteCount > configuration.maximumQueuedBytes
        }
        if isFull() { sessions[session]?.queue.removeAll { $0.message.isExpired(at: now) } }
        // One that not even an empty queue takes makes no room for itself.
        let isTooLarge = delivery.message.byteCount > configuration.maximumQueuedBytes
        if isFull(), !isTooLarge, configuration.queueOverflow == .dropOldest {
            while isFull(), sessions[session]?.queue.popFirst() != nil { dropped += 1 }
        }
        if isFull() {
            dropped += 1
        } else {
            sessions[session]?.queue.append(delivery)
        }
    }

    /// Sends a message, unless it is larger than the client takes: then it counts as sent ([MQTT-3.1.2-25]).
    private mutating func transmit(
        _ delivery: BrokerDelivery, _ packetID: PacketID?, isDuplicate: Bool, to id: ConnectionID, now: Instant,
        _ actions: inout [Action]
    ) -> Bool {
        guard let link = links[id],
            let plain = delivery.packet(packetID, isDuplicate: isDuplicate, version: link.version, at: now)
        else { return false }
        var publish = plain
        link.outgoingAliases.apply(to: &publish)
        if let limit = link.maximumPacketSize {
            func fits(_ publish: Publish) -> Bool {
                Packet.publish(publish).isEncodable(in: link.version, maximumSize: limit)
            }
            if !fits(publish) { publish = plain }  // A new alias makes a packet longer.
            guard fits(publish) else {
                dropped += 1
                return false
            }
        }
        links[id]?.outgoingAliases.commit(publish)
        actions.append(.send(.publish(publish), to: id))
        return true
    }
}

extension String.UTF8View {
    fileprivate static func < (left: Self, right: Self) -> Bool { left.lexicographicallyPrecedes(right) }
}
