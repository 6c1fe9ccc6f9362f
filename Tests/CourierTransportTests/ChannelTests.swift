import Glibc
import Synchronization
import TestSupport
import Testing

@testable import CourierTransport

@Suite struct ChannelTests {
    /// Returns two channels, connected by a pair of memory streams.
    private func pair(
        _ loop: EventLoop, _ left: Recorder, _ right: Recorder, options: ChannelOptions = ChannelOptions(),
        capacity: Int = 64 << 10
    ) async throws -> (ByteChannel, ByteChannel) {
        let (here, there) = MemoryStream.pair(capacity: capacity)
        loop.execute { ByteChannel.accept(there, options: options, on: loop) { _ in right } }
        ByteChannel.connect(to: .stream(here), options: options, on: loop, handler: left)
        return (try await left.open(), try await right.open())
    }

    /// Returns two channels, connected over TCP.
    private func connect(
        _ loop: EventLoop, _ left: Recorder, _ right: Recorder, options: ChannelOptions = ChannelOptions(),
        tools: DialTools = DialTools()
    ) async throws -> (ByteChannel, ByteChannel) {
        let listener = try ChannelListener.listen(options: options, loop: loop) { _ in right }
        _ = ByteChannel.connect(to: listener.endpoint, options: options, on: loop, tools: tools, handler: left)
        let ends = (try await left.open(), try await right.open())
        listener.close()
        return ends
    }

    // MARK: Reading

    @Test func `bytes that the handler did not consume are delivered again, together with the next bytes`()
        async throws
    {
        try await withLoop { loop in
            // The reader takes only whole groups of ten bytes.
            let reader = Recorder(consume: { $0 / 10 * 10 })
            let (sender, _) = try await pair(loop, Recorder(), reader)
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
            #expect(reader.log.value.offers == [7, 8, 11, 11, 30, 50])
        }
    }

    @Test func `all unconsumed bytes are delivered again, even if they are longer than the read buffer`() async throws {
        try await withLoop { loop in
            let size = 3 * EventLoop.readBufferSize + 17
            let reader = Recorder(consume: { $0 < size ? 0 : $0 })
            let (sender, _) = try await connect(loop, Recorder(), reader)
            var random = SeededGenerator(seed: 5)
            let bytes = random.bytes(size)
            sender.send(bytes)
            let received = try await reader.bytes(size)
            #expect(received == bytes)
        }
    }

    @Test func `the channel fails with remainderTooLong if the handler leaves too many bytes unconsumed`() async throws
    {
        try await withLoop { loop in
            var options = ChannelOptions()
            options.remainderLimit = 1000
            let reader = Recorder(consume: { _ in 0 })
            let (sender, _) = try await pair(loop, Recorder(), reader, options: options)
            sender.send([UInt8](repeating: 1, count: 1001))
            #expect(try await reader.failure().code == .remainderTooLong)
        }
    }

    @Test func `a paused channel delivers no bytes, and all received bytes are delivered after it resumes`()
        async throws
    {
        try await withLoop { loop in
            let reader = Recorder()
            let (sender, receiver) = try await connect(loop, Recorder(), reader)
            await receiver.onLoop { $0.pauseReading() }
            sender.send([UInt8](repeating: 1, count: 5000))
            sender.send([UInt8](repeating: 2, count: 5000))
            await loop.run {}
            await loop.run {}
            #expect(reader.log.value.bytes.isEmpty)
            await receiver.onLoop { $0.resumeReading() }
            #expect(try await reader.bytes(10_000).count == 10_000)
        }
    }

    @Test func `unconsumed bytes are delivered again when a paused channel resumes`() async throws {
        try await withLoop { loop in
            let isHungry = Atomic<Bool>(false)
            let reader = Recorder(consume: { isHungry.load(ordering: .relaxed) ? $0 : 0 })
            let (sender, receiver) = try await pair(loop, Recorder(), reader)
            sender.send([1, 2, 3])
            try await reader.log.wait("the offer") { $0.offers == [3] }
            await receiver.onLoop { $0.pauseReading() }
            isHungry.store(true, ordering: .relaxed)
            await receiver.onLoop { $0.resumeReading() }
            #expect(try await reader.bytes(3) == [1, 2, 3])
        }
    }

    @Test func `the end of a read batch is reported once, after all available bytes`() async throws {
        try await withLoop { loop in
            let reader = Recorder()
            let (sender, _) = try await pair(loop, Recorder(), reader)
            sender.send([1, 2, 3])
            try await reader.log.wait("the batch") { $0.batches == 1 }
            #expect(reader.log.value.bytes == [1, 2, 3])
        }
    }

