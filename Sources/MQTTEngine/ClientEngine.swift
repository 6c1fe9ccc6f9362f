public import MQTTCodec

/// The client side of MQTT as a state machine without sockets, threads or clocks.
///
/// The caller reports events and requests, with the current time. The engine answers in three ways. It writes the bytes
/// to send into the caller's ``MQTTCodec/PacketBuffer``. It appends ``EngineAction``s, which the caller performs in
/// order, to the caller's ``ActionList``. It updates ``deadline``, the time to call ``timerFired(now:into:_:)`` if no
/// other call is made earlier. After every call, the caller checks all three: buffer, actions and deadline.
///
/// ```swift
/// var engine = ClientEngine(EngineConfiguration(connect: Connect(version: .v5, clientID: "meter-7")))
/// engine.transportOpened(now: clock.now, into: &buffer, &actions)   // writes CONNECT
/// …
/// let consumed = engine.received(bytes, now: clock.now, into: &buffer, &actions)
/// ```
///
/// One engine keeps its session over many successive connections:
///
/// ```
/// idle ──transportOpened──▶ connecting ──CONNACK──▶ connected
///  ▲                            │                       │
///  │                            ├───── error, refusal, disconnect() ─────▶ closing
///  └───────────────────── transportClosed ──────────────┴──────────────────────┘
/// ```
///
/// In `closing`, the engine has already returned the connection's only ``EngineAction/close(_:)``. The engine ignores
/// bytes and timers until the caller reports that the transport is closed.
///
/// The engine has no queue, and stores only messages in flight. The caller publishes no more messages than
/// ``publishCapacity`` allows, and holds back all other messages. In a session of an earlier process, the engine sends
/// PUBREL before it uses a packet id for QoS 2. If the server ends four connections in a row without answering, the
/// engine sends no more of these PUBRELs.
public struct ClientEngine: ~Copyable {
    /// The phase of the connection.
    enum Phase {
        /// There is no byte stream.
        case idle
        /// CONNECT was written, and CONNACK has not arrived yet.
        case connecting(deadline: MonotonicInstant)
        /// CONNACK accepted the connection.
        case connected
        /// ``EngineAction/close(_:)`` was returned, and the byte stream has not ended yet.
        case closing
    }

    var configuration: EngineConfiguration
    var phase = Phase.idle
    /// The version of the next CONNECT: the configured version, or the version to which the engine fell back.
    var version: ProtocolVersion
    /// True after a server accepted ``version``, or refused the client for a reason other than the version. If this is
    /// true, the engine keeps the version even if a server closes the connection without a reason.
    var hasConfirmedVersion = false
    /// False if an earlier process may have left unfinished QoS 2 deliveries in the server's session; see
    /// `UnknownSession`.
    var isSessionKnown = false

    // The deliveries and requests that the client started and the server has not finished. They continue after the end
    // of a connection.
    var outgoing = OutgoingExchanges()
    var incoming = IncomingExchanges()
    /// The packet ids that were freed, because an earlier process may have left them in use; `nil` if no id must be
    /// freed.
    var unknownSession: UnknownSession?
    /// The bytes of the messages in ``outgoing`` that may have to be sent again.
    var memory = MessageMemory()
    /// The maximum number of unacknowledged QoS 1 and 2 PUBLISH packets; see ``setSendLimit(_:now:into:_:)``.
    var sendLimit = Int.max

    /// The state of the current connection. Without a connection, it is the state of the last connection.
    var link: Link

    /// Makes an engine without a session and without a connection.
    public init(_ configuration: EngineConfiguration) {
        self.configuration = configuration
        version = configuration.connect.version
        link = Link(configuration, configuration.connect.version)
    }

    /// True from the time when the server accepts the connection until the connection ends.
    public var isConnected: Bool { if case .connected = phase { true } else { false } }

    /// The number of QoS 1 and 2 messages that `publish` accepts now. Further messages fail with
    /// ``EngineAction/Failure/quotaExceeded``.
    ///
    /// The value is 0 without a connection, and while messages of an earlier connection wait to be sent again.
    /// Otherwise, the server's receive maximum, the free packet ids and ``setSendLimit(_:now:into:_:)`` limit the
    /// value. Acknowledgements raise the value.
    public var publishCapacity: Int {
        guard isConnected, link.resendStack.isEmpty else { return 0 }
        return min(link.quota, outgoing.freeIDCount, max(0, sendLimit &- link.unacknowledgedPublishCount))
    }

    /// The number of messages and requests that the server has not finished, including SUBSCRIBE and UNSUBSCRIBE.
    /// Messages that ``giveUp(_:)`` ended do not count.
    public var inFlightCount: Int { outgoing.count - outgoing.reservedCount }

    /// True while at least one message or request waits for an answer that the engine will report. The engine reports
    /// no answer for a message that was given up.
    public var awaitsAnswers: Bool { outgoing.isAnyoneWaiting }

    /// The number of bytes used by QoS 1 and 2 messages that are not acknowledged and may be sent again.
    public var keptByteCount: Int { memory.byteCount }

    /// The number of incoming QoS 1 and 2 messages of this connection whose delivery is not finished.
    public var unacknowledgedCount: Int { incoming.outstanding }

    /// The protocol version of this connection, or of the next attempt.
    public var protocolVersion: ProtocolVersion { version }

    /// The decoder of this connection. It reads the properties of an ``IncomingMessage``.
    public var decoder: PacketDecoder { link.decoder }

    /// Frees unused memory. Call this function when there is little traffic, for example from a timer.
    public mutating func trim() {
        memory.trim()
        outgoing.trim()
    }
}
