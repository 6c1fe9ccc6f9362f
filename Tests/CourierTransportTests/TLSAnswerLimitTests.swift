import COpenSSL
import TestSupport
import Testing

@testable import CourierTransport

/// A peer that makes TLS send answer after answer, and does not read them.
@Suite(.timeLimit(.minutes(5))) struct TLSAnswerLimitTests {
    /// A request that TLS answers without the application.
    enum Request: CaseIterable, Sendable {
        /// TLS 1.2: the answer is an alert that refuses renegotiation.
        case helloRequest
        /// TLS 1.3: the answer is a key update of our side.
        case keyUpdate
    }

    /// Enough requests that their answers exceed the limit of these tests, plus the bytes that may wait in buffers.
    private static let requestCount = 60_000

    private func flood(
        by request: Request, readsAnswers: Bool, _ check: (Recorder.Log, _ pendingByteCount: Int) -> Void
    ) async throws {
        let certificates = try await Certificates.shared
        let context = try TLSContext(server: TLSServerConfiguration(identity: certificates.server))
        context.limitForTests(toTLS12: request == .helloRequest)
        try await withLoop { loop in
            let (here, there) = MemoryStream.pair(capacity: 4 << 10)
            let server = try FloodingServer(context, request, count: Self.requestCount, readsAnswers: readsAnswers)
            loop.execute { ByteChannel.accept(there, on: loop) { _ in server } }
            var options = ChannelOptions()
            options.answerLimit = 64 << 10
            var tls = certificates.client
            tls.serverName = "localhost"
            let recorder = Recorder()
            let channel = ByteChannel.connect(
                to: .stream(here), tls: try TLSContext(client: tls), options: options, on: loop, handler: recorder)
            _ = try await recorder.open()
            loop.execute { server.begin() }
            // Wait for the byte after the flood, or for the end of the connection.
            let log = try await recorder.log.wait("the end of the flood") { !$0.closed.isEmpty || !$0.bytes.isEmpty }
            check(log, await channel.onLoop { $0.pendingByteCount })
        }
    }

    @Test(arguments: Request.allCases)
    func `the channel fails with answersUnread if a peer reads none of the automatic TLS responses`(
        request: Request
    ) async throws {
        try await flood(by: request, readsAnswers: false) { log, pending in
            guard case .failed(let error)? = log.closed.first else {
                Issue.record("the channel is open, and \(pending) bytes wait")
                return
            }
            #expect(error.code == .answersUnread)
            #expect(error.message.contains("does not read"))
        }
    }

    @Test(arguments: Request.allCases)
    func `the channel stays open if a peer reads all automatic TLS responses, whatever their number`(request: Request)
        async throws
    {
        try await flood(by: request, readsAnswers: true) { log, _ in
            #expect(log.closed.isEmpty && log.bytes == [FloodingServer.lastByte])
        }
    }

    @Test func `by default, at most 4 MiB of automatic TLS responses wait for the peer`() {
        #expect(ChannelOptions().answerLimit == 4 << 20)
    }
}

/// A TLS server that sends many requests that TLS answers by itself, and then one byte.
///
/// Safe to share: mutable state is used on the loop only.
private final class FloodingServer: ChannelHandler, @unchecked Sendable {
    static let lastByte: UInt8 = 42
    private static let requestsAtATime = 500

    private let tls: TLSSession
    private let request: TLSAnswerLimitTests.Request
    private let readsAnswers: Bool
    private var remaining: Int
    private var channel: ByteChannel?
    private var isDone = false

    init(
        _ context: TLSContext, _ request: TLSAnswerLimitTests.Request, count: Int, readsAnswers: Bool
    ) throws {
        tls = try context.makeSession(hostName: nil, peerName: "client")
        self.request = request
        self.readsAnswers = readsAnswers
        remaining = count
        // The flag is SSL_OP_NO_RENEGOTIATION, which Swift does not import. While it is set, our server sends no
        // HelloRequest.
        SSL_clear_options(tls.ssl, 1 << 30)
    }

    func opened(_ channel: ByteChannel) { self.channel = channel }

    func received(_ span: RawSpan) -> Int {
        guard !isDone else { return span.byteCount }  // OpenSSL need not process the answers.
        tls.lend(span.withUnsafeBytes { Array($0) })
        do {
            isDone = try tls.advance() == .done
            channel?.write(tls.takeOutput())
        } catch {
            Issue.record(error)
        }
        return span.byteCount
    }

    func begin() {
        if !readsAnswers { channel?.pauseReading() }
        sendRequests()
    }

    func fellBelowLowWater() { sendRequests() }

    private func sendRequests() {
        guard let channel else { return }
        while remaining > 0, !channel.isAboveHighWater {
            for _ in 0..<min(remaining, Self.requestsAtATime) { ask() }
            remaining -= min(remaining, Self.requestsAtATime)
            channel.write(tls.takeOutput())
        }
        guard remaining == 0 else { return }
        remaining = -1
        do {
            #expect(try tls.write([Self.lastByte]) == 1)
            channel.write(tls.takeOutput())
        } catch {
            Issue.record(error)
        }
    }

    private func ask() {
        switch request {
        case .helloRequest: #expect(SSL_renegotiate(tls.ssl) == 1)
        case .keyUpdate: #expect(SSL_key_update(tls.ssl, SSL_KEY_UPDATE_REQUESTED) == 1)
        }
        #expect(SSL_do_handshake(tls.ssl) == 1)
    }

    func closed(_ reason: ChannelCloseReason) { channel = nil }
}