    @Test func `the end of a read batch is reported even if the peer closes right after the bytes`() async throws {
        try await withLoop { loop in
            let (here, there) = MemoryStream.pair()
            _ = try there.write([UInt8](1...3).span.bytes)
            there.close(abruptly: false)
            let reader = Recorder()
            ByteChannel.connect(to: .stream(here), on: loop, handler: reader)
            #expect(try await reader.end() == .closedByPeer)
            #expect(reader.log.value.bytes == [1, 2, 3])
            #expect(reader.log.value.batches == 1)
        }
    }

    // MARK: Writing

    @Test func `the channel reports when pending bytes exceed the high-water mark and fall below the low-water mark`()
        async throws
    {
        try await withLoop { loop in
            let writer = Recorder()
            let reader = Recorder()
            let (sender, receiver) = try await pair(loop, writer, reader, capacity: 1000)
            await receiver.onLoop { $0.pauseReading() }
            let isHigh = await sender.onLoop { sender in
                sender.write([UInt8](repeating: 1, count: 100_000).span.bytes)
                let before = sender.isAboveHighWater
                sender.write([UInt8](repeating: 2, count: 200_000).span.bytes)
                return [before, sender.isAboveHighWater]
            }
            #expect(isHigh == [false, true])
            #expect(writer.log.value.lowWaters == 0)
            await receiver.onLoop { $0.resumeReading() }
            #expect(try await reader.bytes(300_000).count == 300_000)
            try await writer.log.wait("the low mark") { $0.lowWaters == 1 && $0.drained == 1 }
            #expect(await sender.onLoop { !$0.isAboveHighWater && $0.pendingByteCount == 0 })
        }
    }

    @Test func `flush() sends all appended bytes with one system call`() async throws {
        try await withLoop { loop in
            let writes = Atomic<Int>(0)
            let real = SystemCalls.real
            let calls = SystemCalls(send: {
                writes.add(1, ordering: .relaxed)
                return real.send($0, $1, $2)
            })
            let reader = Recorder()
            let (sender, _) = try await connect(loop, Recorder(), reader, tools: DialTools(calls: calls))
            await sender.onLoop { sender in
                for number in 0..<100 { sender.append([UInt8(number)].span.bytes) }
                sender.flush()
            }
            #expect(try await reader.bytes(100) == (0..<100).map { UInt8($0) })
            #expect(writes.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `bytes written before the channel opens are sent after the channel opens`() async throws {
        try await withLoop { loop in
            let reader = Recorder()
            let listener = try ChannelListener.listen(loop: loop) { _ in reader }
            let channel = ByteChannel.connect(to: listener.endpoint, on: loop, handler: Recorder())
            channel.send([1, 2, 3])
            #expect(try await reader.bytes(3) == [1, 2, 3])
        }
    }

    @Test func `a channel can write while reading is paused`() async throws {
        try await withLoop { loop in
            let reader = Recorder()
            let (sender, receiver) = try await connect(loop, Recorder(), reader)
            // The sender does not read, but it can still write.
            await sender.onLoop { $0.pauseReading() }
            receiver.send([UInt8](repeating: 7, count: 8 << 20))
            sender.send([1, 2, 3])
            #expect(try await reader.bytes(3) == [1, 2, 3])
        }
    }

    // MARK: Closing

    @Test func `close() sends all pending bytes before the connection ends`() async throws {
        try await withLoop { loop in
            let reader = Recorder()
            let writer = Recorder()
            let (sender, _) = try await connect(loop, writer, reader)
            let size = 5 << 20
            await sender.onLoop { sender in
                sender.write([UInt8](repeating: 9, count: size).span.bytes)
                sender.close()
                sender.write([1, 2, 3])
            }
            #expect(try await reader.bytes(size).count == size)
            #expect(try await reader.end() == .closedByPeer)
            #expect(try await writer.end() == .closedByOwner)
            #expect(reader.log.value.inputClosed == 1)
        }
    }

    @Test func `the peer receives all bytes if close() is called while the channel has unread input`() async throws {
        try await withLoop { loop in
            let reader = Recorder()
            let writer = Recorder()
            let (sender, receiver) = try await connect(loop, writer, reader)
            await sender.onLoop { $0.pauseReading() }
            // With unread input at the sender, a plain close would become a reset.
            receiver.send([UInt8](repeating: 1, count: 100_000))
            await sender.onLoop { sender in
                sender.write([UInt8](repeating: 2, count: 100_000).span.bytes)
                sender.close()
            }
            #expect(try await reader.bytes(100_000).count == 100_000)
            #expect(try await reader.end() == .closedByPeer)
            #expect(try await writer.end() == .closedByOwner)
        }
    }

    @Test func `if staysOpenAfterInputClosed is set, a channel can still send after the peer called closeOutput()`()
        async throws
    {
        try await withLoop { loop in
            var options = ChannelOptions()
            options.staysOpenAfterInputClosed = true
            let left = Recorder()
            let right = Recorder()
            let (sender, receiver) = try await connect(loop, left, right, options: options)
            await sender.onLoop { $0.closeOutput() }
            try await right.log.wait("the end of input") { $0.inputClosed == 1 }
            receiver.send([1, 2, 3])
            #expect(try await left.bytes(3) == [1, 2, 3])
            #expect(right.log.value.closed.isEmpty)
            await receiver.onLoop { $0.close() }
            try await left.log.wait("the other end") { $0.inputClosed == 1 }
            #expect(try await right.end() == .closedByOwner)
            await sender.onLoop { $0.close() }
            #expect(try await left.end() == .closedByOwner)
        }
    }

    @Test func `a connection reset is reported with the error code reset, and not as closedByPeer`() async throws {
        try await withLoop { loop in
            let reader = Recorder()
            let (sender, _) = try await connect(loop, Recorder(), reader)
            await sender.onLoop { $0.abort() }
            let error = try await reader.failure()
            #expect(error.code == .reset && error.errno == ECONNRESET)
            #expect(error.message.hasPrefix("connection reset: client 1 of 127.0.0.1:"))
            #expect(reader.log.value.inputClosed == 0)
        }
    }

    @Test func `bytes sent right before close() are received before the connection end is reported`() async throws {
        try await withLoop { loop in
            for run in 0..<100 {
                let reader = Recorder()
                let (sender, _) = try await connect(loop, Recorder(), reader)
                await sender.onLoop { sender in
                    sender.write([1, 2, 3])
                    sender.close()
                }
                #expect(try await reader.end() == .closedByPeer, "run \(run)")
                #expect(reader.log.value.bytes == [1, 2, 3], "run \(run)")
            }
        }
    }

    @Test func `a closed channel waits for the peer's close only until the linger timeout`() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        var options = ChannelOptions()
        options.staysOpenAfterInputClosed = true
        let left = Recorder()
        let right = Recorder()
        let (sender, _) = try await connect(loop, left, right, options: options)
        await sender.onLoop { $0.close() }
        try await right.log.wait("the end of input") { $0.inputClosed == 1 }
        #expect(left.log.value.closed.isEmpty)
        clock.advance(by: .seconds(3))
        #expect(try await left.end() == .closedByOwner)
        await loop.shutdown()
    }

