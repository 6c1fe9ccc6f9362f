import Glibc
import TestSupport
import Testing

@testable import CourierTransport

/// The addresses of a name that a client remembers as failed, and their effect on the next connection.
@Suite struct AddressHistoryTests {
    private let now = ContinuousClock.now

    private static func addresses(_ hosts: [String], port: UInt16 = 1883) throws(TransportError) -> [SocketAddress] {
        var found: [SocketAddress] = []
        for host in hosts { found += try SocketAddress.lookUp(host: host, port: port, isNumeric: true) }
        return found
    }

    private func hosts(
        _ history: AddressHistory, _ addresses: [SocketAddress], after time: Duration = .zero
    ) -> [String] {
        history.sorted(addresses, now: now.advanced(by: time)).map(\.host)
    }

    // MARK: Order

    @Test func `failed addresses are moved to the end of the list, in their original order`() throws {
        let history = AddressHistory()
        let all = try Self.addresses(["::1", "127.0.0.1", "127.0.0.2", "127.0.0.3"])
        #expect(hosts(history, all) == ["::1", "127.0.0.1", "127.0.0.2", "127.0.0.3"])
        history.failed(all[2], now: now)
        history.failed(all[0], now: now)
        #expect(hosts(history, all) == ["127.0.0.1", "127.0.0.3", "::1", "127.0.0.2"])
        history.reached(all[0])
        history.presentServed()
        #expect(hosts(history, all) == ["::1", "127.0.0.1", "127.0.0.3", "127.0.0.2"])
    }

    @Test
    func `if all addresses of an endpoint have failed, only the failures of this endpoint are forgotten`()
        throws
    {
        let history = AddressHistory()
        let all = try Self.addresses(["127.0.0.1", "127.0.0.2"])
        let others = try Self.addresses(["127.0.0.1", "127.0.0.2"], port: 1884)
        for address in [others[0], all[1], all[0]] { history.failed(address, now: now) }
        #expect(hosts(history, all) == ["127.0.0.1", "127.0.0.2"])
        history.failed(all[0], now: now)
        #expect(hosts(history, all) == ["127.0.0.2", "127.0.0.1"])
        #expect(hosts(history, others) == ["127.0.0.2", "127.0.0.1"])
    }

    @Test func `a failed address is forgotten after a fixed time`() throws {
        let history = AddressHistory()
        let all = try Self.addresses(["127.0.0.1", "127.0.0.2"])
        history.failed(all[0], now: now)
        let almost = AddressHistory.memory - .nanoseconds(1)
        #expect(hosts(history, all, after: almost) == ["127.0.0.2", "127.0.0.1"])
        #expect(hosts(history, all, after: AddressHistory.memory) == ["127.0.0.1", "127.0.0.2"])
        #expect(history.isEmpty)
    }

    @Test func `if more addresses fail than the limit, the earliest failures are forgotten`() throws {
        let history = AddressHistory()
        let count = AddressHistory.limit + 3
        let all = try Self.addresses((1...count + 1).map { "127.0.0.\($0)" })
        for address in all.dropLast() { history.failed(address, now: now) }
        #expect(hosts(history, all).prefix(4) == ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.\(count + 1)"])
    }

    @Test func `presentFailed() and presentServed() change only the entry of the address that was reached last`() throws
    {
        let history = AddressHistory()
        let all = try Self.addresses(["127.0.0.1", "127.0.0.2"])
        history.presentFailed(now: now)
        #expect(history.isEmpty)
        history.reached(all[0])
        #expect(!history.isEmpty)
        history.presentFailed(now: now)
        #expect(hosts(history, all) == ["127.0.0.2", "127.0.0.1"])
        history.attemptBegins()
        history.presentServed()
        #expect(hosts(history, all) == ["127.0.0.2", "127.0.0.1"])
        history.reached(all[1])
        history.attemptBegins()
        history.presentFailed(now: now)
        #expect(hosts(history, all) == ["127.0.0.2", "127.0.0.1"])
    }

    // MARK: Connections

    /// Returns tools that resolve every name to these addresses.
    private static func tools(_ hosts: [String], _ history: AddressHistory) -> DialTools {
        let resolver = HostResolver { _, port in
            do throws(TransportError) {
                return .success(try addresses(hosts, port: port))
            } catch {
                return .failure(error)
            }
        }
        return DialTools(resolver: resolver, history: history)
    }

