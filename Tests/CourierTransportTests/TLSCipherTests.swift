import TestSupport
import Testing

@testable import CourierTransport

@Suite struct TLSCipherTests {
    /// Returns the TLS parameters that a client and a server negotiate.
    private func summary(_ change: (inout TLSClientConfiguration) -> Void, toTLS12: Bool) async throws -> TLSSummary? {
        let loop = try EventLoop()
        var configuration = try await Certificates.shared.client
        change(&configuration)
        let client = try TLSContext(client: configuration)
        if toTLS12 { client.limitForTests(toTLS12: true) }
        let server = TLSServerConfiguration(identity: try await Certificates.shared.identity("server"))
        let listener = try ChannelListener.listen(tls: try TLSContext(server: server), loop: loop) { _ in Echo() }
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: .tcp(host: "localhost", port: listener.port), tls: client, on: loop, handler: recorder)
        channel.send([1])
        #expect(try await recorder.bytes(1) == [1])
        let summary = await channel.onLoop { $0.security }
        await loop.shutdown()
        return summary
    }

    private func refusal(_ change: (inout TLSClientConfiguration) -> Void) async throws -> TransportError? {
        var configuration = try await Certificates.shared.client
        change(&configuration)
        do throws(TransportError) {
            _ = try TLSContext(client: configuration)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a TLS 1.2 connection uses a cipher suite from the configured list`() async throws {
        // The server's key decides which of the two suites is used.
        let list = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"
        let summary = try await summary({ $0.ciphers = list }, toTLS12: true)
        #expect(summary?.version == "TLSv1.2")
        #expect(list.split(separator: ":").contains { $0 == summary?.cipherSuite ?? "" })
    }

    @Test(arguments: ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256"])
    func `a TLS 1.3 connection uses the configured cipher suite`(_ suite: String) async throws {
        let summary = try await summary({ $0.cipherSuites = suite }, toTLS12: false)
        #expect(summary?.version == "TLSv1.3" && summary?.cipherSuite == suite)
    }

    @Test func `an invalid cipher list is refused, and the error contains the list`() async throws {
        for change in [{ $0.ciphers = "NONSENSE" }, { $0.cipherSuites = "NONSENSE" }]
            as [(inout TLSClientConfiguration) -> Void]
        {
            let error = try await refusal(change)
            #expect(error?.code == .invalidConfiguration && error?.message.contains("\"NONSENSE\"") == true)
        }
    }

    @Test(arguments: ["ALL:aNULL:@SECLEVEL=0", "eNULL:@SECLEVEL=0"])
    func `cipher suites without encryption or authentication are refused`(_ list: String) async throws {
        let error = try await refusal { $0.ciphers = list }
        #expect(error?.code == .invalidConfiguration && error?.message.contains("does not encrypt") == true)
    }
}
