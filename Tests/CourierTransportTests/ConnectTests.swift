import Glibc
import Synchronization
import TestSupport
import Testing

@testable import CourierTransport

/// Each kind of connection failure has its own error code and a message with advice.
@Suite struct ConnectTests {
    private func failure(
        _ endpoint: TransportEndpoint, _ loop: EventLoop, options: ChannelOptions = ChannelOptions(),
        tools: DialTools = DialTools()
    ) async throws -> TransportError {
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: endpoint, options: options, on: loop, tools: tools, handler: recorder)
        let error = try await recorder.failure()
        #expect(await channel.onLoop { !$0.isOpen })
        return error
    }

    @Test func `the error of a refused connection begins with the cause and the address`() async throws {
        try await withLoop { loop in
            let port = try LocalPort.free()
            let error = try await failure(.tcp(host: "127.0.0.1", port: port), loop)
            #expect(error.code == .connectionRefused)
            #expect(error.errno == ECONNREFUSED)
            #expect(error.message.hasPrefix("connection refused: 127.0.0.1:\(port)"))
        }
    }

    @Test func `the error of a refused connection lists all addresses of the host that were tried`() async throws {
        try await withLoop { loop in
            let port = try LocalPort.free()
            let tools = DialTools(resolver: resolver(["::1", "127.0.0.1"]))
            let error = try await failure(.tcp(host: "two.example", port: port), loop, tools: tools)
            #expect(error.code == .connectionRefused)
            #expect(error.message.contains("tried for two.example:\(port): [::1]:\(port), 127.0.0.1:\(port)"))
        }
    }

    @Test func `if the host lookup fails, connecting fails with the resolver's error`() async throws {
        try await withLoop { loop in
            let answer = TransportError(.nameResolutionFailed, "the host name “nobody.invalid” has no address: …")
            let tools = DialTools(resolver: HostResolver { _, _ in .failure(answer) })
            let error = try await failure(.tcp(host: "nobody.invalid", port: 1), loop, tools: tools)
            #expect(error == answer)
        }
    }

    @Test func `connecting to an impossible host name fails with hostNotFound, and the error contains the name`()
        async throws
    {
        try await withLoop { loop in
            let error = try await failure(.tcp(host: "no such host", port: 1883), loop)
            #expect(error.code == .hostNotFound)
            #expect(error.message.hasPrefix("the host name “no such host” does not exist"))
        }
    }

    @Test func `the host name localhost is resolved, and the connection succeeds`() async throws {
        try await withLoop { loop in
            let listener = try ChannelListener.listen(loop: loop) { _ in Echo() }
            let recorder = Recorder()
            ByteChannel.connect(to: .tcp(host: "localhost", port: listener.port), on: loop, handler: recorder)
            _ = try await recorder.open()
        }
    }

    @Test func `an unreachable host is reported as unreachable, not as refused`() async throws {
        try await withLoop { loop in
            let calls = SystemCalls(connect: { _, _, _ in -ENETUNREACH })
            let error = try await failure(.tcp(host: "192.0.2.1", port: 9), loop, tools: DialTools(calls: calls))
            #expect(error.code == .unreachable)
            #expect(error.errno == ENETUNREACH)
            #expect(error.message.hasPrefix("unreachable: 192.0.2.1:9"))
        }
    }

    /// System calls with which connections are never established.
    private var silence: SystemCalls { SystemCalls(connect: { _, _, _ in -EINPROGRESS }) }

    @Test func `connecting to a silent host fails at the connect timeout, and the error contains the duration`()
        async throws
    {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        var options = ChannelOptions()
        options.connectTimeout = .seconds(10)
        let recorder = Recorder()
        _ = ByteChannel.connect(
            to: .tcp(host: "192.0.2.1", port: 1883), options: options, on: loop, tools: DialTools(calls: silence),
            handler: recorder)
        await loop.run {}
        clock.advance(by: .milliseconds(9999))
        await loop.run {}
        await loop.run {}
        #expect(recorder.log.value.closed.isEmpty)
        clock.advance(by: .milliseconds(1))
        let error = try await recorder.failure()
        #expect(error.code == .connectTimedOut)
        #expect(error.message == "connection timed out: 192.0.2.1:1883; no answer within 10.0 seconds")
        await loop.shutdown()
    }

    @Test func `if the host lookup does not finish, connecting fails at the connect timeout`() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let gate = Watched(false)
        let asked = Watched(false)
        let resolver = HostResolver { _, _ in
            asked.update { $0 = true }
            while !gate.value { sched_yield() }
            return .failure(TransportError(.nameResolutionFailed, "too late"))
        }
        let recorder = Recorder()
        _ = ByteChannel.connect(
            to: .tcp(host: "slow.example", port: 1883), on: loop, tools: DialTools(resolver: resolver),
            handler: recorder)
        try await asked.wait("the look-up") { $0 }
        clock.advance(by: .seconds(31))
        let error = try await recorder.failure()
        #expect(error.code == .connectTimedOut)
        #expect(error.message.contains("the lookup of the host name did not finish"))
        gate.update { $0 = true }
        await loop.shutdown()
    }

    private func resolver(_ addresses: [String]) -> HostResolver {
        HostResolver { _, port in
            do throws(TransportError) {
                var found: [SocketAddress] = []
                for address in addresses {
                    found += try SocketAddress.lookUp(host: address, port: port, isNumeric: true)
                }
                return .success(found)
            } catch {
                return .failure(error)
            }
        }
    }

    @Test func `if the first address is silent, the second address is tried after 250 ms`() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let listener = try ChannelListener.listen(loop: loop) { _ in Echo() }
        let attempts = Watched(0)
        let real = SystemCalls.real
        let calls = SystemCalls(connect: { descriptor, address, length in
            attempts.update { $0 += 1 }
            // The IPv6 address, which has 28 bytes, never answers.
            return length == 28 ? -EINPROGRESS : real.connect(descriptor, address, length)
        })
        let recorder = Recorder()
        _ = ByteChannel.connect(
            to: .tcp(host: "two.example", port: listener.port), on: loop,
            tools: DialTools(resolver: resolver(["::1", "127.0.0.1"]), calls: calls), handler: recorder)
        try await attempts.wait("the first attempt") { $0 == 1 }
        await loop.run {}
        clock.advance(by: .milliseconds(249))
        await loop.run {}
        await loop.run {}
        #expect(attempts.value == 1)
        clock.advance(by: .milliseconds(1))
        _ = try await recorder.open()
        #expect(attempts.value == 2)
        await loop.shutdown()
    }

    @Test func `the channel opens even if a signal interrupts the connect() system call`() async throws {
        try await withLoop { loop in
            let listener = try ChannelListener.listen(loop: loop) { _ in Echo() }
            let real = SystemCalls.real
            let calls = SystemCalls(connect: { descriptor, address, length in
                let result = real.connect(descriptor, address, length)
                return result == -EINPROGRESS ? -EINTR : result
            })
            let recorder = Recorder()
            _ = ByteChannel.connect(
                to: listener.endpoint, on: loop, tools: DialTools(calls: calls), handler: recorder)
            _ = try await recorder.open()
        }
    }

    @Test func `close() cancels a running connection attempt`() async throws {
        try await withLoop { loop in
            let recorder = Recorder()
            let channel = ByteChannel.connect(
                to: .tcp(host: "192.0.2.1", port: 1), on: loop, tools: DialTools(calls: silence), handler: recorder)
            await channel.onLoop { $0.close() }
            let reason = try await recorder.end()
            #expect(reason == .closedByOwner)
        }
    }

    @Test
    func `a missing Unix socket fails with socketNotFound, and a too long path fails with invalidConfiguration`()
        async throws
    {
        try await withLoop { loop in
            let folder = try TemporaryFolder()
            let error = try await failure(.unix(path: folder.file("none.sock")), loop)
            #expect(error.code == .socketNotFound)
            #expect(error.message.hasPrefix("no such socket: unix:\(folder.file("none.sock"))"))
            let long = String(repeating: "x", count: 108)
            #expect(try await failure(.unix(path: long), loop).code == .invalidConfiguration)
        }
    }

    @Test func `a closed descriptor is refused with invalidDescriptor`() async throws {
        try await withLoop { loop in
            let error = try await failure(.descriptors(reading: 9999, writing: 9999), loop)
            #expect(error.code == .invalidDescriptor)
        }
    }

    // MARK: Listening

    @Test func `listening on a port that is in use throws addressInUse`() async throws {
        try await withLoop { loop in
            let first = try ChannelListener.listen(loop: loop) { _ in Recorder() }
            do throws(TransportError) {
                _ = try ChannelListener.listen(
                    on: .tcp(host: "127.0.0.1", port: first.port), loop: loop
                ) { _ in Recorder() }
                Issue.record("two listeners on one port")
            } catch {
                #expect(error.code == .addressInUse)
            }
        }
    }

    @Test func `a listener that ran out of file descriptors accepts connections when a descriptor is free again`()
        async throws
    {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let isExhausted = Atomic<Bool>(true)
        let refused = Watched(0)
        let real = SystemCalls.real
        let calls = SystemCalls(accept: { descriptor in
            if !isExhausted.load(ordering: .relaxed) { return real.accept(descriptor) }
            refused.update { $0 += 1 }
            return -EMFILE
        })
        let listener = try ChannelListener.listen(
            on: .tcp(), tls: nil, options: ChannelOptions(), loop: loop, calls: calls
        ) { _ in Echo() }
        let recorder = Recorder()
        let channel = ByteChannel.connect(to: listener.endpoint, on: loop, handler: recorder)
        try await refused.wait("the refusal") { $0 == 1 }
        isExhausted.store(false, ordering: .relaxed)
        await loop.run {}
        clock.advance(by: .milliseconds(100))
        channel.send([1, 2, 3])
        #expect(try await recorder.bytes(3) == [1, 2, 3])
        await loop.shutdown()
    }

    @Test func `a new listener can use the Unix socket path of a closed listener`() async throws {
        try await withLoop { loop in
            let folder = try TemporaryFolder()
            for _ in 0..<2 {
                let listener = try ChannelListener.listen(on: .unix(path: folder.file("s")), loop: loop) { _ in Echo() }
                let recorder = Recorder()
                ByteChannel.connect(to: listener.endpoint, on: loop, handler: recorder)
                _ = try await recorder.open()
                listener.close()
                await loop.run {}
            }
        }
    }
}
