import MQTTCodec

extension BrokerMachine {
    /// Handles each filter as if it had its own SUBSCRIBE, and sends one SUBACK for all filters ([MQTT-3.8.4-5],
    /// [MQTT-3.8.4-6]). Retained messages follow the SUBACK, up to the limits of ``RetainedAllowance``.
    mutating func receivedSubscribe(
        _ subscribe: Subscribe, from id: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        guard let link = links[id] else { return }
        let identifier = subscribe.properties.subscriptionIdentifiers.first
        let results = subscribe.subscriptions.map { add($0, identifier, link) }
        let codes = results.map { $0.code(in: link.version) }
        send(.subAck(SubAck(packetID: subscribe.packetID, reasonCodes: codes)), to: id, now: now, &actions)
        var allowance = RetainedAllowance(configuration)
        for case .granted(let filter, let options, let wantsRetained) in results where wantsRetained {
            deliverRetained(filter, options, to: link.session, now: now, &allowance, &actions)
            if allowance.isSpent { return }
        }
    }

    /// Removes subscriptions ([MQTT-3.10.4-1]). Messages that are already queued are still delivered.
    mutating func receivedUnsubscribe(
        _ unsubscribe: Unsubscribe, from id: ConnectionID, now: Instant, _ actions: inout [Action]
    ) {
        guard let version = links[id]?.version, let session = links[id]?.session else { return }
        var codes: [PacketReasonCode] = []
        for text in unsubscribe.filters {
            let filter = BrokerFilter(text, knowsSharing: version >= .v5)
            sessions[session]?.subscriptions.remove(filter)
            codes.append(subscriptions.remove(filter, of: session) ? .success : .noSubscriptionExisted)
        }
        let answer = UnsubAck(packetID: unsubscribe.packetID, reasonCodes: version >= .v5 ? codes : [])
        send(.unsubAck(answer), to: id, now: now, &actions)
    }
}

/// The outcome of one filter of a SUBSCRIBE.
private enum SubscribeResult {
    case granted(BrokerFilter, SubscriptionTree.Options, wantsRetained: Bool)
    case refused(PacketReasonCode)

    /// The code for SUBACK. Versions before MQTT 5 have the same code for all refusals.
    func code(in version: ProtocolVersion) -> PacketReasonCode {
        switch self {
        case .granted(_, let options, _):
            switch options.qos {
            case .atMostOnce: .success
            case .atLeastOnce: .grantedQoS1
            case .exactlyOnce: .grantedQoS2
            }
        case .refused(let code): version >= .v5 ? code : .unspecifiedError
        }
    }
}

extension BrokerMachine {
    private mutating func add(
        _ subscription: Subscription, _ identifier: UInt32?, _ link: BrokerLink
    ) -> SubscribeResult {
        let filter = BrokerFilter(subscription.filter, knowsSharing: link.version >= .v5)
        if let code = refusal(of: filter, identifier, link) { return .refused(code) }
        let options = SubscriptionTree.Options(
            qos: min(subscription.qos, configuration.maximumQoS), isNoLocal: subscription.isNoLocal,
            isRetainAsPublished: subscription.isRetainAsPublished, identifier: identifier)
        let isNew = subscriptions.insert(filter, of: link.session, options)
        sessions[link.session]?.subscriptions.insert(filter)
        let wantsRetained =
            switch subscription.retainHandling {
            case .send: true  // [MQTT-3.3.1-9]
            case .sendIfNew: isNew  // [MQTT-3.3.1-10]
            case .doNotSend: false  // [MQTT-3.3.1-11]
            }
        // Shared subscriptions get no retained messages (4.8.2).
        return .granted(filter, options, wantsRetained: wantsRetained && filter.group == nil)
    }

    private func refusal(of filter: BrokerFilter, _ identifier: UInt32?, _ link: BrokerLink) -> PacketReasonCode? {
        if filter.levels.count > configuration.maximumTopicLevels { return .topicFilterInvalid }
        if !configuration.isWildcardSubscriptionAvailable, filter.hasWildcard {
            return .wildcardSubscriptionsNotSupported
        }
        if !configuration.isSharedSubscriptionAvailable, filter.group != nil { return .sharedSubscriptionsNotSupported }
        if !configuration.isSubscriptionIdentifierAvailable, identifier != nil {
            return .subscriptionIdentifiersNotSupported
        }
        if !configuration.access.allowsSubscribing(to: filter, by: link.username) { return .notAuthorized }
        let known = sessions[link.session]?.subscriptions ?? []
        let isOneMore = !known.contains(filter)
        return isOneMore && known.count >= configuration.maximumSubscriptionsPerSession ? .quotaExceeded : nil
    }
}
