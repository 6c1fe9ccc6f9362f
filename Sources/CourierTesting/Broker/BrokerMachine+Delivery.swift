import MQTTCodec

extension BrokerMachine {
    /// Forwards a message to all sessions with a matching subscription. Each session gets one copy. For each shared
    /// subscription, one member gets a copy.
    ///
    /// - Returns: The number of copies, including copies that are dropped.
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

    /// Sends the retained messages that match a new subscription. Messages that exceed the ``RetainedAllowance`` are
    /// dropped.
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

    /// Sends the shared-subscription messages of the ended `session` to other members: the unsent messages and the
    /// unacknowledged QoS 1 messages. A QoS 2 message that was sent is not sent to another client ([MQTT-4.8.2-5]).
    mutating func redistribute(from session: BrokerSession, now: Instant, _ actions: inout [Action]) {
        let sent = session.outgoing.published.filter { $0.qos == .atLeastOnce }
        for delivery in sent + session.queue.all {
            guard let share = delivery.share, !delivery.message.isExpired(at: now) else { continue }
            deliver(delivery.message, to: share, now: now, &actions)
        }
    }

    /// Resumes a session on a new connection. Unacknowledged packets are sent again ([MQTT-4.4.0-1]) in their original
    /// order ([MQTT-4.6.0-1], [MQTT-4.6.0-4]). Queued messages follow.
    mutating func resume(_ session: SessionID, over id: ConnectionID, now: Instant, _ actions: inout [Action]) {
        for packetID in sessions[session]?.outgoing.connectionResumed() ?? [] {
            send(.pubRel(Acknowledgement(packetID: packetID)), to: id, now: now, &actions)
        }
        pump(session, now: now, &actions)
    }

    /// Sends unacknowledged messages again, then queued messages, until the client's receive maximum is reached
    /// ([MQTT-3.3.4-9]).
    mutating func pump(_ session: SessionID, now: Instant, _ actions: inout [Action]) {
        guard let id = sessions[session]?.connection else { return }
        while hasRoomOnWire(session) {
            if let (packetID, delivery) = sessions[session]?.outgoing.nextUnsent() {
                // A message that was already sent no longer expires ([MQTT-4.3.3-7]), so the expiry is not checked
                // here.
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
    /// Whether one more QoS 1 or 2 message can be sent to the client now.
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
        // A QoS 0 message is never queued, so it is dropped if the client is not connected or its send buffer is full.
        guard let id = sessions[session]?.connection, links[id]?.isCongested == false else {
            dropped += 1
            return
        }
        _ = transmit(delivery, nil, isDuplicate: false, to: id, now: now, &actions)
    }

    /// Queues a delivery. If the queue is full, the overflow policy decides which deliveries are dropped. A delivery
    /// that can be sent at once is never dropped.
    private mutating func enqueue(_ delivery: BrokerDelivery, for session: SessionID, now: Instant) {
        func isFull() -> Bool {
            guard let queue = sessions[session]?.queue else { return true }
            if queue.isEmpty, hasRoomOnWire(session) { return false }
            return queue.count >= configuration.maximumQueuedMessages
                || queue.byteCount + delivery.message.byteCount > configuration.maximumQueuedBytes
        }
        if isFull() { sessions[session]?.queue.removeAll { $0.message.isExpired(at: now) } }
        // If the new message is larger than the limit of the whole queue, only this message is dropped. The queued
        // messages remain.
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

    /// Sends a message; returns `false` if it was not sent. A message that is too large for the client is dropped, and
    /// the caller ends its exchange ([MQTT-3.1.2-25]).
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
