import CourierTesting
import CourierTransport
import TestSupport

/// A broker that is reachable through a wire, with the settings for its clients.
struct WireBroker: Sendable {
    private enum Kind: Sendable {
        case mosquitto(RealBroker)
        case loopback(LoopbackBroker)
    }

    let wire: Wire
    private let kind: Kind
    private let certificates: Certificates
    /// The folder of the Unix socket. It exists as long as the broker is used.
    private let folder: TemporaryFolder

    /// Starts the broker. With TLS, the broker has the certificate `identity`.
    init(_ wireCase: WireCase, identity: String = "server") async throws {
        wire = wireCase.wire
        certificates = try await .shared
        folder = try TemporaryFolder()
        let socket = folder.file("broker.sock")
        switch wireCase.peer {
        case .mosquitto:
            kind = .mosquitto(
                try await RealBroker(
                    settings: Self.mosquittoSettings(wire, certificates.identity(identity), certificates),
                    socketPath: wire == .unix ? socket : nil))
        case .loopback:
            var configuration = BrokerConfiguration()
            configuration.maximumPacketSize = 2 << 20
            kind = .loopback(
                try LoopbackBroker.start(
                    on: wire == .unix ? .unix(path: socket) : .tcp(),
                    tls: try Self.serverContext(wire, certificates.identity(identity), certificates),
                    configuration: configuration))
        }
    }

    /// Runs `body` with a broker, and stops the broker afterwards, even after an error.
    static func with<Result: Sendable>(
        _ wireCase: WireCase, identity: String = "server",
        _ body: @Sendable (WireBroker) async throws -> Result
    ) async throws -> Result {
        let broker = try await WireBroker(wireCase, identity: identity)
        do {
            let result = try await body(broker)
            await broker.shutdown()
            return result
        } catch {
            await broker.shutdown()
            throw error
        }
    }

    private static func mosquittoSettings(
        _ wire: Wire, _ identity: TLSIdentity, _ certificates: Certificates
    ) -> String {
        guard wire.isSecure else { return "" }
        return """
            cafile \(certificates.authorityFile)
            certfile \(identity.certificateFile)
            keyfile \(identity.privateKeyFile)
            require_certificate \(wire == .mutualTLS)
            """
    }

    private static func serverContext(
        _ wire: Wire, _ identity: TLSIdentity, _ certificates: Certificates
    ) throws -> TLSContext? {
        guard wire.isSecure else { return nil }
        var configuration = TLSServerConfiguration(identity: identity)
        if wire == .mutualTLS { configuration.clientAuthoritiesFile = certificates.authorityFile }
        return try TLSContext(server: configuration)
    }

    /// The TCP port; 0 if the wire has none.
    var port: UInt16 {
        switch kind {
        case .mosquitto(let broker): broker.port
        case .loopback(let broker): broker.port
        }
    }

    /// The path of the Unix socket.
    var socketPath: String { folder.file("broker.sock") }

    /// The address of the next connection. With TLS, the address is a name, because the certificate's name is
    /// checked.
    var endpoint: TransportEndpoint {
        switch (wire, kind) {
        case (.memory, .loopback(let broker)): broker.connectInMemory(bytesPerCall: 1_000)
        case (.tls, _), (.mutualTLS, _): .tcp(host: "localhost", port: port)
        case (.unix, _): .unix(path: socketPath)
        case (.tcp, _), (.memory, .mosquitto): .tcp(host: "127.0.0.1", port: port)
        }
    }

    /// The TLS settings of a client. The client trusts only the test authority, and has a certificate if the broker
    /// requires it.
    var clientTLS: TLSClientConfiguration? {
        guard wire.isSecure else { return nil }
        var configuration = certificates.client
        if wire == .mutualTLS { configuration.identity = certificates.identity("client") }
        return configuration
    }

    func shutdown() async {
        switch kind {
        case .mosquitto(let broker): await broker.stop()
        case .loopback(let broker): await broker.shutdown()
        }
    }
}
