public import MQTTCodec

/// A small MQTT 3.1, 3.1.1 and 5.0 broker as a pure state machine, for demos and tests, not for production.
///
/// It has no sockets, threads or clock. Call its methods for each event, and perform the ``Action``s that they append,
/// first to last. While ``nextDeadline`` is not `nil`, call ``timerFired(now:into:)`` once that time has passed. The
/// same inputs always give the same actions.
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
/// QoS 1 messages arrive at least once and QoS 2 messages exactly once, while the receiver's session exists and its
/// queue does not overflow. Messages of one publisher, topic and QoS arrive in the order in which they were sent.
///
/// The broker stores nothing on disk, has no extended authentication, and checks every session when a timer fires.
/// ``BrokerConfiguration`` limits everything that it stores.
public struct BrokerMachine: Sendable {
    /// The type of each time that a caller passes to the machine, such as the parameter `now`. The machine reads no
    /// clock itself, so the caller passes the current time.
    public typealias Instant = ContinuousClock.Instant

    /// An action that the owner of the connections must perform.
    public enum Action: Hashable, Sendable {
        /// Use this version for the connection from now on. This action occurs once per connection, before its first
        /// packet is sent.
        case setVersion(ProtocolVersion, of: ConnectionID)
        /// Encode and send this packet.
        case send(Packet, to: ConnectionID)
        /// Send all earlier packets, then close the connection. This action occurs at most once, as the connection's
        /// last action.
        case close(ConnectionID, BrokerCloseReason)
    }

    /// The features and limits of the broker.
    public let configuration: BrokerConfiguration

    /// The earliest time at which a call of ``timerFired(now:into:)`` may have an effect; `nil` if there is no
    /// deadline. The real deadline may be later.
    ///
    /// ``timerFired(now:into:)`` makes the value exact again. If the value is too early, the only result is one call of
    /// ``timerFired(now:into:)`` without effect.
    public internal(set) var nextDeadline: Instant?

    /// The connections that wait for CONNECT, each with the time at which the wait ends.
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

    /// Registers an accepted connection. If ``BrokerConfiguration/maximumConnections`` are already open, the new
    /// connection is closed at once.
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

    /// Handles a decoded packet. A packet of a closed connection is ignored.
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

    /// Handles bytes that the decoder refused, and closes the connection. In MQTT 5, a DISCONNECT with the error's
    /// reason code is sent first. In MQTT 3, nothing is sent ([MQTT-4.13.1-1]).
    ///
    /// If a CONNECT has an unknown version or an empty identifier, the broker sends a CONNACK.
    public mutating func receivedMalformed(
        _ error: DecodeError, from id: ConnectionID, now: Instant, into actions: inout [Action]
    ) {
        if awaitingConnect[id] != nil { refuseMalformedConnect(error, from: id, &actions) }
        fail(id, .malformed(error), now: now, &actions)
    }

    /// Handles a connection that the client has closed or that has failed. A connection that is already closed is
    /// ignored.
    ///
    /// The will is published after its delay, unless the client reconnects during the delay.
    public mutating func connectionLost(_ id: ConnectionID, now: Instant, into actions: inout [Action]) {
        awaitingConnect[id] = nil
        guard let link = links.removeValue(forKey: id) else { return }
        detach(link, publishesWill: true, now: now, &actions)
    }

    /// Marks a connection whose send buffer is full. Until ``connectionDrained(_:now:into:)``, QoS 0 messages for it
    /// are dropped, and other messages are queued.
    ///
    /// Responses to the client's packets, such as PUBACK, are still sent. To avoid buffering them, stop reading from
    /// the connection. Pings are then not read either, so the keep-alive timeout is suspended during congestion. So a
    /// client that never reads again occupies one of ``BrokerConfiguration/maximumConnections`` and the memory of its
    /// queue. It occupies both until its connection is lost or closed for another reason.
    public mutating func connectionCongested(_ id: ConnectionID) { links[id]?.isCongested = true }

    /// Marks a connection that accepts bytes again. Queued messages are sent, and the keep-alive timeout restarts.
    public mutating func connectionDrained(_ id: ConnectionID, now: Instant, into actions: inout [Action]) {
        guard let session = links[id]?.session else { return }
        links[id]?.isCongested = false
        links[id]?.lastHeard = now
        note(deadline: links[id]?.deadline)
        pump(session, now: now, &actions)
    }
}
