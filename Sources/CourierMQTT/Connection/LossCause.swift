import CourierTransport
import MQTTCodec

/// The cause of the end of an attempt or a connection. `LossPolicy` has a response to each cause.
enum LossCause: Hashable, Sendable {
    /// CONNACK contained this code.
    case refused(PacketReasonCode)
    /// The server's DISCONNECT contained this code.
    case disconnected(PacketReasonCode)
    /// The server does not support the MQTT version, and the engine has another version to try.
    case otherVersion
    /// CONNECT cannot be written, or the options cannot be used.
    case unusableOptions
    /// The stored messages of an earlier process cannot be read.
    case unreadableStore
    /// The server sent bytes that are not an MQTT packet.
    case malformedPacket
    /// The server sent a packet that MQTT does not allow at this point.
    case protocolViolation
    /// The attempt took too long: no connection was opened in time, or no CONNACK was received in time.
    case connectTimeout
    /// The server was silent for too long, for example after a PINGREQ or a probe.
    case silence
    /// A packet was not acknowledged in time.
    case acknowledgementTimeout
    /// The server closed the byte stream without DISCONNECT.
    case closedByServer
    /// The server closed several connections in a row, soon after CONNACK and without DISCONNECT.
    case repeatedDrops
    /// The client's side closed the byte stream for no known reason.
    case closedHere
    /// The byte stream could not be opened, or broke.
    case transport(TransportProblem)

    /// Failures of the transport, grouped by their remedy.
    enum TransportProblem: Hashable, Sendable, CaseIterable {
        /// Files, keys or options of the transport are wrong.
        case configuration
        /// The server cannot be reached, for example because there is no network or because the port is closed.
        case unreachable
        /// The name of the server does not exist.
        case unknownHost
        /// TLS failed for a reason that may be temporary.
        case tls
        /// The client or the server did not accept the peer's certificate.
        case untrustedCertificate
        /// The server requires a client certificate, and the configuration has none.
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