    /// Runs a loop with a connection whose accepting side stays open. Closes the connecting side, and returns after it
    /// has written all bytes and ended its output.
    private func closeAgainstOpenPeer(
        _ isSecure: Bool, _ clock: ManualClock, _ change: (inout ChannelOptions) -> Void = { _ in }
    ) async throws -> (loop: EventLoop, left: Recorder) {
        let certificates = try await Certificates.shared
        let loop = try EventLoop(clock: clock)
        var options = ChannelOptions()
        change(&options)
        var stays = ChannelOptions()
        stays.staysOpenAfterInputClosed = true
        let (left, right) = (Recorder(), Recorder())
        let server = isSecure ? try TLSContext(server: TLSServerConfiguration(identity: certificates.server)) : nil
        let client = isSecure ? try TLSContext(client: certificates.client) : nil
        let listener = try ChannelListener.listen(tls: server, options: stays, loop: loop) { _ in right }
        ByteChannel.connect(
            to: .tcp(host: "127.0.0.1", port: listener.port), tls: client, options: options, on: loop, handler: left)
        let sender = try await left.open()
        listener.close()
        await sender.onLoop { sender in
            sender.write([1, 2, 3])
            sender.close()
        }
        try await right.log.wait("the end of input") { $0.inputClosed == 1 }
        #expect(right.log.value.bytes == [1, 2, 3])
        #expect(left.log.value.closed.isEmpty)
        return (loop, left)
    }

    /// Advances the clock, and lets the loop handle it.
    private func pass(_ duration: Duration, _ clock: ManualClock, _ loop: EventLoop) async {
        clock.advance(by: duration)
        for _ in 0..<3 { await loop.run {} }
    }

    @Test(arguments: [false, true])
    func `if the peer does not close, close() waits one linger timeout over TCP and over TLS`(
        isSecure: Bool
    ) async throws {
        let clock = ManualClock()
        let (loop, left) = try await closeAgainstOpenPeer(isSecure, clock)
        await pass(.milliseconds(1_900), clock, loop)
        #expect(left.log.value.closed.isEmpty)
        await pass(.milliseconds(100), clock, loop)
        #expect(left.log.value.closed == [.closedByOwner])
        await loop.shutdown()
    }

