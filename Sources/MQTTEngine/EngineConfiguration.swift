public import MQTTCodec

/// What a client says of itself in CONNECT, and the limits and times that its engine keeps.
public struct EngineConfiguration: Hashable, Sendable {
    /// What happens to messages in flight when the server has lost the session.
    public enum SessionLossPolicy: Sendable {
        /// The caller publishes them again, as ``EngineAction/returned(_:)`` says. A QoS 2 message that the old session had
        /// may arrive twice. A message that was past PUBREC must not be sent again and fails with
        /// ``EngineAction/Failure/sessionLost``.
        case resend
        /// They fail with ``EngineAction/Failure/sessionLost``, and their senders decide.
        case fail
        /// They are given up, with ``EngineAction/Failure/dropped`` for the books.
        case drop
    }

    /// Who acknowledges QoS 1 and 2 messages.
    public enum AcknowledgementMode: Sendable {
        /// The engine does, as soon as they arrive.
        case automatic
        /// The caller does, by ``ClientEngine/acknowledge(_:_:now:into:_:)``, for instance after it has processed them.
        case onCommand
    }

    /// The CONNECT of every connection, without the properties that follow from the values below.
    public var connect: Connect
    /// Whether MQTT 3.1.1 is tried when a server does not speak MQTT 5; `true` by default.
    public var fallsBackToVersion311: Bool
    /// What happens to messages in flight when the server has lost the session; ``SessionLossPolicy/resend`` by default.
    public var sessionLossPolicy: SessionLossPolicy
    /// Who acknowledges messages; ``AcknowledgementMode/automatic`` by default.
    public var acknowledgements: AcknowledgementMode
    /// Whether each step of QoS 2 waits until the caller has stored it, so that a process that is killed between any two
    /// continues where it was, and exactly once stays exactly once; `false` by default.
    ///
    /// The caller answers each ``EngineAction/sent(_:_:)`` and ``EngineAction/receivedByServer(_:)`` of QoS 2, and each
    /// ``EngineAction/givenUp(_:_:)``, by ``ClientEngine/stored(_:_:now:into:_:)``, and each
    /// ``EngineAction/incomingReleased(_:)`` by ``ClientEngine/storedRelease(_:now:into:)``; only then are PUBLISH, PUBREL
    /// and PUBCOMP written.
    public var awaitsStorage: Bool

    /// Gives up on CONNACK after this long, counted from CONNECT; 10 s by default.
    public var connectTimeout: Duration
    /// Gives up on PINGRESP after this long; 10 s by default.
    public var pingTimeout: Duration
    /// Gives up on an acknowledgement after this long, counted from the packet; 60 s by default, `nil` is never.
    public var acknowledgementTimeout: Duration?

    /// How many outgoing QoS 1 and 2 messages may be unacknowledged, if the server allows as many; 1,000 by default.
    public var maximumInFlight: Int
    /// The same before MQTT 5, where servers do not say how many they allow; 1,000 by default.
    public var maximumInFlightBeforeVersion5: Int
    /// How many incoming QoS 1 and 2 messages may be unacknowledged; 65,535, the most there can be, by default. MQTT 5 tells
    /// the server, and a server that sends more is disconnected.
    public var receiveMaximum: UInt16
    /// The size of the largest packet that is read; 16 MiB by default. MQTT 5 tells the server.
    public var maximumPacketSize: Int
    /// How many topic aliases the server may use; 16 by default, 0 is none.
    public var incomingTopicAliases: UInt16
    /// How many topic aliases the engine uses, if the server allows as many; 16 by default, 0 is none.
    public var outgoingTopicAliases: UInt16

    /// The aliases that stand for topics whenever the server allows them; none by default. No alias may be 0 or stand for two
    /// topics. The engine's own aliases are other numbers.
    public var fixedTopicAliases: [String: UInt16]

    /// Makes a configuration around `connect`, with the defaults that the properties name.
    public init(connect: Connect) {
        self.connect = connect
        fallsBackToVersion311 = true
        sessionLossPolicy = .resend
        acknowledgements = .automatic
        awaitsStorage = false
        connectTimeout = .seconds(10)
        pingTimeout = .seconds(10)
        acknowledgementTimeout = .seconds(60)
        maximumInFlight = 1_000
        maximumInFlightBeforeVersion5 = 1_000
        receiveMaximum = .max
        maximumPacketSize = PacketDecoder.Limits().maximumPacketSize
        incomingTopicAliases = 16
        outgoingTopicAliases = 16
        fixedTopicAliases = [:]
    }
}
