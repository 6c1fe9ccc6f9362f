import TestSupport
import Testing

@testable import CourierTransport

/// A handler that consumes nothing of the first bytes and pauses. Later it consumes everything.
///
/// Safe: used on the loop only, except for the values with locks.
private final class Hesitant: ChannelHandler, @unchecked Sendable {
    private var channel: ByteChannel?
    let paused = Watched<ByteChannel?>(nil)
    let told = Watched<[any Sendable]>([])

    func opened(_ channel: ByteChannel) { self.channel = channel }

    func received(_ bytes: RawSpan) -> Int {
        if paused.value == nil, let channel {
            channel.pauseReading()
            paused.update { $0 = channel }
            return 0
        }
        let copy = bytes.withUnsafeBytes { Array($0) }
        told.update { $0.append(copy) }
        return copy.count
    }

    func closed(_ reason: ChannelCloseReason) { told.update { $0.append(reason) } }
}

/// A channel over WebSocket behaves like a channel without WebSocket.
@Suite struct WebSocketChannelTests {
    enum Way: String, CaseIterable, Sendable {
        case tcp, unix, memory, memoryInBits, tls, tlsInMemoryBits
    }

    private static func options(_ change: (inout ChannelOptions) -> Void = { _ in }) -> ChannelOptions {
        var options = ChannelOptions()
        options.webSocket = WebSocketConfiguration(path: "/mqtt?a=b", headers: ["X-Token": "secret"])
        change(&options)
        return options
    }

    /// Connects `handler` to a server of ours. `peer` is the handler of the server's channel.
    private func connect(
        _ way: Way, _ loop: EventLoop, _ handler: any ChannelHandler, to peer: any ChannelHandler,
        options: ChannelOptions = options(), calls: SystemCalls = .real
    ) async throws -> ByteChannel {
        let folder = try TemporaryFolder()
        var server: TLSContext?
        var client: TLSContext?
        if way == .tls || way == .tlsInMemoryBits {
            let certificates = try await Certificates.shared
            var configuration = certificates.client
            configuration.serverName = "localhost"
            server = try TLSContext(server: TLSServerConfiguration(identity: certificates.server))
            client = try TLSContext(client: configuration)
        }
        let endpoint: TransportEndpoint
        switch way {
        case .tcp, .tls, .unix:
            let address = way == .unix ? ChannelListener.Address.unix(path: folder.file("ws.sock")) : .tcp()
            endpoint = try ChannelListener.listen(
                on: address, tls: server, options: options, loop: loop, calls: calls
            ) { _ in peer }.endpoint
        case .memory, .memoryInBits, .tlsInMemoryBits:
            let (here, there) = MemoryStream.pair(capacity: 4096, bytesPerCall: way == .memory ? .max : 7)
            loop.execute { [server] in
                ByteChannel.accept(there, tls: server, options: options, on: loop) { _ in peer }
            }
            endpoint = .stream(here)
        }
        let channel = ByteChannel.connect(
            to: endpoint, tls: client, options: options, on: loop, tools: DialTools(calls: calls), handler: handler)
        // Wait for the connection, because the folder with the Unix socket is removed when this function returns.
        if way == .unix, let recorder = handler as? Recorder { _ = try await recorder.open() }
        return channel
    }

    /// Connects to a server that sends these bytes together with its handshake answer.
    private func connect(
        _ loop: EventLoop, to frames: [UInt8], then: RawServer.Then = .stays, _ handler: any ChannelHandler,
        _ change: (inout ChannelOptions) -> Void = { _ in }
    ) throws {
        let listener = try ChannelListener.listen(loop: loop) { _ in RawServer(then: then, sending: frames) }
        ByteChannel.connect(to: listener.endpoint, options: Self.options(change), on: loop, handler: handler)
    }