    @Test(arguments: [false, true])
    func `if the peer does not close, a channel with a shorter peerCloseTimeout closes earlier`(
        isSecure: Bool
    ) async throws {
        let clock = ManualClock()
        let (loop, left) = try await closeAgainstOpenPeer(isSecure, clock) { $0.peerCloseTimeout = .milliseconds(100) }
        await pass(.milliseconds(90), clock, loop)
        #expect(left.log.value.closed.isEmpty)
        await pass(.milliseconds(10), clock, loop)
        #expect(left.log.value.closed == [.closedByOwner])
        await loop.shutdown()
    }

    @Test func `the time limit of peerCloseTimeout begins after all pending bytes are written`() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        var options = ChannelOptions()
        options.peerCloseTimeout = .milliseconds(100)
        options.staysOpenAfterInputClosed = true
        let (left, right) = (Recorder(), Recorder())
        let (here, there) = MemoryStream.pair(capacity: 1_000)
        loop.execute { [options] in
            ByteChannel.accept(there, options: options, on: loop) { _ in right }
            ByteChannel.connect(to: .stream(here), options: options, on: loop, handler: left)
        }
        let (sender, receiver) = (try await left.open(), try await right.open())
        await receiver.onLoop { $0.pauseReading() }
        await sender.onLoop { sender in
            sender.write([UInt8](repeating: 7, count: 5_000))
            sender.close()
        }
        await pass(.milliseconds(1_900), clock, loop)
        #expect(left.log.value.closed.isEmpty)
        await receiver.onLoop { $0.resumeReading() }
        try await right.log.wait("the end of input") { $0.inputClosed == 1 }
        #expect(right.log.value.bytes.count == 5_000)
        await pass(.milliseconds(100), clock, loop)
        #expect(left.log.value.closed == [.closedByOwner])
        await loop.shutdown()
    }

    @Test func `closed() is called exactly once, and no bytes are delivered after this call`() async throws {
        try await withLoop { loop in
            let reader = Recorder()
            let (sender, receiver) = try await pair(loop, Recorder(), reader)
            await receiver.onLoop { receiver in
                receiver.close()
                receiver.close()
                receiver.abort()
                receiver.abort()
            }
            sender.send([1])
            _ = try await reader.end()
            await loop.run {}
            #expect(reader.log.value.closed == [.closedByOwner])
            #expect(reader.log.value.bytes.isEmpty)
        }
    }

    @Test func `shutdown() of an event loop closes its channels`() async throws {
        let loop = try EventLoop()
        let left = Recorder()
        let right = Recorder()
        _ = try await connect(loop, left, right)
        await loop.shutdown()
        #expect(try await left.failure().code == .loopShutDown)
        #expect(right.log.value.closed.count == 1)
    }

    @Test func `a write to a pipe with a closed read end fails with brokenPipe and without a signal`() async throws {
        try await withLoop { loop in
            let (there, back) = (try TestPipe(), try TestPipe())
            let writer = Recorder()
            ByteChannel.connect(
                to: .descriptors(reading: back.reader, writing: there.writer), on: loop, handler: writer)
            let channel = try await writer.open()
            close(there.reader)
            channel.send([1, 2, 3])
            let error = try await writer.failure()
            #expect(error.code == .brokenPipe)
            close(back.writer)
        }
    }

    @Test func `isReadyToSend is true only for an open socket with active reading and no pending bytes`() async throws {
        try await withLoop { loop in
            var sockets: [Int32] = [0, 0]
            let (there, back) = (try TestPipe(), try TestPipe())
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
            let (bySocket, byPipes) = (Recorder(), Recorder())
            ByteChannel.connect(
                to: .descriptors(reading: sockets[0], writing: sockets[0]), on: loop, handler: bySocket)
            ByteChannel.connect(
                to: .descriptors(reading: back.reader, writing: there.writer), on: loop, handler: byPipes)
            let socket = try await bySocket.open()
            let pipes = try await byPipes.open()
            await loop.run {
                #expect(socket.isReadyToSend)
                #expect(!pipes.isReadyToSend, "a pipe without a reader raises a signal")
                socket.pauseReading()
                #expect(!socket.isReadyToSend, "who does not read is told of a failure at once")
                socket.resumeReading()
                socket.write([UInt8](repeating: 0, count: 4 << 20).span.bytes)
                #expect(!socket.isReadyToSend, "what waits goes first")
                socket.abort()
                #expect(!socket.isReadyToSend)
                pipes.abort()
            }
            for descriptor in [sockets[1], there.reader, back.writer] { close(descriptor) }
        }
    }

    @Test func `a channel refuses the descriptor of a regular file with invalidDescriptor`() async throws {
        try await withLoop { loop in
            let folder = try TemporaryFolder()
            let file = open(folder.file("plain"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            let recorder = Recorder()
            ByteChannel.connect(to: .descriptors(reading: file, writing: file), on: loop, handler: recorder)
            let error = try await recorder.failure()
            #expect(error.code == .invalidDescriptor)
            #expect(error.message.contains("a regular file cannot be used"))
        }
    }
}
