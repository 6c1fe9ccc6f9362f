import CourierCore
import CourierTransport

extension CourierError {
    /// Whether the client tries no more after it, unless it has another server to try: docs/reference/events.md has `stop` there.
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