    @Test(arguments: [RawServer.Then.stays, .closes])
    func `unconsumed bytes of a paused channel are delivered before the end of the connection`(_ then: RawServer.Then)
        async throws
    {
        try await withLoop { loop in
            let hesitant = Hesitant()
            let frames = RawFrame.binary(Array(0..<100)) + (then == .stays ? RawFrame.close(1000) : [])
            try connect(loop, to: frames, then: then, hesitant)
            let channel = try #require(try await hesitant.paused.wait("a pause") { $0 != nil })
            await channel.onLoop { $0.resumeReading() }
            let told = try await hesitant.told.wait("the end") { $0.last is ChannelCloseReason }
            #expect(told.first as? [UInt8] == Array(0..<100))
            #expect(told.last as? ChannelCloseReason == .closedByPeer)
        }
    }

    @Test(arguments: [RawFrame.close(1000), Array(RawFrame.close(1000).prefix(1))])
    func `if opened() calls close() and the server closes too, the channel closes before the linger timeout`(
        _ frames: [UInt8]
    ) async throws {
        try await withLoop { loop in
            let recorder = Recorder(onOpen: { $0.close() })
            let begin = ContinuousClock.now
            try connect(loop, to: frames, then: .closes, recorder) { $0.lingerTimeout = .seconds(600) }
            #expect(try await recorder.end() == .closedByOwner)
            #expect(begin.duration(to: .now) < .seconds(300))
        }
    }

    /// Returns two connected channels; the second one accepts the connection.
    private func pair(
        _ way: Way, _ loop: EventLoop, _ left: Recorder, _ right: Recorder,
        _ change: (inout ChannelOptions) -> Void = { _ in }
    ) async throws -> (ByteChannel, ByteChannel) {
        _ = try await connect(way, loop, left, to: right, options: Self.options(change))
        return (try await left.open(), try await right.open())
    }

