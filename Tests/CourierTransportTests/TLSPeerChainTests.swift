import TestSupport
import Testing

@testable import CourierTransport

/// The peer's certificates that a handshake reports, over a real socket.
@Suite struct TLSPeerChainTests {
    /// Returns all chains that were reported during one handshake with a server of this identity, and the handshake's
    /// error.
    private func handshake(
        _ identity: String, host: String = "localhost", trust: TLSClientConfiguration.Trust? = nil
    ) async throws -> (chains: [TLSPeerChain], error: TransportError?) {
        let loop = try EventLoop()
        let seen = Series<TLSPeerChain>()
        var configuration = try await Certificates.shared.client
        if let trust { configuration.trust = trust }
        configuration.peerChainSeen = { seen.append($0) }
        let server = TLSServerConfiguration(identity: try await Certificates.shared.identity(identity))
        let listener = try ChannelListener.listen(tls: TLSContext(server: server), loop: loop) { _ in Echo() }
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: .tcp(host: host, port: listener.port), tls: try TLSContext(client: configuration), on: loop,
            handler: recorder)
        channel.send([1])
        // Returns without bytes if the channel was closed.
        let isOpen = try await recorder.bytes(1) == [1]
        let error = isOpen ? nil : try await recorder.failure()
        await loop.shutdown()
        return (seen.values, error)
    }

    @Test func `a trusted certificate chain is reported once, including the authority's certificate`() async throws {
        let (chains, error) = try await handshake("chained")
        #expect(error == nil)
        let chain = try #require(chains.first)
        #expect(chains.count == 1 && chain.verdict == .trusted)
        #expect(chain.certificates.map(\.subject) == ["CN=unchained", "CN=middle-ca", "CN=ca"])
        #expect(chain.certificates.map(\.issuer) == ["CN=middle-ca", "CN=ca", "CN=ca"])
        #expect(chain.certificates.map(\.isSelfSigned) == [false, false, true])
        #expect(chain.certificates[0].names == ["localhost", "127.0.0.1"])
        // The first second of the year 2020, and of 2090.
        #expect(chain.certificates[0].notBefore == 1_577_836_800 && chain.certificates[0].notAfter == 3_786_912_000)
    }

    @Test func `IPv4 and IPv6 addresses in a certificate are reported as text`() async throws {
        let (chains, _) = try await handshake("server")
        #expect(chains.first?.certificates.first?.names == ["localhost", "127.0.0.1", "::1"])
    }

    @Test(arguments: [
        ("expired", TransportError.Code.tlsCertificateExpired, ["CN=expired", "CN=ca"]),
        ("early", .tlsCertificateNotYetValid, ["CN=early", "CN=ca"]),
        ("elsewhere", .tlsHostNameMismatch, ["CN=elsewhere", "CN=ca"]),
        ("stranger", .tlsUnknownAuthority, ["CN=stranger"]), ("unchained", .tlsUnknownAuthority, ["CN=unchained"]),
        ("self-signed", .tlsUnknownAuthority, ["CN=self-signed"]),
        // Signed by another authority with the same name.
        ("forged", .tlsCertificateRejected, ["CN=forged", "CN=ca"]),
    ])
    func `a refused certificate chain is reported with the position of the refused certificate`(
        identity: String, code: TransportError.Code, subjects: [String]
    ) async throws {
        let (chains, error) = try await handshake(identity)
        #expect(error?.code == code)
        #expect(chains.map { $0.certificates.map(\.subject) } == [subjects])
        #expect(chains.first?.verdict == .refused(at: 0))
    }

    @Test func `if verification is disabled, the certificates from the peer are reported as unchecked`() async throws {
        let (chains, error) = try await handshake("chained", host: "127.0.0.1", trust: .insecureSkipsVerification)
        #expect(error == nil && chains.map(\.verdict) == [.unchecked])
        #expect(chains.first?.certificates.map(\.subject) == ["CN=unchained", "CN=middle-ca"])
        let (expired, _) = try await handshake("expired", trust: .insecureSkipsVerification)
        #expect(expired.first?.certificates.map(\.subject) == ["CN=expired"])
    }
}
