import Glibc
import TestSupport
import Testing

@testable import CourierTransport

/// Bytes come back unchanged over every kind of transport.
@Suite struct EchoTests {
    enum Way: String, CaseIterable, Sendable {
        case tcp, tcp6, unix, pipes, socketPair, memory, memoryInBits, tls, tlsInMemoryBits, tlsOverUnix
    }

    private func echo(
        _ way: Way, seed: UInt64, calls: SystemCalls = .real, sizes: [Int], on loop: EventLoop
    ) async throws {
        let folder = try TemporaryFolder()
        let (endpoint, tls) = try await serve(way, folder, calls, loop)
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: endpoint, tls: tls, on: loop, tools: DialTools(calls: calls), handler: recorder)
        var random = SeededGenerator(seed: seed)
        var sent: [UInt8] = []
        for size in sizes {
            let bytes = random.bytes(size)
            sent += bytes
            channel.send(bytes)
        }
        let received = try await recorder.bytes(sent.count)
        #expect(received == sent, "\(way), seed \(seed): \(recorder)")
        await channel.onLoop { $0.close() }
        #expect(try await recorder.end() == .closedByOwner)
    }

    private func serve(
        _ way: Way, _ folder: TemporaryFolder, _ calls: SystemCalls, _ loop: EventLoop
    ) async throws -> (TransportEndpoint, TLSContext?) {
        func listen(_ address: ChannelListener.Address, _ tls: TLSContext?) throws -> TransportEndpoint {
            try ChannelListener.listen(
                on: address, tls: tls, options: ChannelOptions(), loop: loop, calls: calls
            ) { _ in Echo() }.endpoint
        }
        func accept(_ stream: any DuplexByteStream, _ tls: TLSContext? = nil) {
            loop.execute { ByteChannel.accept(stream, tls: tls, on: loop) { _ in Echo() } }
        }
        switch way {
        case .tcp: return (try listen(.tcp(), nil), nil)
        case .tcp6: return (try listen(.tcp(host: "::1"), nil), nil)
        case .unix: return (try listen(.unix(path: folder.file("echo.sock")), nil), nil)
        case .pipes:
            let (there, back) = (try TestPipe(), try TestPipe())
            accept(DescriptorStream(reading: there.reader, writing: back.writer, name: "pipes", calls: calls))
            return (.descriptors(reading: back.reader, writing: there.writer), nil)
        case .socketPair:
            let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            var pair: [Int32] = [0, 0]
            #expect(socketpair(AF_UNIX, type, 0, &pair) == 0)
            accept(DescriptorStream(reading: pair[0], writing: pair[0], name: "socket pair", calls: calls))
            return (.descriptors(reading: pair[1], writing: pair[1]), nil)
        case .memory, .memoryInBits:
            let (here, there) = MemoryStream.pair(capacity: 4096, bytesPerCall: way == .memory ? .max : 13)
            accept(there)
            return (.stream(here), nil)
        case .tls, .tlsInMemoryBits, .tlsOverUnix:
            let authority = try await Certificates.shared
            let server = try TLSContext(server: TLSServerConfiguration(identity: authority.server))
            var configuration = authority.client
            configuration.serverName = "localhost"
            let client = try TLSContext(client: configuration)
            switch way {
            case .tls: return (try listen(.tcp(), server), client)
            case .tlsOverUnix: return (try listen(.unix(path: folder.file("tls.sock")), server), client)
            default:
                let (here, there) = MemoryStream.pair(capacity: 300, bytesPerCall: 7)
                accept(there, server)
                return (.stream(here), client)
            }
        }
    }

    @Test(arguments: Way.allCases)
    func `writes of random sizes are echoed unchanged over each transport`(_ way: Way) async throws {
        try await withLoop { loop in
            var random = SeededGenerator(seed: 11)
            let sizes = (0..<60).map { _ in Int.random(in: 0...5000, using: &random) }
            try await echo(way, seed: 1, sizes: sizes, on: loop)
        }
    }

    @Test(arguments: [Way.tcp, .unix, .pipes, .socketPair, .tls, .tlsOverUnix])
    func `short reads, short writes and interrupted system calls do not change the echoed bytes`(_ way: Way)
        async throws
    {
        try await withLoop { loop in
            for seed in UInt64(1)...5 {
                try await echo(
                    way, seed: seed, calls: .short(seed: seed), sizes: [1, 0, 3000, 40_000, 2, 900], on: loop)
            }
        }
    }

    @Test(arguments: [Way.tcp, .unix, .pipes, .memory, .tls])
    func `8 MiB are echoed unchanged over each transport`(_ way: Way) async throws {
        try await withLoop { loop in
            try await echo(way, seed: 3, sizes: Array(repeating: 256 << 10, count: 32), on: loop)
        }
    }
}
