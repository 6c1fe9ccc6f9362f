import CourierCore

/// Checks a client's events against the grammar in docs/reference/events.md.
///
/// ```swift
/// var grammar = EventGrammar()
/// for event in recorded { grammar.record(event.type) }
/// #expect(grammar.violations.isEmpty)
/// #expect(grammar.openStarts.isEmpty)  // once the client is at rest
/// ```
struct EventGrammar {
    /// An event that the grammar does not allow at its position.
    struct Violation: Equatable, CustomStringConvertible {
        /// The number of the event, from 0.
        let index: Int
        let message: String
        var description: String { "event \(index): \(message)" }
    }

    private enum Connection: Equatable {
        case none
        case attempt(isConnectSent: Bool)
        case connected
    }

    /// The request of a start event. An end event of the same request matches it.
    private enum Start: Hashable {
        case subscribe(String)
        case unsubscribe(String)
        case send(topic: String, qos: QoS, size: Int)
    }

    private(set) var violations: [Violation] = []
    private(set) var count = 0

    private var isAuthenticating = false
    private var connection = Connection.none
    private var isPinging = false
    private var mustBegin = false
    private var isInBackground: Bool?
    private var isUnavailable: Bool?
    private var open: [Start: Int] = [:]
    /// The topics of the received messages.
    private var receivedTopics: Set<String> = []
    /// True if events about messages were dropped. From then on, an end event of a message needs no start event.
    private var isIncomplete = false
    private let hasStore: Bool

    /// Checks the events of a client. With a message store, the client does not report the arrival of messages that
    /// an earlier process received.
    init(hasStore: Bool = false) { self.hasStore = hasStore }

    /// The violations in `events`.
    static func violations(in events: some Sequence<CourierEventType>) -> [Violation] {
        var grammar = EventGrammar()
        for event in events { grammar.record(event) }
        return grammar.violations
    }

    /// The start events without an end event, as sorted texts. A client at rest has only start events of waiting
    /// messages.
    var openStarts: [String] {
        var starts: [String] = []
        if isAuthenticating { starts.append("connectionServiceAuthStart") }
        if case .attempt = connection { starts.append("connectionAttempt") }
        if connection == .connected { starts.append("connectionSuccess") }
        if isPinging { starts.append("ping") }
        for (start, count) in open {
            for _ in 0..<count {
                switch start {
                case .subscribe(let topic): starts.append("subscribeAttempt \(topic)")
                case .unsubscribe(let topic): starts.append("unsubscribeAttempt \(topic)")
                case .send(let topic, _, _): starts.append("messageSend \(topic)")
                }
            }
        }
        return starts.sorted()
    }