    /// Connects to any of the addresses, and closes the connection.
    private func connect(_ port: UInt16, _ tools: DialTools, _ loop: EventLoop) async throws {
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: .tcp(host: "two.example", port: port), on: loop, tools: tools, handler: recorder)
        _ = try await recorder.open()
        await channel.onLoop { $0.abort() }
    }

    @Test func `after a connection is reported as failed, the next attempt begins with another address`() async throws {
        try await withLoop { loop in
            let (near, far) = (Watched(0), Watched(0))
            func listen(_ host: String, _ port: UInt16, _ count: Watched<Int>) throws -> ChannelListener {
                try ChannelListener.listen(on: .tcp(host: host, port: port), loop: loop) { _ in
                    count.update { $0 += 1 }
                    return Echo()
                }
            }
            let first = try listen("127.0.0.1", 0, near)
            let second = try listen("127.0.0.2", first.port, far)
            let history = AddressHistory()
            let tools = Self.tools(["127.0.0.1", "127.0.0.2"], history)
            try await connect(first.port, tools, loop)
            try await near.wait("the first") { $0 == 1 }
            await loop.run { history.presentFailed(now: loop.clock.now) }
            try await connect(first.port, tools, loop)
            try await far.wait("the second") { $0 == 1 }
            await loop.run {
                history.presentServed()
                history.attemptBegins()
            }
            try await connect(first.port, tools, loop)
            try await far.wait("the second again") { $0 == 2 }
            await loop.run { history.presentFailed(now: loop.clock.now) }
            try await connect(first.port, tools, loop)
            try await near.wait("the first, since both have failed") { $0 == 2 }
            second.close()
            first.close()
        }
    }

    @Test func `an address that refused a connection is not tried first at the next attempt`() async throws {
        try await withLoop { loop in
            let listener = try ChannelListener.listen(on: .tcp(host: "127.0.0.2"), loop: loop) { _ in Echo() }
            let asked = Watched<[Bool]>([])
            let history = AddressHistory()
            var tools = Self.tools(["127.0.0.1", "127.0.0.2"], history)
            let real = SystemCalls.real
            tools.calls = SystemCalls(connect: { descriptor, address, length in
                // In `sockaddr_in`, the last byte of the IPv4 address has the offset 7.
                let isFirst = address.load(fromByteOffset: 7, as: UInt8.self) == 1
                asked.update { $0.append(isFirst) }
                return isFirst ? -ECONNREFUSED : real.connect(descriptor, address, length)
            })
            try await connect(listener.port, tools, loop)
            #expect(asked.value == [true, false])
            try await connect(listener.port, tools, loop)
            #expect(asked.value == [true, false, false])
        }
    }

    @Test func `an address that does not answer is not tried first again after a connection to another address`()
        async throws
    {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let listener = try ChannelListener.listen(on: .tcp(host: "127.0.0.2"), loop: loop) { _ in Echo() }
        let asked = Watched<[Bool]>([])
        let history = AddressHistory()
        var tools = Self.tools(["127.0.0.1", "127.0.0.2"], history)
        let real = SystemCalls.real
        tools.calls = SystemCalls(connect: { descriptor, address, length in
            let isFirst = address.load(fromByteOffset: 7, as: UInt8.self) == 1
            asked.update { $0.append(isFirst) }
            return isFirst ? -EINPROGRESS : real.connect(descriptor, address, length)
        })
        async let first: Void = connect(listener.port, tools, loop)
        try await asked.wait("the silent one") { $0 == [true] }
        await loop.run {}
        clock.advance(by: HappyEyeballs.recommendedAttemptDelay)
        try await first
        try await connect(listener.port, tools, loop)
        #expect(asked.value == [true, false, false])
        await loop.shutdown()
    }

    @Test
    func `if an attempt is aborted, an address that did not answer in time is not tried first at the next attempt`()
        async throws
    {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let asked = Watched<[UInt8]>([])
        let history = AddressHistory()
        var tools = Self.tools(["127.0.0.1", "127.0.0.2", "127.0.0.3"], history)
        tools.calls = SystemCalls(connect: { _, address, _ in
            let last = address.load(fromByteOffset: 7, as: UInt8.self)
            asked.update { $0.append(last) }
            return -EINPROGRESS
        })
        func begin() -> ByteChannel {
            ByteChannel.connect(to: .tcp(host: "two.example", port: 1), on: loop, tools: tools, handler: Recorder())
        }
        let first = begin()
        try await asked.wait("the first address") { $0 == [1] }
        await loop.run {}
        clock.advance(by: HappyEyeballs.recommendedAttemptDelay)
        try await asked.wait("the second address") { $0 == [1, 2] }
        await first.onLoop { $0.abort() }
        let second = begin()
        try await asked.wait("the second address again") { $0 == [1, 2, 2] }
        await second.onLoop { $0.abort() }
        await loop.shutdown()
    }

    @Test func `if a host has only one address, the address history stores no failure of this address`() async throws {
        try await withLoop { loop in
            let listener = try ChannelListener.listen(loop: loop) { _ in Echo() }
            let history = AddressHistory()
            try await connect(listener.port, Self.tools(["127.0.0.1"], history), loop)
            await loop.run { history.presentFailed(now: loop.clock.now) }
            #expect(await loop.run { history.isEmpty })
        }
    }
}
