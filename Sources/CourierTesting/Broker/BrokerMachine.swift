public import MQTTCodec

/// A small MQTT 3.1, 3.1.1 and 5.0 broker as a pure state machine, good for demos and tests and no production broker.
///
/// It has no sockets, threads or clock: tell it what happened, and perform the ``Action``s that it appends, in their
/// order. While ``nextDeadline`` is not `nil`, call ``timerFired(now:into:)`` once it has passed. The same inputs always
/// give the same actions.
///
/// ```swift
/// var machine = BrokerMachine()
/// var actions: [BrokerMachine.Action] = []
/// machine.connectionOpened(1, now: .now, into: &actions)
/// machine.received(packet, from: 1, now: .now, into: &actions)
/// for action in actions {
///     switch action {
///     case .setVersion(let version, let id): connections[id].setVersion(version)
///     case .send(let packet, let id): connections[id].encode(packet)
///     case .close(let id, _): connections[id].closeAfterFlushing()
///     }
/// }
/// actions.removeAll(keepingCapacity: true)
/// ```
///
/// What it promises: QoS 1 messages arrive at least once and QoS 2 messages exactly once, in order per publisher, topic
/// and QoS, as long as the session lives and its queue does not overflow. What it does not do: it keeps nothing on disk,
/// knows no extended authentication, and looks at every session when a timer fires. Everything that it keeps is limited by
/// ``BrokerConfiguration``.
public struct BrokerMachine: Sendable {
    /// The clock that all instants are of; the machine never reads it.
    public typealias Instant = ContinuousClock.Instant

    /// What the owner of the connections has to do.
    public enum Action: Hashable, Sendable {
        /// Read and write this connection in this version from now on; comes once, before the first packet is sent.
        case setVersion(ProtocolVersion, of: ConnectionID)
        /// Encode and send this packet.
        case send(Packet, to: ConnectionID)
        /// Send what was given before, then close. Comes at most once; nothing about this connection follows.
        case close(ConnectionID, BrokerCloseReason)
    }

    /// What the broker offers, and its limits.
    public let configuration: BrokerConfiguration

    /// No deadline is earlier than this; it may have become later meanwhile. `nil` when there is none.
    ///
    /// ``timerFired(now:into:)`` makes it exact again, so that a stale one costs one early call.
    public internal(set) var nextDeadline: Instant?

    /// The connections that wait for CONNECT, each with the instant at which that takes too long.
    var awaitingConnect: [ConnectionID: Instant] = [:]
    /// The connections whose CONNECT was accepted.
    var links: [ConnectionID: BrokerLink] = [:]
    var sessions: [SessionID: BrokerSession] = [:]
    var sessionIDs: [ExactText: SessionID] = [:]
    var lastSessionNumber: UInt64 = 0
    var lastAssignedNumber: UInt64 = 0
    var subscriptions = SubscriptionTree()
    var retained: RetainedStore
    var dropped = 0

    /// Makes a broker without connections and sessions.
    public init(configuration: BrokerConfiguration = BrokerConfiguration()) {
        self.configuration = configuration
        retained = RetainedStore(
            maximumCount: configuration.maximumRetainedMessages, maximumBytes: configuration.maximumRetainedBytes)
    }

    /// A connection has been accepted; over ``BrokerConfiguration/maximumConnections`` it is closed at once.
    ///
    /// - Precondition: `id` was never used before.
    public mutating func connectionOpened(_ id: ConnectionID, now: Instant, into actions: inout [Action]) {
        precondition(awaitingConnect[id] == nil && links[id] == nil, "connection \(id) opened twice")
        guard awaitingConnect.count + links.count < configuration.maximumConnections else {
            return actions.append(.close(id, .tooManyConnections))
        }
        let deadline = now.advanced(by: configuration.connectTimeout)
        awaitingConnect[id] = deadline
        note(deadline: deadline)
    }

    /// A packet has been decoded; one of a connection that is closed already is ignored.
    public mutating func received(
        _ packet: Packet, from id: ConnectionID, now: Instant, into actions: inout [Action]
    ) {
        if awaitingConnect[id] != nil {
            if case .connect(let connect) = packet {
                receivedConnect(connect, from: id, now: now, &actions)
            } else {
                fail(id, .protocolViolation(.protocolError), now: now, &actions)  // [MQTT-3.1.0-1]
            }
            return
        }
        guard links[id] != nil else { return }
        links[id]?.lastHeard = now
        switch packet {
        case .publish(let publish): receivedPublish(publish, from: id, now: now, &actions)
        case .pubAck(let acknowledgement): receivedPubAck(acknowledgement, from: id, now: now, &actions)
        case .pubRec(let acknowledgement): receivedPubRec(acknowledgement, from: id, now: now, &actions)
        case .pubRel(let acknowledgement): receivedPubRel(acknowledgement, from: id, now: now, &actions)
        case .pubComp(let acknowledgement): receivedPubComp(acknowledgement, from: id, now: now, &actions)
        case .subscribe(let subscribe): receivedSubscribe(subscribe, from: id, now: now, &actions)
        case .unsubscribe(let unsubscribe): receivedUnsubscribe(unsubscribe, from: id, now: now, &actions)
        case .pingReq: send(.pingResp, to: id, now: now, &actions)  // [MQTT-3.12.4-1]
        case .disconnect(let disconnect): receivedDisconnect(disconnect, from: id, now: now, &actions)
        case .connect,  // [MQTT-3.1.0-2]
            .auth,  // No CONNECT with an authentication method is ever accepted.
            .connAck, .subAck, .unsubAck, .pingResp:  // Only a server sends these.
            fail(id, .protocolViolation(.protocolError), now: now, &actions)
        }
    }

    /// The decoder has refused the bytes of a connection, which is closed: after a DISCONNECT with the error's reason code
    /// in MQTT 5, without a word before ([MQTT-4.13.1-1]).
    ///
    /// A CONNECT of an unknown version or with an empty identifier is answered by CONNACK.
    public mutating func receivedMalformed(
        _ error: DecodeError, from id: ConnectionID, now: Instant, into actions: inout [Action]
    ) {
        if awaitingConnect[id] != nil { refuseMalformedConnect(error, from: id, &actions) }
        fail(id, .malformed(error), now: now, &actions)
    }

    /// The connection has ended on the other side, or has failed; one that is closed already is ignored.
    ///
    /// The will is published, after its delay, unless the client comes back before.
    public mutating func connectionLost(_ id: ConnectionID, now: Instant, into actions: inout [Action]) {
        awaitingConnect[id] = nil
        guard let link = links.removeValue(forKey: id) else { return }
        detach(link, publishesWill: true, now: now, &actions)
    }

    /// The connection takes no more bytes for now: until ``connectionDrained(_:now:into:)``, QoS 0 messages for it are
    /// dropped and others queued.
    ///
    /// Answers are not held up: whoever does not want to buffer them must stop reading from the connection too. Silence
    /// is therefore no reason to close it meanwhile. A client that never takes anything again holds one of
    /// ``BrokerConfiguration/maximumConnections`` and what the limits of its queue allow, until its connection is lost or
    /// closed for another reason.
    public mutating func connectionCongested(_ id: ConnectionID) { links[id]?.isCongested = true }

    /// The connection takes bytes again; what was queued is sent, and its keep-alive is counted from now.
    public mutating func connectionDrained(_ id: ConnectionID, now: Instant, into actions: inout [Action]) {
        guard let session = links[id]?.session else { return }
        links[id]?.isCongested = false
        links[id]?.lastHeard = now
        note(deadline: links[id]?.deadline)
        pump(session, now: now, &actions)
    }
}
