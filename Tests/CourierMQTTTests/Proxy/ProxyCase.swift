import CourierTransport
import TestSupport
import Testing

/// The proxy and the protocol between a client and its broker.
struct ProxyCase: Sendable, CustomTestStringConvertible {
    let kind: ProxyConfiguration.Kind
    let hasUser: Bool
    let isSecure: Bool

    static let all = ProxyConfiguration.Kind.allCases.flatMap { kind in
        [false, true].flatMap { hasUser in
            [false, true].map { ProxyCase(kind: kind, hasUser: hasUser, isSecure: $0) }
        }
    }

    var testDescription: String {
        "\(kind) \(hasUser ? "with" : "without") a password, \(isSecure ? "TLS" : "plain") behind it"
    }

    func startProxy() async throws -> RealProxy {
        try await RealProxy(kind, user: hasUser ? "user" : nil, password: "hunter2")
    }

    func startBroker(_ certificates: Certificates) async throws -> RealBroker {
        let identity = certificates.server
        return try await RealBroker(
            settings: isSecure
                ? """
                certfile \(identity.certificateFile)
                keyfile \(identity.privateKeyFile)
                """ : "")
    }
}
