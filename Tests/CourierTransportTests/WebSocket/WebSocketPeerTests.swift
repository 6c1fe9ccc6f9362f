import Foundation
import Glibc
import TestSupport
import Testing

@testable import CourierTransport

/// Tests against the `websockets` package of Python, an independent implementation of the same specification.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketPeerTests {
    /// Starts the Python server, runs `body`, and ends the server.
    private func withPeer(
        isSecure: Bool, _ body: (EventLoop, TransportEndpoint, TLSContext?) async throws -> Void
    ) async throws {
        let port = try LocalPort.free()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Peer/echo.py")
        var words = ["/usr/bin/python3", script.path, "\(port)"]
        var client: TLSContext?
        if isSecure {
            let certificates = try await Certificates.shared
            words += [certificates.server.certificateFile, certificates.server.privateKeyFile]
            var configuration = certificates.client
            configuration.serverName = "localhost"
            client = try TLSContext(client: configuration)
        }
        let process = try ChildProcess(words)
        defer { process.end(by: SIGKILL) }
        // Reading the first line blocks, so it needs its own thread.
        let said = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: Self.firstLine(of: process)) }
        }
        try #require(said == "listening\n", "\(said)")
        try await withLoop { loop in try await body(loop, .tcp(host: "127.0.0.1", port: port), client) }
    }

    private static func firstLine(of process: ChildProcess) -> String {
        var said: [UInt8] = []
        while said.last != UInt8(ascii: "\n") {
            let part = process.read()
            if part.isEmpty { break }
            said += part
        }
        return String(decoding: said, as: UTF8.self)
    }

    private var options: ChannelOptions {
        var options = ChannelOptions()
        options.webSocket = WebSocketConfiguration(path: "/any", headers: ["X-Test": "yes"])
        return options
    }

    @Test(arguments: [false, true])
    func `the Python server echoes all bytes, in fragments and between Pings`(isSecure: Bool) async throws {
        try await withPeer(isSecure: isSecure) { loop, endpoint, tls in
            let recorder = Recorder()
            let channel = ByteChannel.connect(to: endpoint, tls: tls, options: options, on: loop, handler: recorder)
            _ = try await recorder.open()
            var random = SeededGenerator(seed: 7)
            var sent: [UInt8] = []
            for size in [1, 2, 125, 126, 4_000, 65_535, 65_536, 300_000, 5] {
                let bytes = [0] + random.bytes(size)
                sent += bytes
                channel.send(bytes)
            }
            let received = try await recorder.bytes(sent.count)
            #expect(received == sent)
            await channel.onLoop { $0.close() }
            #expect(try await recorder.end() == .closedByOwner)
        }
    }

    @Test(arguments: [1000, 1001, 1008, 4000])
    func `a Close frame of the Python server is reported as closedByPeer or as an error with its status`(
        _ status: Int
    ) async throws {
        try await withPeer(isSecure: false) { loop, endpoint, _ in
            let recorder = Recorder()
            let channel = ByteChannel.connect(to: endpoint, options: options, on: loop, handler: recorder)
            channel.send([0xC1, UInt8(status >> 8), UInt8(status & 0xFF)])
            switch try await recorder.end() {
            case .closedByPeer: #expect(status < 1002)
            case .failed(let error):
                #expect(error.code == .webSocketClosed)
                #expect(error.message.contains("\(status)") && error.message.contains("as you wish"), "\(error)")
            case .closedByOwner: Issue.record("we did not close")
            }
        }
    }

    @Test func `a server that does not support the requested subprotocol is refused`() async throws {
        try await withPeer(isSecure: false) { loop, endpoint, _ in
            var options = options
            options.webSocket?.subprotocol = "chat"
            let recorder = Recorder()
            ByteChannel.connect(to: endpoint, options: options, on: loop, handler: recorder)
            let error = try await recorder.failure()
            #expect(error.code == .webSocketSubprotocolRefused)
        }
    }
}
