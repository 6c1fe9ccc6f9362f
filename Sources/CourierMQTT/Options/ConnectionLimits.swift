import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// The timeouts and limits of a client's connections. Clients with equal limits share one copy.
struct ConnectionLimits: Hashable, Sendable {
    /// The longest allowed timeout, one day.
    static let longestTimeout = Duration.seconds(86_400)
    /// The allowed values of `maximumPacketSize` in bytes. The upper bound is the largest MQTT packet.
    static let packetSizes = 256...PacketEncoder.largestPacketSize

    /// How long the broker keeps the session while there is no connection; 7 days by default, and 4,294,967,295 s means
    /// forever. The value is sent with MQTT 5 only, and not for a clean session. MQTT 3.1.1 brokers have their own
    /// limit.
    var sessionExpiry = Duration.seconds(7 * 86_400)
    /// The time limit for connecting by TCP, proxy and TLS, 30 s by default.
    var connectTimeout = Duration.seconds(30)
    /// The time limit for CONNACK after CONNECT, 10 s by default.
    var connAckTimeout = Duration.seconds(10)
    /// The time limit for PINGRESP, 10 s by default.
    var pingTimeout = Duration.seconds(10)
    /// The time limit for an acknowledgement, 60 s by default; `nil` for no limit.
    var acknowledgementTimeout: Duration? = .seconds(60)

    /// The keep-alive of every connection in seconds. With `nil`, the default, each connection uses the keep-alive of
    /// its options.
    var keepAlive: UInt16?

    /// The maximum number of unacknowledged incoming QoS 1 and 2 messages, 65,535 by default.
    var receiveMaximum = UInt16.max
    /// The size of the largest packet that the client accepts, in bytes; 16 MiB by default.
    var maximumPacketSize = PacketDecoder.Limits().maximumPacketSize
    /// The maximum number of unacknowledged outgoing QoS 1 and 2 messages with MQTT 5, 1,000 by default.
    var maximumInFlight = 1_000
    /// The maximum number of unacknowledged outgoing QoS 1 and 2 messages with MQTT 3.1 or 3.1.1, 20 by default.
    var maximumInFlightBeforeVersion5 = 20
    /// The number of topic aliases that the broker may use, 16 by default.
    var incomingTopicAliases: UInt16 = 16
    /// True if the broker may explain failures by reason strings and user properties; `true` by default.
    var requestsProblemInformation = true
    /// True if the client asks the broker for a prefix of response topics (Response Information); `false` by default.
    var requestsResponseInformation = false
    /// The number of topic aliases that the client uses for its messages, 16 by default.
    var outgoingTopicAliases: UInt16 = 16
    /// The treatment of messages in flight if the broker has lost the session; they are sent again by default.
    var sessionLossPolicy = EngineConfiguration.SessionLossPolicy.resend
    /// How the engine acknowledges incoming messages. With `automatic`, the default, it acknowledges a message when the
    /// message arrives. With `onCommand`, it waits until the client requests the acknowledgement.
    var acknowledgements = EngineConfiguration.AcknowledgementMode.automatic
    /// True if each step of a QoS 2 exchange must be stored before the next packet of the exchange is sent; `false` by
    /// default.
    var awaitsStorage = false
    /// The limits of the byte channel. The channel's connect timeout is ``connectTimeout``.
    var channel = ChannelOptions()
}

extension ConnectionLimits {
    /// Checks that the values are in range.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` whose message contains the option, its value and its range.
    func check() throws(CourierError) {
        if let problem = channel.localBinding?.problem {
            throw CourierError(
                .invalidConfiguration, "The option `environment.localBinding` cannot be used: \(problem).")
        }
        try checkTimes()
        try checkRanges()
    }

    private func checkTimes() throws(CourierError) {
        let times: [(String, Duration?)] = [
            ("connectTimeout", connectTimeout), ("connAckTimeout", connAckTimeout), ("pingTimeout", pingTimeout),
            ("session.acknowledgementTimeout", acknowledgementTimeout),
        ]
        for case (let name, let time?) in times where time <= .zero || time > Self.longestTimeout {
            throw CourierError(
                .invalidConfiguration,
                "\(name) is \(time); it must be more than 0 and at most \(Self.longestTimeout).")
        }
        if WireSeconds(sessionExpiry) == nil {
            throw CourierError(
                .invalidConfiguration,
                "session.expiry is \(sessionExpiry); it must be between 0 and \(UInt32.max) seconds.")
        }
    }

    private func checkRanges() throws(CourierError) {
        let limits: [(String, Int, ClosedRange<Int>)] = [
            ("limits.receiveMaximum", Int(receiveMaximum), 1...65_535),  // MQTT 5.0, section 3.1.2.11.3.
            ("limits.maximumPacketSize", maximumPacketSize, Self.packetSizes),
            ("limits.maximumInFlight", maximumInFlight, 1...65_535),
            ("limits.maximumInFlight before MQTT 5", maximumInFlightBeforeVersion5, 1...65_535),
            ("channel.readsPerTurn", channel.readsPerTurn, 1...Int.max),
            ("channel.lowWaterMark", channel.lowWaterMark, 0...max(channel.highWaterMark, 0)),
            ("channel.highWaterMark", channel.highWaterMark, 1...Int.max),
        ]
        for (name, value, range) in limits where !range.contains(value) {
            throw CourierError(
                .invalidConfiguration,
                "\(name) is \(value); it must be at least \(range.lowerBound) and at most \(range.upperBound).")
        }
    }
}
