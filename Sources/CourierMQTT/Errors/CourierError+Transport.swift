import CourierCore
import CourierTransport

extension CourierError {
    /// Creates the error for a failure of the transport, with the transport's own text. This text names the peer and
    /// the remedy. If the certificate authority is unknown, the error also names the property for trusted authorities.
    ///
    /// - Parameters:
    ///   - error: The error that the transport reported.
    ///   - isEstablished: Whether the broker had accepted the connection; `false` by default.
    init(_ error: TransportError, isEstablished: Bool = false) {
        let property = error.code == .tlsUnknownAuthority ? ", the property `trust` of `config.tls`" : ""
        self.init(
            Self.code(of: error.code, isEstablished: isEstablished), "\(error.message)\(property)", cause: error)
    }

    private static func code(of code: TransportError.Code, isEstablished: Bool) -> Code {
        switch code {
        case .invalidConfiguration, .badCertificateFile, .badPrivateKeyFile, .wrongPassPhrase, .keyMismatch,
            .invalidDescriptor:
            .invalidConfiguration
        case .connectTimedOut: .timedOut
        case .tlsHandshakeFailed, .tlsUnknownAuthority, .tlsHostNameMismatch, .tlsCertificateExpired,
            .tlsCertificateNotYetValid, .tlsCertificateRejected, .tlsPinMismatch, .tlsProtocolVersion,
            .tlsClientCertificateRequired, .tlsClientCertificateRejected, .tlsNoCommonProtocol, .tlsNotSpoken,
            .closedDuringHandshake:
            .secureConnectionFailed
        // Before CONNACK, a TLS alert counts as a failed secure connection, even after the handshake. In TLS 1.3, the
        // server checks the client certificate after the client has finished the handshake. If the server rejects the
        // certificate, it sends an alert.
        case .tlsAlert: isEstablished ? .connectionLost : .secureConnectionFailed
        case .hostNotFound, .nameResolutionFailed, .connectionRefused, .unreachable, .permissionDenied,
            .tooManyDescriptors,
            .addressInUse, .socketNotFound, .proxyFailed, .proxyRefused, .proxyAuthenticationFailed,
            .webSocketRefused, .webSocketRedirected, .webSocketHandshakeFailed, .webSocketSubprotocolRefused:
            .connectionFailed
        case .webSocketUnauthorized: .notAuthorized
        case .webSocketViolation, .answersUnread: .protocolViolation
        default: isEstablished ? .connectionLost : .connectionFailed
        }
    }
}
