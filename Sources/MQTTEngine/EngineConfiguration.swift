public import MQTTCodec

/// The CONNECT packet of a client, and the limits and timeouts of its engine.
public struct EngineConfiguration: Hashable, Sendable {
    /// The treatment of messages in flight if the server has lost the session.
    public enum SessionLossPolicy: Sendable {
        /// The engine returns the messages with ``EngineAction/returned(_:)``, and the caller publishes them again. A
        /// QoS 2 message of the old session may be delivered twice. A message whose PUBREC arrived must not be sent
        /// again, so it fails with ``EngineAction/Failure/sessionLost``.
        case resend
        /// The messages fail with ``EngineAction/Failure/sessionLost``. The caller may publish them again.
        case fail
        /// The messages fail with ``EngineAction/Failure/dropped``, and the engine forgets them.
        case drop
    }

    /// Selects whether the engine or the caller acknowledges QoS 1 and 2 messages.
    public enum AcknowledgementMode: Sendable {
        /// The engine acknowledges each message when it arrives.
        case automatic
        /// The caller acknowledges each message with ``ClientEngine/acknowledge(_:_:now:into:_:)``, for example after
        /// processing it.
        case onCommand
    }

    /// The CONNECT packet of every connection. The engine adds properties that report its limits, such as
    /// ``receiveMaximum``.
    public var connect: Connect
    /// True if the engine tries MQTT 3.1.1 after a server did not support MQTT 5; `true` by default.
    public var fallsBackToVersion311: Bool
    /// The treatment of messages in flight if the server has lost the session; ``SessionLossPolicy/resend`` by default.
    public var sessionLossPolicy: SessionLossPolicy
    /// Selects whether the engine or the caller acknowledges messages; ``AcknowledgementMode/automatic`` by default.
    public var acknowledgements: AcknowledgementMode
    /// True if the engine waits after each QoS 2 step until the caller has stored the step; `false` by default.
    ///
    /// If the process is killed between two steps, the next process continues at the same step, and each message is
    /// still delivered exactly once.
    ///
    /// The caller calls ``ClientEngine/stored(_:_:now:into:_:)`` for each ``EngineAction/sent(_:_:)`` and
    /// ``EngineAction/receivedByServer(_:)`` of QoS 2, and for each ``EngineAction/givenUp(_:_:)``. For each
    /// ``EngineAction/incomingReleased(_:)``, the caller calls ``ClientEngine/storedRelease(_:now:into:)``. The engine
    /// writes the next PUBLISH, PUBREL or PUBCOMP of the message only after the call.
    public var awaitsStorage: Bool

    /// The maximum time from CONNECT to CONNACK; 10 s by default.
    public var connectTimeout: Duration
    /// The maximum time from PINGREQ to PINGRESP; 10 s by default.
    public var pingTimeout: Duration
    /// The maximum time from a packet to its acknowledgement; 60 s by default, `nil` for no limit.
    public var acknowledgementTimeout: Duration?

    /// The maximum number of unacknowledged outgoing QoS 1 and 2 messages; 1,000 by default. The server may allow
    /// fewer.
    public var maximumInFlight: Int
    /// The value that replaces `maximumInFlight` before MQTT 5, because servers of these versions do not report their
    /// limit; 1,000 by default.
    public var maximumInFlightBeforeVersion5: Int
    /// The maximum number of unacknowledged incoming QoS 1 and 2 messages; 65,535 by default, which is the highest
    /// possible value. In MQTT 5, CONNECT reports the value, and the engine ends the connection if the server exceeds
    /// it.
    public var receiveMaximum: UInt16
    /// The size of the largest packet that the engine reads; 16 MiB by default. In MQTT 5, CONNECT reports the value. A
    /// larger packet ends the connection. Before MQTT 5, the engine discards a larger PUBLISH instead, and reports it
    /// as ``EngineAction/skipped(_:)``.
    public var maximumPacketSize: Int
    /// The number of topic aliases that the server may use; 16 by default, 0 for none.
    public var incomingTopicAliases: UInt16
    /// The number of topic aliases that the engine may use; 16 by default, 0 for none. The server may allow fewer.
    public var outgoingTopicAliases: UInt16

    /// Fixed topic aliases, which are used if the server allows them; none by default. No alias may be 0 or belong to
    /// two topics. The engine chooses different numbers for its other aliases.
    public var fixedTopicAliases: [String: UInt16]

    /// Makes a configuration with `connect` and the default values.
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
