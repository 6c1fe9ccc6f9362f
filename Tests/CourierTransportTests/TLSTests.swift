import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierTransport

@Suite struct TLSTests {
    /// The handlers and the client's channel of one connection.
    struct Outcome {
        let recorder: Recorder
        let echo: Echo
        let channel: ByteChannel
    }

    private func connect(
        _ loop: EventLoop, _ client: TLSContext, _ server: TLSServerConfiguration, host: String = "localhost"
    ) throws -> Outcome {
        try connect(loop, client, TLSContext(server: server), host: host)
    }

    private func connect(
        _ loop: EventLoop, _ client: TLSContext, _ server: TLSContext, host: String = "localhost"
    ) throws -> Outcome {
        let echo = Echo()
        let listener = try ChannelListener.listen(tls: server, loop: loop) { _ in echo }
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: .tcp(host: host, port: listener.port), tls: client, on: loop, handler: recorder)
        channel.send([1, 2, 3])
        return Outcome(recorder: recorder, echo: echo, channel: channel)
    }

    private func server(_ name: String = "server") async throws -> TLSServerConfiguration {
        TLSServerConfiguration(identity: try await Certificates.shared.identity(name))
    }

    private func clientFailure(
        _ change: (inout TLSClientConfiguration) throws -> Void = { _ in }, server: TLSServerConfiguration,
        host: String = "localhost"
    ) async throws -> TransportError {
        let loop = try EventLoop()
        var configuration = try await Certificates.shared.client
        try change(&configuration)
        let outcome = try connect(loop, TLSContext(client: configuration), server, host: host)
        let error = try await outcome.recorder.failure()
        await loop.shutdown()
        return error
    }

    private func success(
        _ change: (inout TLSClientConfiguration) throws -> Void = { _ in }, server: TLSServerConfiguration,
        host: String = "localhost"
    ) async throws -> (client: TLSSummary, server: TLSSummary) {
        let loop = try EventLoop()
        var configuration = try await Certificates.shared.client
        try change(&configuration)
        let outcome = try connect(loop, TLSContext(client: configuration), server, host: host)
        let bytes = try await outcome.recorder.bytes(3)
        #expect(bytes == [1, 2, 3], "\(outcome.recorder)")
        let client = await outcome.channel.onLoop { $0.security }
        await loop.shutdown()
        return (try #require(client), try #require(outcome.echo.security.value))
    }

    // MARK: Server certificates

    @Test func `a valid server certificate is accepted for a host name and for an IP address`() async throws {
        let named = try await success(server: server())
        #expect(named.client.version == "TLSv1.3")
        #expect(named.server.serverName == "localhost")
        let numeric = try await success(server: server(), host: "127.0.0.1")
        #expect(numeric.server.serverName == nil)
    }

    @Test func `a certificate for another host is refused`() async throws {
        let error = try await clientFailure(server: server("elsewhere"))
        #expect(error.code == .tlsHostNameMismatch)
        #expect(error.message.hasSuffix("is not for “localhost”"))
    }

    @Test func `a certificate with only a common name is refused, even if that name matches`() async throws {
        let error = try await clientFailure(server: server("nameless"))
        #expect(error.code == .tlsHostNameMismatch)
        #expect(
            error.message.hasSuffix(
                "has no subject alternative name, and its common name is ignored; its owner has to renew the "
                    + "certificate with the alternative name “localhost”"), "\(error.message)")
    }

    @Test
    func `if acceptsCommonName is set, a common name is accepted for a matching host name, not for an IP address`()
        async throws
    {
        let summary = try await success({ $0.acceptsCommonName = true }, server: server("nameless"))
        #expect(summary.client.version == "TLSv1.3")
        for name in ["elsewhere.example", "127.0.0.1"] {
            let error = try await clientFailure(
                {
                    $0.acceptsCommonName = true
                    $0.serverName = name
                }, server: server("nameless"))
            #expect(error.code == .tlsHostNameMismatch)
        }
    }

    @Test func `a certificate for another IP address is refused`() async throws {
        let error = try await clientFailure(server: server("elsewhere"), host: "127.0.0.1")
        #expect(error.code == .tlsHostNameMismatch)
    }

    @Test func `a configured serverName is used instead of the host name`() async throws {
        let summaries = try await success({ $0.serverName = "elsewhere.example" }, server: server("elsewhere"))
        #expect(summaries.server.serverName == "elsewhere.example")
    }

    @Test func `an expired certificate is refused`() async throws {
        let error = try await clientFailure(server: server("expired"))
        #expect(error.code == .tlsCertificateExpired)
        #expect(error.message.contains("has expired"))
    }

    @Test func `a certificate that is not valid yet is refused`() async throws {
        let error = try await clientFailure(server: server("early"))
        #expect(error.code == .tlsCertificateNotYetValid)
    }

    @Test func `a certificate of an unknown authority is refused`() async throws {
        let error = try await clientFailure(server: server("stranger"))
        #expect(error.code == .tlsUnknownAuthority)
        let system = try await clientFailure({ $0.trust = .systemRoots }, server: server())
        #expect(system.code == .tlsUnknownAuthority)
    }

    @Test func `certificate authorities from a directory are trusted`() async throws {
        let certificates = try await Certificates.shared
        let folder = try TemporaryFolder()
        let hash = try Certificates.subjectHash(certificates.authorityFile)
        try FileManager.default.copyItem(atPath: certificates.authorityFile, toPath: folder.file("\(hash).0"))
        _ = try await success({ $0.trust = .authoritiesDirectory(folder.path) }, server: server())
    }

    @Test(.enabled(if: FullDescriptorTable.isPossible, FullDescriptorTable.requirement))
    func `if no descriptor is free, loading the system's authorities fails with tooManyDescriptors`() throws {
        let configuration = TLSClientConfiguration()
        _ = try TLSContext(client: configuration)
        let error = try FullDescriptorTable.failure { _ = try TLSContext(client: configuration) }
        #expect(error?.code == .tooManyDescriptors)
        #expect(error?.message.contains("could be read from the system's file") == true)
    }

    @Test(.enabled(if: FullDescriptorTable.isPossible, FullDescriptorTable.requirement))
    func `if no descriptor is free, verifying a certificate fails with tooManyDescriptors`() async throws {
        let certificates = try await Certificates.shared
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let hash = try Certificates.subjectHash(certificates.authorityFile)
        try FileManager.default.copyItem(atPath: certificates.authorityFile, toPath: folder.file("\(hash).0"))
        var configuration = certificates.client
        configuration.trust = .authoritiesDirectory(folder.path)
        let client = try TLSContext(client: configuration)
        let server = try TLSContext(server: TLSServerConfiguration(identity: certificates.server))
        let error = try FullDescriptorTable.failure {
            try TLSPair(client: client, server: server).shakeHands()
        }
        #expect(error?.code == .tooManyDescriptors)
        #expect(error?.message.contains("the certificate of peer could not be checked") == true)
        // The same handshake succeeds once there are free descriptors.
        try TLSPair(client: client, server: server).shakeHands()
    }

    @Test func `insecureSkipsVerification accepts a certificate of an unknown authority`() async throws {
        _ = try await success({ $0.trust = .insecureSkipsVerification }, server: server("stranger"))
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `if checksServerName is false, any host name is accepted, but authority and expiry are verified`(
        host: String
    ) async throws {
        let summaries = try await success({ $0.checksServerName = false }, server: server("elsewhere"), host: host)
        #expect(summaries.server.serverName == (host == "localhost" ? host : nil))
        for (name, code) in [
            ("stranger", TransportError.Code.tlsUnknownAuthority), ("expired", .tlsCertificateExpired),
        ] {
            let error = try await clientFailure({ $0.checksServerName = false }, server: server(name), host: host)
            #expect(error.code == code)
        }
    }

    @Test func `a TLS connection without a server name to verify fails with invalidConfiguration`() async throws {
        let loop = try EventLoop()
        let (here, _) = MemoryStream.pair()
        let recorder = Recorder()
        let context = try TLSContext(client: try await Certificates.shared.client)
        ByteChannel.connect(to: .stream(here), tls: context, on: loop, handler: recorder)
        let error = try await recorder.failure()
        #expect(error.code == .invalidConfiguration)
        await loop.shutdown()
    }

    // MARK: Pins

    @Test func `a server is accepted if the pin matches the key of the server or of the authority`() async throws {
        let certificates = try await Certificates.shared
        for name in ["server", "ca"] {
            let pin = try certificates.pin(name)
            _ = try await success({ $0.pins = [pin] }, server: server())
        }
    }

    @Test func `a server is refused if no key matches the pin, even if verification is disabled`() async throws {
        let pin = try await Certificates.shared.pin("elsewhere")
        let error = try await clientFailure({ $0.pins = [pin] }, server: server())
        #expect(error.code == .tlsPinMismatch)
        let unverified = try await clientFailure(
            {
                $0.pins = [pin]
                $0.trust = .insecureSkipsVerification
            }, server: server())
        #expect(unverified.code == .tlsPinMismatch)
    }

    @Test func `a TLSPin must have exactly 32 bytes`() throws {
        #expect(throws: TransportError.self) { try TLSPin(sha256: [1, 2, 3]) }
        #expect(throws: TransportError.self) { try TLSPin(hex: "xyz") }
        #expect(try TLSPin(hex: String(repeating: "0f", count: 32)).sha256 == Array(repeating: 15, count: 32))
    }

    // MARK: Client certificates

    @Test func `a server that requires a client certificate accepts a client with a certificate`() async throws {
        var configuration = try await server()
        configuration.clientAuthoritiesFile = try await Certificates.shared.authorityFile
        let identity = try await Certificates.shared.identity("client")
        _ = try await success({ $0.identity = identity }, server: configuration)
        let locked = try await Certificates.shared.identity("locked", passPhrase: "open sesame")
        _ = try await success({ $0.identity = locked }, server: configuration)
    }

    @Test func `a client without a certificate fails with tlsClientCertificateRequired if the server requires it`()
        async throws
    {
        var configuration = try await server()
        configuration.clientAuthoritiesFile = try await Certificates.shared.authorityFile
        let error = try await clientFailure(server: configuration)
        #expect(error.code == .tlsClientCertificateRequired)
    }

    @Test func `a client certificate of an unknown authority is refused`() async throws {
        var configuration = try await server()
        configuration.clientAuthoritiesFile = try await Certificates.shared.authorityFile
        let identity = try await Certificates.shared.identity("stranger")
        let error = try await clientFailure({ $0.identity = identity }, server: configuration)
        #expect(error.code == .tlsClientCertificateRejected)
    }

    private func configurationError(_ identity: TLSIdentity) -> TransportError? {
        var configuration = TLSClientConfiguration()
        configuration.identity = identity
        do throws(TransportError) {
            _ = try TLSContext(client: configuration)
            return nil
        } catch {
            return error
        }
    }

    @Test func `the error for a wrong or missing pass phrase names the key file`() async throws {
        let wrong = try #require(
            configurationError(try await Certificates.shared.identity("locked", passPhrase: "not this")))
        #expect(wrong.code == .wrongPassPhrase)
        #expect(wrong.message.contains("locked.key is wrong"))
        let missing = try #require(configurationError(try await Certificates.shared.identity("locked")))
        #expect(missing.code == .wrongPassPhrase)
        #expect(missing.message.contains("locked.key is missing"))
    }

    @Test func `missing, invalid and mismatched TLS files cause different errors`() async throws {
        let good = try await Certificates.shared.identity("client")
        var identity = TLSIdentity(certificateFile: "/nowhere/client.pem", privateKeyFile: good.privateKeyFile)
        #expect(configurationError(identity)?.code == .badCertificateFile)
        #expect(
            configurationError(identity)?.message
                == "no certificate could be read from /nowhere/client.pem: No such file or directory")
        identity = TLSIdentity(certificateFile: good.certificateFile, privateKeyFile: "/nowhere/client.key")
        let missing = try #require(configurationError(identity))
        #expect(missing.code == .badPrivateKeyFile)
        #expect(missing.message.hasSuffix("/nowhere/client.key: No such file or directory"))
        identity = TLSIdentity(certificateFile: good.certificateFile, privateKeyFile: good.certificateFile)
        #expect(configurationError(identity)?.code == .badPrivateKeyFile)
        identity = TLSIdentity(
            certificateFile: good.certificateFile,
            privateKeyFile: try await Certificates.shared.identity("server").privateKeyFile)
        #expect(configurationError(identity)?.code == .keyMismatch)
        var trusting = TLSClientConfiguration()
        trusting.trust = .authoritiesFile("/nowhere/ca.pem")
        let error = #expect(throws: TransportError.self) { try TLSContext(client: trusting) }
        #expect(error?.message.hasSuffix("/nowhere/ca.pem: No such file or directory") == true)
    }

    @Test func `printing or dumping a configuration never shows the pass phrase`() {
        let identity = TLSIdentity(certificateFile: "a", privateKeyFile: "b", passPhrase: "hush")
        var configuration = TLSClientConfiguration()
        configuration.identity = identity
        var text = "\(identity) \(String(reflecting: identity)) \(configuration) \(String(reflecting: configuration))"
        dump(configuration, to: &text)
        #expect(!text.contains("hush"))
    }

    // MARK: Protocols

    @Test func `the TLS handshake chooses a common application protocol, and fails if there is no common protocol`()
        async throws
    {
        var configuration = try await server()
        configuration.applicationProtocols = ["mqtt", "other"]
        let summaries = try await success({ $0.applicationProtocols = ["http/1.1", "mqtt"] }, server: configuration)
        #expect(summaries.client.applicationProtocol == "mqtt")
        #expect(summaries.server.applicationProtocol == "mqtt")
        let error = try await clientFailure({ $0.applicationProtocols = ["h2"] }, server: configuration)
        #expect(error.code == .tlsNoCommonProtocol)
    }

    @Test func `if minimumVersion is TLS 1.3, a TLS 1.2 server is refused`() async throws {
        _ = try await success({ $0.minimumVersion = .tls13 }, server: server())
        let old = try TLSContext(server: try await server())
        old.limitForTests(toTLS12: true)
        let loop = try EventLoop()
        var configuration = try await Certificates.shared.client
        configuration.minimumVersion = .tls13
        let outcome = try connect(loop, TLSContext(client: configuration), old)
        let error = try await outcome.recorder.failure()
        #expect(error.code == .tlsProtocolVersion)
        await loop.shutdown()
    }

    @Test func `a server that supports at most TLS 1.1 is refused`() async throws {
        let certificates = try await Certificates.shared
        let peer = try OpenSSLServer(certificates, ["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"])
        let loop = try EventLoop()
        let recorder = Recorder()
        ByteChannel.connect(
            to: .tcp(host: "localhost", port: try peer.port()), tls: try TLSContext(client: certificates.client),
            on: loop, handler: recorder)
        let error = try await recorder.failure()
        #expect(error.code == .tlsProtocolVersion, "\(error)")
        await loop.shutdown()
        peer.stop()
    }

    @Test func `a peer that does not speak TLS is reported as tlsNotSpoken`() async throws {
        let loop = try EventLoop()
        let listener = try ChannelListener.listen(loop: loop) { _ in
            Recorder(onOpen: { $0.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8).span.bytes) })
        }
        let recorder = Recorder()
        ByteChannel.connect(
            to: .tcp(host: "localhost", port: listener.port),
            tls: try TLSContext(client: try await Certificates.shared.client), on: loop, handler: recorder)
        #expect(try await recorder.failure().code == .tlsNotSpoken)
        await loop.shutdown()
    }

    @Test func `a peer that closes during the TLS handshake is reported as closedDuringHandshake`() async throws {
        let loop = try EventLoop()
        let listener = try ChannelListener.listen(loop: loop) { _ in Recorder(onOpen: { $0.close() }) }
        let recorder = Recorder()
        ByteChannel.connect(
            to: .tcp(host: "localhost", port: listener.port),
            tls: try TLSContext(client: try await Certificates.shared.client), on: loop, handler: recorder)
        let error = try await recorder.failure()
        #expect(error.code == .closedDuringHandshake)
        #expect(error.message.hasSuffix("; does this port speak TLS?"))
        await loop.shutdown()
    }

    @Test func `a reset during the TLS handshake is reported with a hint that the port may not speak TLS`()
        async throws
    {
        let loop = try EventLoop()
        let peer = Recorder()
        let listener = try ChannelListener.listen(loop: loop) { _ in peer }
        let recorder = Recorder()
        ByteChannel.connect(
            to: .tcp(host: "localhost", port: listener.port),
            tls: try TLSContext(client: try await Certificates.shared.client), on: loop, handler: recorder)
        try await peer.log.wait("the client's hello") { $0.bytes.count > 0 }
        let accepted = try await peer.open()
        await accepted.onLoop { $0.abort() }
        let error = try await recorder.failure()
        #expect(error.code == .closedDuringHandshake)
        #expect(error.message.hasSuffix(" in the middle of the TLS handshake; does this port speak TLS?"))
        await loop.shutdown()
    }

    @Test func `a TLS handshake that the peer does not answer fails at the connect timeout`() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let silent = Recorder()
        let listener = try ChannelListener.listen(loop: loop) { _ in silent }
        let recorder = Recorder()
        ByteChannel.connect(
            to: .tcp(host: "localhost", port: listener.port),
            tls: try TLSContext(client: try await Certificates.shared.client), on: loop, handler: recorder)
        try await silent.log.wait("the client's hello") { $0.bytes.count > 0 }
        clock.advance(by: .seconds(30))
        let error = try await recorder.failure()
        #expect(error.code == .connectTimedOut)
        #expect(error.message.contains("the TLS handshake did not finish"))
        await loop.shutdown()
    }

    // MARK: Resumption and closing

    @Test(arguments: [false, true], [false, true])
    func `a new connection to the same host resumes the TLS session, even after an abort`(
        _ isTLS12: Bool, _ isCut: Bool
    ) async throws {
        let loop = try EventLoop()
        let client = try TLSContext(client: try await Certificates.shared.client)
        let server = try TLSContext(server: try await server())
        if isTLS12 { server.limitForTests(toTLS12: true) }
        let listener = try ChannelListener.listen(tls: server, loop: loop) { _ in Echo() }
        var resumed: [Bool?] = []
        for _ in 0..<4 {
            let recorder = Recorder()
            let channel = ByteChannel.connect(
                to: .tcp(host: "localhost", port: listener.port), tls: client, on: loop, handler: recorder)
            channel.send([1, 2, 3])
            #expect(try await recorder.bytes(3) == [1, 2, 3])
            resumed.append(await channel.onLoop { $0.security?.isResumed })
            await channel.onLoop { isCut ? $0.abort() : $0.close() }
            _ = try await recorder.end()
        }
        #expect(resumed == [false, true, true, true])
        await loop.shutdown()
    }

    @Test func `a TLS connection that ends without a TLS close message is reported as truncated`() async throws {
        let loop = try EventLoop()
        let client = try TLSContext(client: try await Certificates.shared.client)
        let server = try TLSContext(server: try await server())
        for isCut in [false, true] {
            let accepted = Recorder()
            let listener = try ChannelListener.listen(tls: server, loop: loop) { _ in accepted }
            let recorder = Recorder()
            ByteChannel.connect(
                to: .tcp(host: "localhost", port: listener.port), tls: client, on: loop, handler: recorder)
            _ = try await recorder.open()
            let peer = try await accepted.open()
            await peer.onLoop { peer in
                if isCut { peer.stream?.closeOutput() } else { peer.close() }
            }
            if isCut {
                #expect(try await recorder.failure().code == .truncated)
            } else {
                #expect(try await recorder.end() == .closedByPeer)
            }
        }
        await loop.shutdown()
    }

    /// With the small buffer, a record does not fit into it, and its rest waits inside OpenSSL.
    @Test(arguments: [EventLoop.readBufferSize, 4_096])
    func `a TLS channel loses no bytes if reading is paused and resumed`(_ bufferSize: Int) async throws {
        let loop = try EventLoop(readBufferSize: bufferSize)
        let client = try TLSContext(client: try await Certificates.shared.client)
        let server = try TLSContext(server: try await server())
        let listener = try ChannelListener.listen(tls: server, loop: loop) { _ in Echo() }
        var random = SeededGenerator(seed: 8)
        let bytes = random.bytes(2 << 20)
        let reader = PausingReader()
        let channel = ByteChannel.connect(
            to: .tcp(host: "localhost", port: listener.port), tls: client, on: loop, handler: reader)
        channel.send(bytes)
        let received = try await reader.bytes.wait("everything") { $0.count >= bytes.count }
        #expect(received == bytes)
        await loop.shutdown()
    }
}

/// Pauses reading after each call of `received`, and resumes in the loop's next round.
///
/// Safe: used on the loop only.
private final class PausingReader: ChannelHandler, @unchecked Sendable {
    let bytes = Watched<[UInt8]>([])
    private var channel: ByteChannel?

    func opened(_ channel: ByteChannel) { self.channel = channel }

    func received(_ span: RawSpan) -> Int {
        let taken = max(1, span.byteCount * 2 / 3)
        let copy = span.withUnsafeBytes { Array($0[..<taken]) }
        bytes.update { $0 += copy }
        if let channel {
            channel.pauseReading()
            channel.loop.execute { channel.resumeReading() }
        }
        return taken
    }

    func closed(_ reason: ChannelCloseReason) { channel = nil }
}
