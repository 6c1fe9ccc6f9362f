import TestSupport
import Testing

@testable import CourierTransport

/// TLS without a channel, where each step is seen.
@Suite struct TLSSessionTests {
    @Test(arguments: [("server", true), ("elsewhere", false)])
    func `a session is kept for resumption only when its pins were right`(
        _ pinned: String, _ isRight: Bool
    ) async throws {
        let certificates = try await Certificates.shared
        var configuration = certificates.client
        configuration.pins = [try certificates.pin(pinned)]
        let context = try TLSContext(client: configuration)
        let server = try TLSContext(server: TLSServerConfiguration(identity: certificates.server))
        // With TLS 1.2 the session comes before the handshake is over.
        server.limitForTests(toTLS12: true)
        let pair = try TLSPair(client: context, server: server)
        if isRight {
            try pair.shakeHands()
        } else {
            let error = #expect(throws: TransportError.self) { try pair.shakeHands() }
            #expect(error?.code == .tlsPinMismatch)
        }
        let isKept = context.takeSession(host: TLSPair.cacheKey) != nil
        #expect(isKept == isRight)
    }
}
