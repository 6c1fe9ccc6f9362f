import CourierCore
import CourierTransport

extension CourierError {
    /// A failure of the transport, in its own words: they name the peer and the remedy.
    ///
    /// - Parameters:
    ///   - error: What the transport reported.
    ///   - isEstablished: Whether the broker had accepted the connection; `false` by default.
    init(_ error: TransportError, isEstablished: Bool = false) {
        self.init(Self.code(of: error.code, isEstablished: isEstablished), error.message, cause: error)
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
        // In TLS 1.3 the server's word on our certificate comes after the handshake, as an alert.
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
