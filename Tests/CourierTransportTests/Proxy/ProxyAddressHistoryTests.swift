import TestSupport
import Testing

@testable import CourierTransport

/// The order in which a SOCKS5 proxy is asked for the broker's addresses, if the client resolved the name itself.
@Suite(.timeLimit(.minutes(5))) struct ProxyAddressHistoryTests {
    typealias Step = ScriptedProxy.Step

    private static let acceptance = [
        Step(after: 3, act: .say([5, 0])), Step(after: 4, act: .say([5, 0, 0, 1, 127, 0, 0, 1, 0, 80])),
    ]
    private static let refusal = [Step(after: 3, act: .say([5, 0])), Step(after: 4, act: .say([5, 4]))]
    /// The number of bytes of the greeting and the request for an IPv4 address.
    private static let requestEnd = 3 + 4 + 4 + 2

    private let history = AddressHistory()

    private func connect(to proxy: ScriptedProxy, _ loop: EventLoop) throws -> Recorder {
        let resolver = HostResolver { _, port in
            do throws(TransportError) {
                var found: [SocketAddress] = []
                for address in ["192.0.2.1", "192.0.2.2"] {
                    found += try SocketAddress.lookUp(host: address, port: port, isNumeric: true)
                }
                return .success(found)
            } catch {
                return .failure(error)
            }
        }
        let tools = DialTools(resolver: resolver, proxy: try proxy.setting(.socks5), history: history)
        let recorder = Recorder()
        _ = ByteChannel.connect(
            to: .tcp(host: "broker.example", port: 80), on: loop, tools: tools, handler: recorder)
        return recorder
    }

    private func open(through proxy: ScriptedProxy, _ loop: EventLoop) async throws {
        let channel = try await connect(to: proxy, loop).open()
        await channel.onLoop { $0.abort() }
    }

    /// The last byte of each address that the proxy was asked for.
    private func asked(_ proxy: ScriptedProxy) -> [UInt8] {
        proxy.connections.value.map { $0.received.count == Self.requestEnd ? $0.received[Self.requestEnd - 3] : 0 }
    }

    @Test func `an address that the proxy could not reach is not requested first on the next connection`()
        async throws
    {
        try await withLoop { loop in
            let proxy = try ScriptedProxy(Self.refusal, Self.acceptance, on: loop)
            try await open(through: proxy, loop)
            #expect(asked(proxy) == [1, 2])
            try await open(through: proxy, loop)
            #expect(asked(proxy) == [1, 2, 2])
        }
    }

    @Test func `if a connection through the proxy failed, the next connection requests another address first`()
        async throws
    {
        try await withLoop { loop in
            let proxy = try ScriptedProxy(Self.acceptance, on: loop)
            try await open(through: proxy, loop)
            await loop.run { [history] in history.presentFailed(now: loop.clock.now) }
            try await open(through: proxy, loop)
            await loop.run { [history] in
                history.presentServed()
                history.attemptBegins()
            }
            try await open(through: proxy, loop)
            #expect(asked(proxy) == [1, 2, 2])
        }
    }

    @Test func `if the proxy does not answer the request for an address, another address is requested first`()
        async throws
    {
        try await withLoop { server in
            let clock = ManualClock()
            let loop = try EventLoop(clock: clock)
            let proxy = try ScriptedProxy([Step(after: 3, act: .say([5, 0]))], Self.acceptance, on: server)
            let silent = try connect(to: proxy, loop)
            try await proxy.connections.wait("the request") { $0.first?.received.count == Self.requestEnd }
            clock.advance(by: .seconds(30))
            #expect(try await silent.failure().code == .connectTimedOut)
            await loop.run { [history] in history.presentFailed(now: loop.clock.now) }
            try await open(through: proxy, loop)
            #expect(asked(proxy) == [1, 2])
            await loop.shutdown()
        }
    }

    @Test
    func `if the proxy closes the connection after a request, the next connection requests another address first`()
        async throws
    {
        try await withLoop { loop in
            let closing = [Step(after: 3, act: .say([5, 0])), Step(after: Self.requestEnd, act: .close)]
            let proxy = try ScriptedProxy(closing, Self.acceptance, on: loop)
            #expect(try await connect(to: proxy, loop).failure().code == .proxyFailed)
            await loop.run { [history] in history.presentFailed(now: loop.clock.now) }
            try await open(through: proxy, loop)
            #expect(asked(proxy) == [1, 2])
        }
    }

    @Test func `if the proxy closes the connection before the request, no address of the broker is stored as failed`()
        async throws
    {
        try await withLoop { loop in
            let proxy = try ScriptedProxy([Step(after: 3, act: .close)], on: loop)
            #expect(try await connect(to: proxy, loop).failure().code == .proxyFailed)
            let isEmpty = await loop.run { [history] in history.isEmpty }
            #expect(isEmpty)
        }
    }
}
