public import MQTTCodec

/// The client's side of MQTT as a machine without sockets, threads or clocks.
///
/// It is told what happened and what is wanted, with the time, and answers in three ways: bytes in the caller's
/// ``MQTTCodec/PacketBuffer``, to be written; ``EngineAction``s appended to the caller's ``ActionList``, to be performed in order; and
/// ``deadline``, the time at which ``timerFired(now:into:_:)`` is to be called if nothing else happens before. All three are
/// to be looked at after every call.
///
/// ```swift
/// var engine = ClientEngine(EngineConfiguration(connect: Connect(version: .v5, clientID: "meter-7")))
/// engine.transportOpened(now: clock.now, into: &buffer, &actions)   // writes CONNECT
/// …
/// let consumed = engine.received(bytes, now: clock.now, into: &buffer, &actions)
/// ```
///
/// One engine lives as long as its session and sees many connections, one after the other:
///
/// ```
/// idle ──transportOpened──▶ connecting ──CONNACK──▶ connected
///  ▲                            │                       │
///  │                            ├───── error, refusal, disconnect() ─────▶ closing
///  └───────────────────── transportClosed ──────────────┴──────────────────────┘
/// ```
///
/// In `closing` the one ``EngineAction/close(_:)`` of the connection has been returned: bytes and timers are ignored until
/// the transport says that it is closed.
///
/// The engine has no queue. It knows only the messages that are in flight: the caller publishes no more messages than
/// ``publishCapacity`` says, and its other messages wait with the caller.
public struct ClientEngine: ~Copyable {
    /// A point in time as the caller measures it.
    public typealias Instant = ContinuousClock.Instant

    enum Phase {
        /// There is no byte stream.
        case idle
        /// CONNECT is written; CONNACK is due.
        case connecting(deadline: MonotonicInstant)
        /// CONNACK has accepted.
        case connected
        /// ``EngineAction/close(_:)`` was returned, and the byte stream has not ended yet.
        case closing
    }

    var configuration: EngineConfiguration
    var phase = Phase.idle
    /// The version for the next CONNECT: the configured one, or the one that the server turned out to speak.
    var version: ProtocolVersion
    /// Whether a server has accepted ``version``; it is then not given up because of a silent close.
    var hasConfirmedVersion = false
    /// Whether the server began its session for this engine.
    var isSessionKnown = false

    // What outlives a connection.
    var outgoing = OutgoingExchanges()
    var incoming = IncomingExchanges()
    /// What to ask about a session that is not known.
    var unknownSession: UnknownSession?
    /// The bytes of the messages in ``outgoing`` that may have to be sent again.
    var memory = MessageMemory()
    /// How many PUBLISH packets of QoS 1 and 2 may be unacknowledged; see ``setSendLimit(_:now:into:_:)``.
    var sendLimit = Int.max

    /// What belongs to the current connection, or to the last one.
    var link: Link

    /// Makes an engine without a session and without a connection.
    public init(_ configuration: EngineConfiguration) {
        self.configuration = configuration
        version = configuration.connect.version
        link = Link(configuration, configuration.connect.version)
    }

    /// Whether the server has accepted the connection and it has not ended.
    public var isConnected: Bool { if case .connected = phase { true } else { false } }

    /// How many QoS 1 and 2 messages `publish` takes now; one more fails with ``EngineAction/Failure/quotaExceeded``.
    ///
    /// 0 without a connection, and while exchanges of an earlier connection wait to be sent again. Otherwise as many as
    /// the server's receive maximum, the free packet ids and ``setSendLimit(_:now:into:_:)`` allow. Acknowledgements raise it.
    public var publishCapacity: Int {
        guard isConnected, link.resendStack.isEmpty else { return 0 }
        return min(link.quota, outgoing.freeIDCount, max(0, sendLimit &- link.unacknowledgedPublishCount))
    }

    /// How many exchanges the server has not finished: messages, and SUBSCRIBE and UNSUBSCRIBE. Messages that
    /// ``giveUp(_:)`` ended are not counted.
    public var inFlightCount: Int { outgoing.count - outgoing.reservedCount }

    /// Whether somebody waits to be told the end of one of them: not of a message that was given up.
    public var awaitsAnswers: Bool { outgoing.isAnyoneWaiting }

    /// How many bytes the QoS 1 and 2 messages take that the server has not acknowledged and that may be written again.
    public var keptByteCount: Int { memory.byteCount }

    /// How many incoming QoS 1 and 2 messages of this connection are not acknowledged.
    public var unacknowledgedCount: Int { incoming.outstanding }

    /// The version that is spoken, or tried.
    public var protocolVersion: ProtocolVersion { version }

    /// The decoder of this connection, with which the properties of an ``IncomingMessage`` are read.
    public var decoder: PacketDecoder { link.decoder }

    /// Gives back memory that nothing stands in; for a quiet moment, such as a timer.
    public mutating func trim() {
        memory.trim()
        outgoing.trim()
    }
}