    /// Checks the next event.
    mutating func record(_ event: CourierEventType) {
        defer { count += 1 }
        if mustBegin {
            mustBegin = false
            switch event {
            case .connectionServiceAuthStart, .connectionAttempt: break
            // The threads of senders and readers report these events, so they may come at any time.
            case .messageSend, .messageSendSuccess, .messageSendFailure, .messageReceiveFailure, .eventsDropped:
                mustBegin = true
            default: violate("reconnect is followed by \(name(of: event)) instead of the attempt")
            }
        }
        switch event {
        case .connectionServiceAuthStart:
            require(!isAuthenticating, "the provider is asked twice at a time")
            if case .attempt = connection { violate("the provider is asked in the middle of an attempt") }
            isAuthenticating = true
        case .connectionServiceAuthSuccess, .connectionServiceAuthFailure:
            require(isAuthenticating, "the provider answers without being asked")
            isAuthenticating = false

        case .connectionAttempt:
            require(connection == .none, "an attempt begins while there is \(connection)")
            require(!isAuthenticating, "an attempt begins while the provider is asked")
            connection = .attempt(isConnectSent: false)
        case .connectedPacketSent:
            require(connection == .attempt(isConnectSent: false), "CONNECT is sent while there is \(connection)")
            if case .attempt = connection { connection = .attempt(isConnectSent: true) }
        case .connectionSuccess:
            requireAttempt("success")
            connection = .connected
        case .connectionFailure:
            requireAttempt("failure")
            connection = .none
        case .connectionLost, .connectionDisconnect: connectionEnded(event)
        case .reconnect:
            require(connection == .none, "reconnect while there is \(connection)")
            require(!isAuthenticating, "reconnect while the provider is asked")
            mustBegin = true
        case .courierDisconnect, .connectDiscarded, .messageStoreFailure, .messageRejected, .messageProcessingFailure,
            .messageParked, .processingPaused, .processingResumed:
            break
        case .eventsDropped(let count):
            require(count > 0, "a report of no dropped events")
            isIncomplete = true
            open = open.filter { if case .send = $0.key { false } else { true } }
        case .deliveryDowngraded: require(connection == .connected, "a downgrade without a connection")

        case .ping:
            require(connection == .connected, "a ping without a connection")
            require(!isPinging, "a ping before the last one ended")
            isPinging = true
        case .pongReceived, .pingFailure:
            require(isPinging, "\(name(of: event)) without a ping")
            isPinging = false

        case .subscribeAttempt(let topics):
            require(connection == .connected, "a subscription is sent without a connection")
            for topic in topics { open[.subscribe(topic), default: 0] += 1 }
        case .subscribeSuccess(let topics, _):
            for (topic, _) in topics { end(.subscribe(topic), mayStandAlone: false) }
        case .subscribeFailure(let topics, _, let error):
            for (topic, _) in topics { end(.subscribe(topic), mayStandAlone: isRefusal(error) || isRuledOut(error)) }
        case .unsubscribeAttempt(let topics):
            require(connection == .connected, "an unsubscription is sent without a connection")
            for topic in topics { open[.unsubscribe(topic), default: 0] += 1 }
        case .unsubscribeSuccess(let topics, _):
            for topic in topics { end(.unsubscribe(topic), mayStandAlone: false) }
        case .unsubscribeFailure(let topics, _, let error):
            for topic in topics { end(.unsubscribe(topic), mayStandAlone: isRefusal(error) || isRuledOut(error)) }

        case .messageSend(let topic, let qos, let size):
            open[.send(topic: topic, qos: qos, size: size), default: 0] += 1
        case .messageSendSuccess(let topic, let qos, let size, _):
            end(.send(topic: topic, qos: qos, size: size), mayStandAlone: isIncomplete)
        case .messageSendFailure(let topic, let qos, let error, let size):
            // If the queue is full, the client refuses the message after its start event.
            let mayStandAlone = isRefusal(error) && (error as? CourierError)?.code != .queueFull
            end(.send(topic: topic, qos: qos, size: size), mayStandAlone: mayStandAlone || isIncomplete)
        case .messageReceive(let topic, _):
            require(connection == .connected, "a message came without a connection")
            receivedTopics.insert(topic)
        case .messageReceiveFailure(let topic, let error, _):
            // A publisher has an invalid filter, or the message was too large to be received.
            let standsAlone = [.invalidTopicFilter, .malformedPacket].contains((error as? CourierError)?.code)
            require(
                standsAlone || hasStore || isIncomplete || receivedTopics.contains(topic),
                "a message on \(topic) could not be used, and none has come")

        case .appForeground, .appBackground:
            let isBackground = if case .appBackground = event { true } else { false }
            require(isInBackground != isBackground, "\(name(of: event)) twice in a row")
            isInBackground = isBackground
        case .connectionAvailable, .connectionUnavailable:
            let isUnavailable = if case .connectionUnavailable = event { true } else { false }
            require(self.isUnavailable != isUnavailable, "\(name(of: event)) twice in a row")
            self.isUnavailable = isUnavailable
        }
    }

    private mutating func connectionEnded(_ event: CourierEventType) {
        require(connection == .connected, "\(name(of: event)) while there is \(connection)")
        require(!isPinging, "the connection ends before its last ping")
        for (start, _) in open {
            switch start {
            case .subscribe(let topic): violate("the connection ends before the subscription to \(topic)")
            case .unsubscribe(let topic): violate("the connection ends before the unsubscription from \(topic)")
            case .send: break  // QoS 1 and 2 outlive a connection.
            }
        }
        connection = .none
    }

    private mutating func requireAttempt(_ what: String) {
        if case .attempt = connection { return }
        violate("\(what) without an attempt, while there is \(connection)")
    }

    /// True if the client itself refused a filter or a message before its start event. False if the client gave up an
    /// accepted message, because an accepted message has a start event.
    private func isRefusal(_ error: (any Error)?) -> Bool {
        guard let code = (error as? CourierError)?.code, code.number < 200 else { return false }
        let ends: [CourierError.Code] = [.messageExpired, .messageReplaced, .messageWithdrawn, .clientDestroyed]
        return !ends.contains(code)
    }

    /// True if the client sent no packet, because CONNACK forbids the filter.
    private func isRuledOut(_ error: (any Error)?) -> Bool {
        guard let error = error as? CourierError, error.code == .subscriptionRefused, let reason = error.reasonCode
        else { return false }
        let codes: [ReasonCode] = [
            .packetTooLarge, .wildcardSubscriptionsNotSupported, .sharedSubscriptionsNotSupported,
        ]
        return codes.contains(reason)
    }

    /// Matches an end event with a start event. An end event without a start event is a violation, unless
    /// `mayStandAlone` is true.
    private mutating func end(_ start: Start, mayStandAlone: Bool) {
        guard let count = open[start] else {
            return require(mayStandAlone, "the end of \(start), which has not started")
        }
        open[start] = count > 1 ? count - 1 : nil
    }

    private mutating func require(_ condition: Bool, _ message: String) {
        if !condition { violate(message) }
    }

    private mutating func violate(_ message: String) { violations.append(Violation(index: count, message: message)) }

    /// The name of the event's case, without its associated values.
    private func name(of event: CourierEventType) -> String {
        String(String(describing: event).prefix { $0 != "(" })
    }
}
