import CourierCore
import CourierTransport

extension CourierError {
    /// Whether the client makes no further attempts after this error, unless it has another server.
    /// docs/reference/events.md marks these errors with `stop`.
    var isFinal: Bool {
        switch code {
        case .invalidConfiguration: true
        case .connectionRefused, .notAuthorized: reasonCode.map { Self.finalRefusals.contains($0) } ?? false
        case .secureConnectionFailed: (cause as? TransportError)?.code == .tlsClientCertificateRequired
        default: false
        }
    }

    private static let finalRefusals: Set<ReasonCode> = [
        .unsupportedProtocolVersion, .clientIdentifierNotValid, .banned, .badAuthenticationMethod, .topicNameInvalid,
        .packetTooLarge, .payloadFormatInvalid, .retainNotSupported, .qosNotSupported,
    ]
}
