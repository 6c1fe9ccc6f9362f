import TestSupport
import Testing

@testable import CourierTransport

/// TLS sessions without a channel, so that the tests control each step.
@Suite struct TLSSessionTests {
    @Test(arguments: [("server", true), ("elsewhere", false)])
    func `a TLS session is stored for resumption only if the server's key matches the pin`(
        _ pinned: String, _ isRight: Bool
    ) async throws {
        let certificates = try await Certificates.shared
        var configuration = certificates.client
        configuration.pins = [try certificates.pin(pinned)]
        let context = try TLSContext(client: configuration)
        let server = try TLSContext(server: TLSServerConfiguration(identity: certificates.server))
        // With TLS 1.2, the session is issued before the handshake ends.
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

    /// Returns contexts whose session ticket contains the client's certificate, so that the ticket does not fit into
    /// one record.
    private func longTickets() async throws -> (client: TLSContext, server: TLSContext) {
        let certificates = try await Certificates.shared
        var client = certificates.client
        client.serverName = "localhost"
        client.identity = certificates.identity("client")
        var server = TLSServerConfiguration(identity: certificates.server)
        server.clientAuthoritiesFile = certificates.authorityFile
        let contexts = (client: try TLSContext(client: client), server: try TLSContext(server: server))
        contexts.server.limitForTests(recordSize: 512)
        return contexts
    }

    @Test func `a TLS write waits until the session ticket is received completely and then succeeds`() async throws {
        let contexts = try await longTickets()
        let pair = try TLSPair(client: contexts.client, server: contexts.server)
        let (half, rest) = try pair.shakeHands().firstRecord
        try #require(!rest.isEmpty)
        pair.client.lend(half)
        #expect(try pair.client.readAll().isEmpty)
        #expect(try pair.client.write([1, 2]) == 0)
        #expect(pair.client.isWriteHeldUp && !pair.client.hasOutput)
        pair.client.lend(rest)
        #expect(try pair.client.readAll().isEmpty)
        #expect(try pair.client.write([1, 2, 3]) == 3)
        #expect(!pair.client.isWriteHeldUp)
        pair.server.lend(pair.client.takeOutput())
        #expect(try pair.server.readAll() == [1, 2, 3])
    }

    @Test(arguments: [false, true])
    func `when a session ticket is complete, a channel sends its pending bytes, even if close() was called`(
        _ isClosed: Bool
    ) async throws {
        let contexts = try await longTickets()
        try await withLoop { loop in
            let (here, there) = MemoryStream.pair()
            let server = try TicketServer(contexts.server)
            loop.execute { ByteChannel.accept(there, on: loop) { _ in server } }
            let recorder = Recorder()
            let channel = ByteChannel.connect(
                to: .stream(here), tls: contexts.client, on: loop, handler: recorder)
            _ = try await recorder.open()
            try await server.hasSentHalf.wait("half a ticket") { $0 }
            await loop.run {}
            await loop.run {}
            let pending = await channel.onLoop { channel in
                channel.write([1, 2, 3])
                let pending = channel.pendingByteCount
                if isClosed { channel.close() }
                server.sendRest()
                return pending
            }
            #expect(pending == 3)
            try await server.bytes.wait("what waited") { $0 == [1, 2, 3] }
        }
    }

    @Test
    func `an unexplained TLS failure has the code tlsHandshakeFailed during the handshake and tlsAlert afterwards`() {
        func code(_ isEstablished: Bool) -> TransportError.Code {
            TLSErrors.failure(0, peerName: "p", isEstablished: isEstablished, lacksClientCertificate: false).code
        }
        #expect(code(false) == .tlsHandshakeFailed)
        #expect(code(true) == .tlsAlert)
    }
}

/// A server that sends one record of its session tickets, and keeps the rest until `sendRest()` is called.
///
/// Safe to share: all methods are called on the loop. Other threads only read the ``Watched`` properties, which have
/// locks.
private final class TicketServer: ChannelHandler, @unchecked Sendable {
    private let tls: TLSSession
    private var channel: ByteChannel?
    private var isDone = false
    private var rest: [UInt8] = []
    let hasSentHalf = Watched(false)
    let bytes = Watched<[UInt8]>([])

    init(_ context: TLSContext) throws { tls = try context.makeSession(hostName: nil, peerName: "client") }

    func opened(_ channel: ByteChannel) { self.channel = channel }

    func received(_ span: RawSpan) -> Int {
        tls.lend(span.withUnsafeBytes { Array($0) })
        do {
            if isDone {
                let new = try tls.readAll()
                bytes.update { $0 += new }
            } else {
                isDone = try tls.advance() == .done
                answer()
            }
        } catch {
            Issue.record(error)
        }
        return span.byteCount
    }

    private func answer() {
        var bytes = tls.takeOutput()
        if isDone { (bytes, rest) = bytes.firstRecord }
        channel?.write(bytes)
        if isDone { hasSentHalf.update { $0 = true } }
    }

    func sendRest() { channel?.write(rest) }

    func closed(_ reason: ChannelCloseReason) { channel = nil }
}
