import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

extension CourierError {
    /// Why a connection ended or did not come about; `nil` when the app asked for its end, which is no error.
    ///
    /// - Parameters:
    ///   - reason: What the engine says.
    ///   - channel: What the byte channel says; it matters where the engine only knows that the bytes ended.
    ///   - endpoint: How to call the broker.
    ///   - isEstablished: Whether the broker had accepted the connection.
    ///   - areOptionsFixed: Whether the provider has no other credentials to give.
    ///   - isPlain: Whether it went by plain TCP to a port that may want TLS.
    init?(
        closing reason: CloseReason, _ channel: ChannelCloseReason, endpoint: String, isEstablished: Bool,
        areOptionsFixed: Bool = false, isPlain: Bool = false
    ) {
        switch reason {
        case .requested: return nil
        case .refused(let connAck): self.init(refusedBy: endpoint, connAck, areOptionsFixed)
        case .versionNotSupported(let next):
            // A port for TLS may close without a word as well; a broker that says so in CONNACK is closed by this side.
            let remedy =
                isPlain && channel != .closedByOwner
                ? " If the next attempt fails too, the port may need TLS: use the scheme \"mqtts\", often with port 8883."
                : ""
            self.init(
                .connectionRefused,
                "The broker \(endpoint) does not seem to speak the version of MQTT that was tried; the next attempt "
                    + "speaks \(next).\(remedy)")
        case .malformedConnect(let error):
            self.init(
                .invalidConfiguration,
                "The connection request to \(endpoint) can not be written: \(error). Correct the connect options.")
        case .connectTimeout:
            self.init(
                .timedOut,
                "The broker \(endpoint) did not answer the connection request in time. Is it a broker of MQTT, and is "
                    + "the "
                    + "port the right one?")
        case .disconnectedByServer(let disconnect): self.init(endedBy: endpoint, disconnect, areOptionsFixed)
        case .malformedPacket(let error): self.init(malformed: error, from: endpoint)
        case .protocolError(let error):
            self.init(
                .protocolViolation,
                "The broker \(endpoint) broke the protocol: \(error.words). The connection was closed; report it to "
                    + "the "
                    + "broker's makers.")
        case .pingTimeout:
            self.init(
                .timedOut,
                "The broker \(endpoint) did not answer a ping in time; the connection is treated as lost.")
        case .acknowledgementTimeout:
            self.init(
                .timedOut,
                "The broker \(endpoint) did not acknowledge a packet in time; the connection is treated as lost.")
        case .transportClosed:
            self.init(transportClosed: channel, endpoint, isEstablished, isUnanswered: isPlain && !isEstablished)
        }
    }

    private init(
        transportClosed channel: ChannelCloseReason, _ endpoint: String, _ isEstablished: Bool, isUnanswered: Bool
    ) {
        switch channel {
        case .failed(let error) where isUnanswered && [.reset, .brokenPipe].contains(error.code):
            self.init(
                .connectionFailed,
                "\(error.message), before the broker answered the connection request. Is the port the right one, and "
                    + "does the broker want TLS (the scheme \"mqtts\", often port 8883)?",
                cause: error)
        case .failed(let error): self.init(error, isEstablished: isEstablished)
        case .closedByPeer where isEstablished:
            self.init(.connectionLost, "The broker \(endpoint) closed the connection without saying why.")
        case .closedByPeer:
            self.init(
                .connectionFailed,
                "The broker \(endpoint) closed the connection before it answered the connection request. Is the port "
                    + "the "
                    + "right one, and does the broker want TLS? Its log may say more.")
        case .closedByOwner:
            self.init(
                isEstablished ? .connectionLost : .connectionFailed,
                "The connection to \(endpoint) was given up by this client.")
        }
    }

    private init(refusedBy endpoint: String, _ connAck: ConnAck, _ areOptionsFixed: Bool) {
        let code = connAck.reasonCode
        let remedy = Self.remedy(after: .refused(code), code, areOptionsFixed)
        self.init(
            Self.isAboutCredentials(code) ? .notAuthorized : .connectionRefused,
            "The broker \(endpoint) refused the connection: \(ReasonCode(code))"
                + Self.tail(remedy, connAck.properties),
            reasonCode: ReasonCode(code))
    }

    private init(endedBy endpoint: String, _ disconnect: Disconnect, _ areOptionsFixed: Bool) {
        let code: Code =
            switch disconnect.reasonCode {
            case .sessionTakenOver: .sessionTakenOver
            case let code where Self.isAboutCredentials(code): .notAuthorized
            default: .disconnectedByServer
            }
        // 0x00 has another name in DISCONNECT.
        let words =
            disconnect.reasonCode == .success
            ? "Normal disconnection (0x00)" : "\(ReasonCode(disconnect.reasonCode))"
        let remedy = Self.remedy(after: .disconnected(disconnect.reasonCode), disconnect.reasonCode, areOptionsFixed)
        self.init(
            code,
            "The broker \(endpoint) ended the connection: \(words)\(Self.tail(remedy, disconnect.properties))",
            reasonCode: ReasonCode(disconnect.reasonCode))
    }

    /// The remedy: what the client does by itself, or what a person can do.
    private static func remedy(after cause: LossCause, _ code: PacketReasonCode, _ areOptionsFixed: Bool) -> String? {
        guard !areOptionsFixed, LossPolicy.row(for: cause).response == .renewCredentials else { return code.remedy }
        return "The credentials were refused; the connection service provider is asked for new ones."
    }

    private init(malformed error: DecodeError, from endpoint: String) {
        switch error.violation {
        case .connAckOfOlderVersion(let code):
            // The return codes 2 to 5 are those of 3.1.1; with 4 and 5 it minds the credentials, not the version.
            self.init(
                code == 4 || code == 5 ? .notAuthorized : .connectionRefused,
                "The broker \(endpoint) refused the connection in MQTT 3.1.1, with return code \(code). Let the "
                    + "client speak "
                    + "3.1.1 with it (ProtocolVersionPolicy.version311), and look at the credentials and the client "
                    + "id.",
                reasonCode: PacketReasonCode(returnCode: code).map { ReasonCode($0) },
                cause: error)
        case .packetTooLarge(let size, let limit):
            self.init(
                .malformedPacket,
                "The broker \(endpoint) sent a packet of \(size) bytes, and the limit is \(limit). Raise "
                    + "MQTTClientConfig.limits.maximumPacketSize, or have smaller messages sent.",
                cause: error)
        default:
            self.init(
                .malformedPacket,
                "The broker \(endpoint) sent what is no packet of MQTT (\(error)). Is the port the right one, and is "
                    + "it a broker?",
                cause: error)
        }
    }

    /// Whether other credentials may help.
    static func isAboutCredentials(_ code: PacketReasonCode) -> Bool {
        switch code {
        case .badUserNameOrPassword, .notAuthorized, .badAuthenticationMethod: true
        default: false
        }
    }

    /// The end of a sentence about a reason code: the broker's words, another server, and the remedy.
    static func tail(_ remedy: String?, _ properties: PacketProperties) -> String {
        let server = properties.serverReference.map { " It names \($0.quoted())." } ?? ""
        return "\(properties.quotedReason).\(remedy.map { " \($0)" } ?? "")\(server)"
    }
}
