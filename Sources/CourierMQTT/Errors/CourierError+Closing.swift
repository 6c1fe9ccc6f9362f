import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

extension CourierError {
    /// Creates the error for a connection that ended or could not be opened. Returns `nil` if the app requested the
    /// end, which is not an error.
    ///
    /// - Parameters:
    ///   - reason: The reason that the engine reports.
    ///   - channel: The reason that the byte channel reports. This reason is used if the engine knows only that the
    ///     byte stream ended.
    ///   - endpoint: The name of the broker for the error text.
    ///   - isEstablished: Whether the broker had accepted the connection.
    ///   - areOptionsFixed: Whether the provider always returns the same credentials.
    ///   - wereOptionsRefused: Whether the last refusal of credentials was for the same options.
    ///   - isPlain: Whether the connection used plain TCP, to a port that may need TLS.
    init?(
        closing reason: CloseReason, _ channel: ChannelCloseReason, endpoint: String, isEstablished: Bool,
        areOptionsFixed: Bool = false, wereOptionsRefused: Bool = false, isPlain: Bool = false
    ) {
        switch reason {
        case .requested: return nil
        case .refused(let connAck):
            self.init(refusedBy: endpoint, connAck, areOptionsFixed, wereOptionsRefused: wereOptionsRefused)
        case .versionNotSupported(let next):
            // If the broker closed the connection, mention TLS, because a port that needs TLS closes a plain connection
            // without a reason. If the client closed the connection, do not mention TLS, because the broker has refused
            // the MQTT version in CONNACK.
            let remedy =
                isPlain && channel != .closedByOwner
                ? " If the next attempt fails too, the port may need TLS: use the scheme \"mqtts\", often with port 8883."
                : ""
            self.init(
                .connectionRefused,
                "The broker \(endpoint) does not seem to support the MQTT version of this attempt; "
                    + "the next attempt uses \(next).\(remedy)")
        case .malformedConnect(let error):
            self.init(
                .invalidConfiguration,
                "The connection request to \(endpoint) cannot be encoded: \(error). Correct the connect options.")
        case .connectTimeout:
            self.init(
                .timedOut,
                "The broker \(endpoint) did not answer the connection request in time. "
                    + "Is the server an MQTT broker, and is the port correct?")
        case .disconnectedByServer(let disconnect): self.init(endedBy: endpoint, disconnect, areOptionsFixed)
        case .malformedPacket(let error): self.init(malformed: error, from: endpoint)
        case .protocolError(.maximumPacketSizeTooSmall(let size)):
            self.init(
                .protocolViolation,
                "The broker \(endpoint) accepts packets of at most \(size) bytes (its maximum packet size), "
                    + "but an acknowledgement has 4 bytes. Raise the broker's limit.")
        case .protocolError(let error):
            self.init(
                .protocolViolation,
                "The broker \(endpoint) violated the protocol: \(error.words). The connection was closed. "
                    + "Report this violation to the broker's developers.")
        case .pingTimeout:
            self.init(
                .timedOut,
                "The broker \(endpoint) did not answer a ping in time; the connection is treated as lost.")
        case .acknowledgementTimeout(let packet):
            self.init(
                .timedOut,
                "The broker \(endpoint) did not acknowledge \(packet.type) with packet id \(packet.id) "
                    + "within \(packet.timeout) (`session.acknowledgementTimeout`); the connection is treated as lost.")
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
                "\(error.message), before the broker answered the connection request. "
                    + "Is the port correct, and does the broker require TLS (the scheme \"mqtts\", often port 8883)?",
                cause: error)
        case .failed(let error): self.init(error, isEstablished: isEstablished)
        case .closedByPeer where isEstablished:
            self.init(.connectionLost, "The broker \(endpoint) closed the connection without a reason.")
        case .closedByPeer:
            self.init(
                .connectionFailed,
                "The broker \(endpoint) closed the connection before it answered the connection request. "
                    + "Is the port correct, and does the broker require TLS? The broker's log may say more.")
        case .closedByOwner:
            self.init(
                isEstablished ? .connectionLost : .connectionFailed,
                "This client ended the connection to \(endpoint).")
        }
    }

    private init(
        refusedBy endpoint: String, _ connAck: ConnAck, _ areOptionsFixed: Bool, wereOptionsRefused: Bool
    ) {
        let code = connAck.reasonCode
        let remedy = Self.remedy(
            after: .refused(code), code, areOptionsFixed, wereOptionsRefused: wereOptionsRefused)
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
        // In DISCONNECT, the code 0x00 means "Normal disconnection". In other packets, it means "Success".
        let words =
            disconnect.reasonCode == .success
            ? "Normal disconnection (0x00)" : "\(ReasonCode(disconnect.reasonCode))"
        let remedy = Self.remedy(after: .disconnected(disconnect.reasonCode), disconnect.reasonCode, areOptionsFixed)
        self.init(
            code,
            "The broker \(endpoint) ended the connection: \(words)\(Self.tail(remedy, disconnect.properties))",
            reasonCode: ReasonCode(disconnect.reasonCode))
    }

    /// Returns the remedy after a refusal: the next action of the client, or advice for a person. Returns `nil` if
    /// there is no remedy.
    private static func remedy(
        after cause: LossCause, _ code: PacketReasonCode, _ areOptionsFixed: Bool, wereOptionsRefused: Bool = false
    ) -> String? {
        guard !areOptionsFixed, LossPolicy.row(for: cause).response == .renewCredentials else { return code.remedy }
        if wereOptionsRefused {
            return "The auth provider returned credentials that the broker has already refused. "
                + "Check the user name and the password, or the token."
        }
        return "The credentials were refused; the client asks the auth provider for new credentials."
    }

    private init(malformed error: DecodeError, from endpoint: String) {
        switch error.violation {
        case .connAckOfOlderVersion(let code):
            // The code is a return code of MQTT 3.1.1. Code 4 (bad user name or password) and code 5 (not authorized)
            // mean that the broker refuses the credentials. Every other code is reported as a refused connection.
            self.init(
                code == 4 || code == 5 ? .notAuthorized : .connectionRefused,
                "The broker \(endpoint) refused the connection in MQTT 3.1.1, with return code \(code). "
                    + "Let the client use MQTT 3.1.1 (ProtocolVersionPolicy.version311), "
                    + "and check the credentials and the client id.",
                reasonCode: PacketReasonCode(returnCode: code).map { ReasonCode($0) },
                cause: error)
        case .packetTooLarge(let size, let limit):
            self.init(
                .malformedPacket,
                "The broker \(endpoint) sent a packet of \(size) bytes, but the limit is \(limit). "
                    + "Raise MQTTClientConfig.limits.maximumPacketSize, or let publishers send smaller messages.",
                cause: error)
        default:
            self.init(
                .malformedPacket,
                "The broker \(endpoint) sent bytes that are not an MQTT packet (\(error)). "
                    + "Is the port correct, and is the server an MQTT broker?",
                cause: error)
        }
    }

    /// Returns true if the code means that the broker refused the credentials. The broker may accept other credentials.
    static func isAboutCredentials(_ code: PacketReasonCode) -> Bool {
        switch code {
        case .badUserNameOrPassword, .notAuthorized, .badAuthenticationMethod: true
        default: false
        }
    }

    /// Returns the last part of a sentence about a reason code. The part has the broker's reason string, the remedy,
    /// and the server that the broker named in Server Reference.
    static func tail(_ remedy: String?, _ properties: PacketProperties) -> String {
        let server = properties.serverReference.map { " The broker names \($0.quoted())." } ?? ""
        return "\(properties.quotedReason).\(remedy.map { " \($0)" } ?? "")\(server)"
    }
}