    private func echo(
        _ way: Way, sizes: [Int], seed: UInt64, calls: SystemCalls = .real, on loop: EventLoop
    ) async throws {
        let recorder = Recorder()
        let channel = try await connect(way, loop, recorder, to: Echo(), calls: calls)
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

    // MARK: Bytes

    @Test(arguments: Way.allCases)
    func `writes of random sizes are echoed unchanged over WebSocket`(_ way: Way) async throws {
        try await withLoop { loop in
            var random = SeededGenerator(seed: 11)
            try await echo(way, sizes: (0..<60).map { _ in random.below(5_000) }, seed: 1, on: loop)
        }
    }

    @Test(arguments: [Way.tcp, .tls])
    func `short reads, short writes and interrupted system calls do not change bytes over WebSocket`(_ way: Way)
        async throws
    {
        try await withLoop { loop in
            for seed in UInt64(1)...5 {
                try await echo(
                    way, sizes: [1, 0, 3_000, 140_000, 2, 900], seed: seed, calls: .short(seed: seed), on: loop)
            }
        }
    }

    @Test(arguments: [Way.tcp, .memory, .tls])
    func `4 MiB are echoed unchanged over WebSocket`(_ way: Way) async throws {
        try await withLoop { loop in
            try await echo(way, sizes: Array(repeating: 256 << 10, count: 16), seed: 3, on: loop)
        }
    }

    @Test(arguments: [Way.memory, .tls])
    func `bytes that the handler did not consume are delivered again, together with the next bytes`(
        _ way: Way
    ) async throws {
        try await withLoop { loop in
            // The reader consumes only whole groups of ten bytes.
            let reader = Recorder(consume: { $0 / 10 * 10 })
            let (sender, _) = try await pair(way, loop, Recorder(), reader)
            let bytes = (0..<100).map { UInt8($0) }
            var sent = 0
            for count in [7, 1, 3, 10, 29, 50] {
                sender.send(Array(bytes[sent..<(sent + count)]))
                sent += count
                let taken = sent / 10 * 10
                try await reader.log.wait("\(taken) bytes") { $0.bytes.count == taken && $0.offers.count > 0 }
                await loop.run {}
            }
            #expect(reader.log.value.bytes == bytes)
        }
    }

    @Test(arguments: [Way.tcp, .tls])
    func `all unconsumed bytes are delivered again, even if they are longer than the read buffer`(_ way: Way)
        async throws
    {
        try await withLoop { loop in
            let size = 3 * EventLoop.readBufferSize + 17
            let reader = Recorder(consume: { $0 < size ? 0 : $0 })
            let (sender, _) = try await pair(way, loop, Recorder(), reader)
            var random = SeededGenerator(seed: 5)
            let bytes = random.bytes(size)
            sender.send(bytes)
            let received = try await reader.bytes(size)
            #expect(received == bytes)
        }
    }

    @Test(arguments: [Way.tcp, .tls])
    func `all bytes are delivered, even if they do not fit into a small read buffer`(_ way: Way) async throws {
        try await withLoop(readBufferSize: 4_096) { loop in
            let reader = Recorder()
            let (sender, _) = try await pair(way, loop, Recorder(), reader)
            var random = SeededGenerator(seed: 6)
            for size in [100, 16_384, 4_096, 50_001, 4_095, 3] {
                let start = reader.log.value.bytes.count
                let bytes = random.bytes(size)
                sender.send(bytes)
                let received = try await reader.bytes(start + size)
                #expect(Array(received[start...]) == bytes)
            }
        }
    }

    @Test(arguments: [Way.tcp, .tls])
    func `a paused channel delivers no bytes, and all received bytes are delivered after it resumes`(_ way: Way)
        async throws
    {
        try await withLoop { loop in
            let reader = Recorder()
            let (sender, receiver) = try await pair(way, loop, Recorder(), reader)
            await receiver.onLoop { $0.pauseReading() }
            sender.send([UInt8](repeating: 1, count: 5_000))
            sender.send([UInt8](repeating: 2, count: 5_000))
            await loop.run {}
            await loop.run {}
            #expect(reader.log.value.bytes.isEmpty)
            await receiver.onLoop { $0.resumeReading() }
            let received = try await reader.bytes(10_000)
            #expect(received.count == 10_000)
        }
    }

    @Test func `the channel reports free space again when the peer has read many pending bytes`()
        async throws
    {
        try await withLoop { loop in
            let sender = Recorder()
            let reader = Recorder()
            let (channel, receiver) = try await pair(.tcp, loop, sender, reader)
            await receiver.onLoop { $0.pauseReading() }
            let total = 32 << 20
            let isHigh = await channel.onLoop { channel in
                for _ in 0..<(total >> 20) { channel.write([UInt8](repeating: 1, count: 1 << 20)) }
                return channel.isAboveHighWater
            }
            #expect(isHigh)
            await receiver.onLoop { $0.resumeReading() }
            try await sender.log.wait("release") { $0.lowWaters == 1 && $0.drained >= 1 }
            let received = try await reader.bytes(total)
            #expect(received.count == total)
        }
    }

    // MARK: Frames

    /// Connects a client of ours to `server`, over a stream in memory.
    private func client(
        _ loop: EventLoop, _ recorder: Recorder, against server: RawServer,
        _ change: (inout ChannelOptions) -> Void = { _ in }
    ) -> ByteChannel {
        let (here, there) = MemoryStream.pair()
        loop.execute { ByteChannel.accept(there, on: loop) { _ in server } }
        return ByteChannel.connect(to: .stream(here), options: Self.options(change), on: loop, handler: recorder)
    }

    @Test func `bytes of one flush are sent in one frame, and a write above the frame size in several frames`()
        async throws
    {
        try await withLoop { loop in
            let server = RawServer(sending: [])
            let recorder = Recorder()
            let channel = client(loop, recorder, against: server) { $0.webSocket?.frameSize = 1_000 }
            _ = try await recorder.open()
            await channel.onLoop { channel in
                for byte in UInt8(1)...3 { channel.append([byte].span.bytes) }
                channel.flush()
                channel.write([UInt8](repeating: 4, count: 2_500))
            }
            let bytes = try await server.frames.wait("frames") { $0.count == 6 + 3 + 3 * 8 + 2_500 }
            let frames = try RawServer.read(bytes)
            #expect(frames.map(\.opcode) == [2, 2, 2, 2])
            #expect(frames.map(\.payload.count) == [3, 1_000, 1_000, 500])
            #expect(frames[0].payload == [1, 2, 3])
        }
    }

    @Test func `bytes written before the WebSocket opens are sent after the WebSocket opens`() async throws {
        try await withLoop { loop in
            let server = RawServer(sending: [])
            let recorder = Recorder()
            let channel = client(loop, recorder, against: server)
            channel.send([1, 2, 3])
            _ = try await recorder.open()
            let bytes = try await server.frames.wait("a frame") { $0.count == 9 }
            #expect(try RawServer.read(bytes).map(\.payload) == [[1, 2, 3]])
        }
    }

    @Test(arguments: [1, 3, 70, 1_000])
    func `the WebSocket opens even if the response arrives in pieces and frames follow immediately`(
        _ size: Int
    ) async throws {
        try await withLoop { loop in
            let (here, there) = MemoryStream.pair(bytesPerCall: size)
            let server = RawServer(sending: RawFrame.binary([1, 2]) + RawFrame.ping([3]) + RawFrame.binary([4]))
            loop.execute { ByteChannel.accept(there, on: loop) { _ in server } }
            let recorder = Recorder()
            ByteChannel.connect(to: .stream(here), options: Self.options(), on: loop, handler: recorder)
            #expect(try await recorder.bytes(3) == [1, 2, 4])
            let bytes = try await server.frames.wait("a Pong") { $0.count == 7 }
            #expect(try RawServer.read(bytes).map(\.opcode) == [0xA])
        }
    }

    @Test(arguments: [RawFrame.ping([1]), RawFrame.ping() + RawFrame.ping([2])])
    func `after a received Ping, the channel reports the end of a read batch but delivers no bytes`(_ frames: [UInt8])
        async throws
    {
        try await withLoop { loop in
            let server = RawServer(sending: [])
            let recorder = Recorder()
            _ = client(loop, recorder, against: server)
            _ = try await recorder.open()
            let opened = try await server.opened.wait("the server") { $0 != nil }
            let raw = try #require(opened)
            raw.send(frames)
            try await recorder.log.wait("the batch") { $0.batches > 0 }
            #expect(recorder.log.value.offers.isEmpty)
        }
    }

    @Test func `after a received Close frame, the channel does not report the end of a read batch`() async throws {
        try await withLoop { loop in
            let recorder = Recorder()
            try connect(loop, to: RawFrame.close(1001), recorder)
            _ = try await recorder.end()
            #expect(recorder.log.value.batches == 0)
        }
    }

    @Test func `if the server does not read Pongs, their memory is limited, and the latest Ping is always answered`()
        async throws
    {
        try await withLoop { loop in
            let pings = (0..<4_000).flatMap { _ in RawFrame.ping([UInt8](repeating: 7, count: 125)) }
            let server = RawServer(sending: [])
            let recorder = Recorder()
            let channel = client(loop, recorder, against: server)
            _ = try await recorder.open()
            let opened = try await server.opened.wait("the server") { $0 != nil }
            let raw = try #require(opened)
            await raw.onLoop { $0.pauseReading() }
            for _ in 0..<4 { raw.send(pings) }
            raw.send(RawFrame.binary([1]))
            #expect(try await recorder.bytes(1) == [1])
            let pending = await channel.onLoop { $0.pendingByteCount }
            #expect(pending <= EventLoop.readBufferSize + WebSocketSession.answerLimit)
            await raw.onLoop { $0.resumeReading() }
            // The latest Ping must always be answered.
            raw.send(RawFrame.ping([42]))
            try await server.frames.wait("the latest Pong") { bytes in
                (try? RawServer.read(bytes))?.last?.payload == [42]
            }
        }
    }

    // MARK: Closing

    @Test(arguments: [Way.tcp, .memoryInBits, .tls])
    func `close() sends all pending bytes, and both sides end without an error`(
        _ way: Way
    ) async throws {
        try await withLoop { loop in
            let left = Recorder()
            let right = Recorder()
            let (sender, _) = try await pair(way, loop, left, right)
            await sender.onLoop { channel in
                channel.write([UInt8](repeating: 1, count: 50_000))
                channel.close()
            }
            #expect(try await right.end() == .closedByPeer)
            #expect(try await left.end() == .closedByOwner)
            #expect(right.log.value.bytes.count == 50_000)
            #expect(right.log.value.inputClosed == 1)
        }
    }

    @Test(arguments: [Way.tcp, .tls])
    func `if the server closes, the client receives all bytes and ends without an error`(_ way: Way) async throws {
        try await withLoop { loop in
            let left = Recorder()
            let right = Recorder()
            let (_, server) = try await pair(way, loop, left, right)
            server.send([1, 2, 3])
            await server.onLoop { $0.close() }
            #expect(try await left.end() == .closedByPeer)
            #expect(try await right.end() == .closedByOwner)
            #expect(left.log.value.bytes == [1, 2, 3])
        }
    }

    @Test func `closeOutput() sends a Close frame, and reading continues until the peer closes`() async throws {
        try await withLoop { loop in
            let server = RawServer(sending: [])
            let recorder = Recorder()
            let channel = client(loop, recorder, against: server)
            _ = try await recorder.open()
            await channel.onLoop { channel in
                channel.write([1])
                channel.closeOutput()
            }
            let bytes = try await server.frames.wait("Close") { $0.count == 7 + 8 }
            #expect(try RawServer.read(bytes).map(\.opcode) == [2, 8])
            let raw = try #require(server.opened.value)
            raw.send(RawFrame.binary([9]))
            #expect(try await recorder.bytes(1) == [9])
            #expect(recorder.log.value.closed.isEmpty)
            raw.send(RawFrame.close(1000))
            await raw.onLoop { $0.close() }
            #expect(try await recorder.end() == .closedByPeer)
        }
    }

    @Test func `a peer that does not answer the Close frame is disconnected after the linger timeout`() async throws {
        try await withLoop { loop in
            let server = RawServer(sending: [])
            let recorder = Recorder()
            let channel = client(loop, recorder, against: server) { $0.lingerTimeout = .milliseconds(30) }
            _ = try await recorder.open()
            await channel.onLoop { $0.close() }
            #expect(try await recorder.end() == .closedByOwner)
            let bytes = try await server.frames.wait("Close") { $0.count == 8 }
            #expect(try RawServer.read(bytes).map(\.payload) == [[0x03, 0xE8]])
            // The server sees no reset, because it has received all bytes.
            let reasons = try await server.closed.wait("the end") { !$0.isEmpty }
            #expect(reasons == [.closedByPeer])
        }
    }

    @Test func `a WebSocket request without a response fails at the connect timeout`() async throws {
        try await withLoop { loop in
            let recorder = Recorder()
            let channel = client(loop, recorder, against: RawServer { _ in [] }) {
                $0.connectTimeout = .milliseconds(50)
            }
            let error = try await recorder.failure()
            #expect(error.code == .connectTimedOut)
            #expect(error.message.contains("the request for a WebSocket was not answered"))
            #expect(error.message.contains(channel.peerName))
        }
    }

    @Test func `close() cancels a running WebSocket handshake`() async throws {
        try await withLoop { loop in
            let recorder = Recorder()
            let server = RawServer { _ in [] }
            let channel = client(loop, recorder, against: server) { $0.connectTimeout = .seconds(600) }
            _ = try await server.opened.wait("the server") { $0 != nil }
            await channel.onLoop { $0.close() }
            #expect(try await recorder.end() == .closedByOwner)
        }
    }

    @Test func `an invalid WebSocket path fails with invalidConfiguration`() async throws {
        try await withLoop { loop in
            let recorder = Recorder()
            _ = client(loop, recorder, against: RawServer(sending: [])) { $0.webSocket?.path = "no slash" }
            let error = try await recorder.failure()
            #expect(error.code == .invalidConfiguration)
        }
    }
}
