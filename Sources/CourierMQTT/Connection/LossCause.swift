import CourierTransport
import MQTTCodec

/// The cause of the end of an attempt or a connection, as far as the policy needs it.
enum LossCause: Hashable, Sendable {
    /// The CONNACK carried this code.
    case refused(PacketReasonCode)
    /// The server's DISCONNECT carried this code.
    case disconnected(PacketReasonCode)
    /// The server does not speak the version, and the engine has another one to try.
    case otherVersion
    /// CONNECT cannot be written, or the options cannot be used.
    case unusableOptions
    /// The rows of an earlier process cannot be read.
    case unreadableStore
    /// The server sent bytes that are not an MQTT packet.
    case malformedPacket
    /// The server sent a packet that is not allowed there.
    case protocolViolation
    /// No connection, or no CONNACK, in time.
    case connectTimeout
    /// PINGREQ, a probe, or anything at all went unanswered for too long.
    case silence
    /// A packet was not acknowledged in time.
    case acknowledgementTimeout
    /// The server closed the byte stream without a word.
    case closedByServer
    /// The same, several times in a row, each time right after CONNACK.
    case repeatedDrops
    /// Our side closed the byte stream for no reason that the client knows of.
    case closedHere
    /// The byte stream could not be opened, or broke.
    case transport(TransportProblem)

    /// Failures of the transport, grouped by their remedy.
    enum TransportProblem: Hashable, Sendable, CaseIterable {
        /// Files, keys or options of the transport are wrong.
        case configuration
        /// The way to the server, its name or its port failed.
        case unreachable
        /// The name of the server does not exist.
        case unknownHost
        /// TLS failed for a reason that may pass.
        case tls
        /// The client or the server did not accept the peer's certificate.
        case untrustedCertificate
        /// The server wants a client certificate and there is none to show.
        case clientCertificateMissing
        /// An open connection broke.
        case broken
        /// The event loop has ended.
        case loopEnded

        init(_ code: TransportError.Code) {
            switch code {
            case .invalidDescriptor: self = .configuration
            case .tlsClientCertificateRequired: self = .clientCertificateMissing
            case .hostNotFound: self = .unknownHost
            case .tlsUnknownAuthority, .tlsHostNameMismatch, .tlsCertificateExpired, .tlsCertificateNotYetValid,
                .tlsCertificateRejected, .tlsPinMismatch, .tlsClientCertificateRejected:
                self = .untrustedCertificate
            case .loopShutDown: self = .loopEnded
            default:
                switch code.number {
                case ..<200: self = .configuration
                case ..<300: self = .unreachable
                case ..<400: self = .tls
                default: self = .broken
                }
            }
        }
    }
}
