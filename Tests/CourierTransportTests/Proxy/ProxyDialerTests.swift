import TestSupport
import Testing

@testable import CourierTransport

/// Connections through proxies that behave correctly, and through proxies that do not.
@Suite(.timeLimit(.minutes(5)))
struct ProxyDialerTests {
    typealias Step = ScriptedProxy.Step

    private static let accepted: [UInt8] = [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]
    /// The number of bytes of the request for “broker.example”.
    private static let requestCount = 4 + 1 + 14 + 2
    private static let established = "HTTP/1.1 200 Connection established\r\nProxy-agent: test\r\n\r\n"

    private func connect(
        _ proxy: ProxySetting, _ loop: EventLoop,
        to endpoint: TransportEndpoint = .tcp(host: "broker.example", port: 80),
        tools: DialTools = DialTools(), onOpen: @escaping @Sendable (ByteChannel) -> Void = { _ in }
    ) -> (Recorder, ByteChannel) {
        var tools = tools
        tools.proxy = proxy
        let recorder = Recorder(onOpen: onOpen)
        return (recorder, ByteChannel.connect(to: endpoint, on: loop, tools: tools, handler: recorder))
    }

    // MARK: Success

    @Test(arguments: [true, false])
    func `bytes that are received together with the proxy's response are delivered by the channel`(
        isSpelled: Bool
    ) async throws {
        try await withLoop { loop in
            let banner = Array("\u{20}\u{02}\r\n\r\nhello".utf8)
            func say(_ bytes: [UInt8]) -> ScriptedProxy.Act { isSpelled ? .spell(bytes) : .say(bytes) }
            let http = try ScriptedProxy(
                [Step(after: 50, act: say(Array(Self.established.utf8) + banner))], on: loop)
            let socks = try ScriptedProxy(
                [
                    Step(after: 3, act: say([5, 0])),
                    Step(after: 3 + Self.requestCount, act: say(Self.accepted + banner)),
                ], on: loop)
            for proxy in [try http.setting(.http), try socks.setting(.socks5h)] {
                let (recorder, channel) = connect(proxy, loop) { $0.write([1, 2, 3]) }
                #expect(try await recorder.bytes(banner.count) == banner)
                #expect(channel.peerName == "broker.example:80")
            }
            for proxy in [http, socks] {
                try await proxy.connections.wait("our bytes") { $0[0].received.suffix(3) == [1, 2, 3] }
            }
        }
    }

    @Test func `bytes written before the proxy tunnel opens are sent after the CONNECT request`() async throws {
        try await withLoop { loop in
            let proxy = try ScriptedProxy([Step(after: 50, act: .say(Self.established))], on: loop)
            let (recorder, channel) = connect(try proxy.setting(.http), loop)
            channel.send([7, 8, 9])
            _ = try await recorder.open()
            try await proxy.connections.wait("our bytes") { $0[0].received.suffix(3) == [7, 8, 9] }
            let request = "CONNECT broker.example:80 HTTP/1.1\r\nHost: broker.example:80\r\n\r\n"
            #expect(proxy.connections.value[0].received == Array(request.utf8) + [7, 8, 9])
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `short reads and short writes do not change the SOCKS5 handshake`(seed: UInt64) async throws {
        try await withLoop { loop in
            let credentials = ProxyCredentials(user: "user", password: "password")
            let proxy = try ScriptedProxy(
                [
                    Step(after: 4, act: .say([5, 2])), Step(after: 19, act: .say([1, 0])),
                    Step(after: 19 + Self.requestCount, act: .say(Self.accepted + [42])),
                ], on: loop)
            let (recorder, _) = connect(
                try proxy.setting(.socks5h, credentials), loop,
                tools: DialTools(calls: .short(seed: seed, limit: 3)))
            #expect(try await recorder.bytes(1) == [42])
        }
    }

    private func resolver(_ addresses: [String]) -> HostResolver {
        HostResolver { host, port in
            do throws(TransportError) {
                guard host == "broker.example" else {
                    throw TransportError(.nameResolutionFailed, "the host name “\(host)” has no address: …")
                }
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

    @Test func `if the scheme is socks5, the client looks up the host and requests one address after the other`()
        async throws
    {
        try await withLoop { loop in
            let refusal = [Step(after: 3, act: .say([5, 0])), Step(after: 4, act: .say([5, 4]))]
            let acceptance = [Step(after: 3, act: .say([5, 0])), Step(after: 4, act: .say(Self.accepted + [42]))]
            let proxy = try ScriptedProxy(refusal, acceptance, on: loop)
            let (recorder, _) = connect(
                try proxy.setting(.socks5), loop,
                tools: DialTools(resolver: resolver(["2001:db8::1", "192.0.2.1", "192.0.2.2"])))
            #expect(try await recorder.bytes(1) == [42])
            let connections = try await proxy.connections.wait("the end of the first") { $0[0].isClosed }
            let ipv6: [UInt8] = [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
            #expect(
                connections.map(\.received) == [
                    [5, 1, 0, 5, 1, 0, 4] + ipv6 + [0, 80], [5, 1, 0, 5, 1, 0, 1, 192, 0, 2, 1, 0, 80],
                ])
        }
    }

    @Test func `if the proxy can reach no address of the host, the error lists all addresses`() async throws {
        try await withLoop { loop in
            let proxy = try ScriptedProxy(
                [Step(after: 3, act: .say([5, 0])), Step(after: 4, act: .say([5, 5]))], on: loop)
            let (recorder, _) = connect(
                try proxy.setting(.socks5), loop, tools: DialTools(resolver: resolver(["192.0.2.1", "192.0.2.2"])))
            let error = try await recorder.failure()
            #expect(error.code == .proxyRefused)
            #expect(error.message.contains("reports that 192.0.2.1:80 refused the connection"))
            #expect(error.message.hasSuffix("(tried for broker.example:80: 192.0.2.1:80, 192.0.2.2:80)"))
            #expect(proxy.connections.value.count == 2)
        }
    }

    @Test func `if the scheme is socks5h or http, the client does not look up the host`() async throws {
        try await withLoop { loop in
            let tools = DialTools(
                resolver: HostResolver { host, _ in
                    Issue.record("looked up: \(host)")
                    return .failure(TransportError(.nameResolutionFailed, "asked"))
                })
            let http = try ScriptedProxy([Step(after: 50, act: .say(Self.established))], on: loop)
            let socks = try ScriptedProxy(
                [Step(after: 3, act: .say([5, 0])), Step(after: 4, act: .say(Self.accepted))], on: loop)
            _ = try await connect(http.setting(.http), loop, tools: tools).0.open()
            _ = try await connect(socks.setting(.socks5h), loop, tools: tools).0.open()
        }
    }

    @Test func `connections to Unix sockets and to the app's own streams never use the proxy`() async throws {
        try await withLoop { loop in
            let nowhere = ProxySetting.proxy(try ProxyConfiguration(url: "http://no-such-proxy.invalid:1"))
            let folder = try TemporaryFolder()
            let listener = try ChannelListener.listen(on: .unix(path: folder.file("s")), loop: loop) { _ in Echo() }
            _ = try await connect(nowhere, loop, to: listener.endpoint).0.open()
            let (ours, _) = MemoryStream.pair()
            _ = try await connect(nowhere, loop, to: .stream(ours)).0.open()
        }
    }

    @Test(arguments: [
        (false, false, "all_proxy"), (true, false, "https_proxy"), (false, true, "http_proxy"),
        (true, true, "https_proxy"),
    ])
    func `TLS connections use https_proxy, WebSocket without TLS uses http_proxy, and TCP uses all_proxy`(
        isSecure: Bool, isFramed: Bool, name: String
    ) async throws {
        try await withLoop { loop in
            let proxy = try ScriptedProxy([Step(after: 20, act: .close)], on: loop)
            let others = ["http_proxy", "https_proxy", "all_proxy"].map { ($0, "http://127.0.0.1:1") }
            var variables = Dictionary(uniqueKeysWithValues: others)
            variables[name] = "127.0.0.1:\(proxy.port)"
            var options = ChannelOptions()
            options.webSocket = isFramed ? WebSocketConfiguration() : nil
            let recorder = Recorder()
            ByteChannel.connect(
                to: .tcp(host: "broker.example", port: 1), tls: isSecure ? try TLSContext(client: .init()) : nil,
                proxy: .variables(variables), options: options, on: loop, handler: recorder)
            #expect(try await recorder.failure().code == .proxyFailed)
            #expect(proxy.connections.value.count == 1)
        }
    }

    @Test func `the proxy environment variables are read again for every connection`()
        async throws
    {
        try await withLoop { loop in
            let proxy = try ScriptedProxy(
                [Step(after: 3, act: .say([5, 0])), Step(after: 4, act: .say(Self.accepted))], on: loop)
            let listener = try ChannelListener.listen(loop: loop) { _ in Echo() }
            let variables = Watched(["ALL_PROXY": "socks5h://127.0.0.1:\(proxy.port)"])
            let tools = DialTools(variable: { variables.value[$0] })
            _ = try await connect(.environment, loop, to: listener.endpoint, tools: tools).0.open()
            #expect(proxy.connections.value.count == 1)
            variables.update { $0["no_proxy"] = "127.0.0.0/8" }
            let (recorder, channel) = connect(.environment, loop, to: listener.endpoint, tools: tools)
            channel.send([1])
            #expect(try await recorder.bytes(1) == [1])
            #expect(proxy.connections.value.count == 1)
            variables.update { $0 = ["all_proxy": "http://u:hunter2@h"] }
            let error = try await connect(.environment, loop, tools: tools).0.failure()
            #expect(error.code == .invalidConfiguration)
            #expect(error.message.hasPrefix("the variable all_proxy: the proxy's URL has no port"))
        }
    }

    // MARK: Failures

    /// A proxy's wrong behavior, and the expected error. “%” stands for the proxy's name.
    struct Misbehaviour: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var kind = ProxyConfiguration.Kind.http
        var credentials: ProxyCredentials?
        let steps: [Step]
        let code: TransportError.Code
        let words: String
    }

    static let misbehaviours = [
        Misbehaviour(
            testDescription: "HTTP, closes at once", steps: [Step(after: 0, act: .close)], code: .proxyFailed,
            words: "% closed the connection instead of answering the request for broker.example:80"),
        Misbehaviour(
            testDescription: "HTTP, resets", steps: [Step(after: 20, act: .reset)], code: .proxyFailed,
            words: "% closed the connection instead of answering the request for broker.example:80"),
        Misbehaviour(
            testDescription: "HTTP, closes in the middle",
            steps: [Step(after: 20, act: .say("HTTP/1.1 200 O")), Step(after: 20, act: .close)], code: .proxyFailed,
            words: "% closed the connection while it answered"),
        Misbehaviour(
            testDescription: "HTTP, header without end",
            steps: [Step(after: 20, act: .say("HTTP/1.1 200 O")), Step(after: 20, act: .sayForEver([0x61]))],
            code: .proxyFailed, words: "% sent headers of more than 16384 bytes"),
        Misbehaviour(
            testDescription: "HTTP, fields without end",
            steps: [
                Step(after: 20, act: .say("HTTP/1.1 200 O\r\n")),
                Step(after: 20, act: .sayForEver(Array("a: b\r\n".utf8))),
            ], code: .proxyFailed, words: "% sent headers of more than 16384 bytes"),
        Misbehaviour(
            testDescription: "HTTP, interim answers without end",
            steps: [Step(after: 20, act: .sayForEver(Array("HTTP/1.1 100 C\r\n\r\n".utf8)))], code: .proxyFailed,
            words: "% sent more than 8 interim responses"),
        Misbehaviour(
            testDescription: "HTTP, is a SOCKS proxy", steps: [Step(after: 1, act: .say([5, 0xFF]))],
            code: .proxyFailed, words: "% did not answer with HTTP/1.1; if it is a SOCKS proxy"),
        Misbehaviour(
            testDescription: "HTTP, expects TLS", steps: [Step(after: 1, act: .say([0x15, 3, 1, 0, 2, 2, 70]))],
            code: .proxyFailed, words: "it seems to expect TLS"),
        Misbehaviour(
            testDescription: "HTTP, is a broker", steps: [Step(after: 1, act: .say([0x20, 2, 0, 1]))],
            code: .proxyFailed, words: "% did not answer with HTTP/1.1"),
        Misbehaviour(
            testDescription: "HTTP, refuses and closes",
            steps: [Step(after: 20, act: .say("HTTP/1.1 403 No\r\n\r\n<html>")), Step(after: 20, act: .close)],
            code: .proxyRefused, words: "% does not allow connections to broker.example:80"),
        Misbehaviour(
            testDescription: "HTTP, refuses without having read",
            steps: [
                Step(after: 0, act: .say("HTTP/1.1 407 No\r\n\r\n")), Step(after: 0, act: .close),
            ], code: .proxyAuthenticationFailed, words: "% wants a user name and a password"),
        Misbehaviour(
            testDescription: "HTTP, refuses with a body without end",
            steps: [
                Step(after: 20, act: .say("HTTP/1.1 502 No\r\n\r\n")), Step(after: 20, act: .sayForEver([0x61])),
            ], code: .proxyRefused, words: "% could not connect to broker.example:80"),
        Misbehaviour(
            testDescription: "SOCKS, closes at once", kind: .socks5h, steps: [Step(after: 0, act: .close)],
            code: .proxyFailed, words: "% closed the connection instead of answering the greeting"),
        Misbehaviour(
            testDescription: "SOCKS, resets after the greeting", kind: .socks5h,
            steps: [Step(after: 3, act: .say([5, 0])), Step(after: 4, act: .reset)], code: .proxyFailed,
            words: "% closed the connection instead of answering the request for broker.example:80"),
        Misbehaviour(
            testDescription: "SOCKS, closes in the authentication", kind: .socks5h,
            credentials: ProxyCredentials(user: "u", password: "hunter2"),
            steps: [Step(after: 4, act: .say([5, 2])), Step(after: 5, act: .close)],
            code: .proxyAuthenticationFailed, words: "are the user name and the password right?"),
        Misbehaviour(
            testDescription: "SOCKS, does not know the user", kind: .socks5h,
            credentials: ProxyCredentials(user: "u", password: "hunter2"),
            steps: [Step(after: 4, act: .say([5, 2])), Step(after: 5, act: .say([1, 7]))],
            code: .proxyAuthenticationFailed, words: "% did not accept the user name and the password (status 7)"),
        Misbehaviour(
            testDescription: "SOCKS, wants what we can not do", kind: .socks5h,
            steps: [Step(after: 3, act: .say([5, 1]))], code: .proxyFailed, words: "% chose the authentication method 1"
        ),
        Misbehaviour(
            testDescription: "SOCKS, is an HTTP proxy", kind: .socks5h,
            steps: [Step(after: 3, act: .say("HTTP/1.1 400 Bad\r\n\r\n"))], code: .proxyFailed,
            words: "% answered with HTTP"),
        Misbehaviour(
            testDescription: "SOCKS, closes in the middle of the address", kind: .socks5h,
            steps: [
                Step(after: 3, act: .say([5, 0])), Step(after: 4, act: .say([5, 0, 0, 3, 200, 1, 2])),
                Step(after: 4, act: .close),
            ], code: .proxyFailed, words: "% closed the connection instead of answering the request"),
        Misbehaviour(
            testDescription: "SOCKS, noise without end", kind: .socks5h,
            steps: [Step(after: 0, act: .sayForEver([0xAA]))], code: .proxyFailed, words: "the first byte is 170"),
    ]

    @Test(arguments: misbehaviours)
    func `the error for a misbehaving proxy names the proxy and the failed handshake step`(
        _ row: Misbehaviour
    ) async throws {
        try await withLoop { loop in
            let proxy = try ScriptedProxy(row.steps, on: loop)
            let (recorder, _) = connect(try proxy.setting(row.kind, row.credentials), loop)
            let error = try await recorder.failure()
            #expect(error.code == row.code, "\(error)")
            let name = "the proxy \(row.kind.rawValue)://127.0.0.1:\(proxy.port)"
            let words = row.words.split(separator: "%", omittingEmptySubsequences: false).joined(separator: name)
            #expect(error.message.contains(words), "\(error)")
            #expect(!error.message.contains("hunter2"))
            try await proxy.connections.wait("the end of the connection") { $0[0].isClosed }
            #expect(recorder.log.value.closed.count == 1)
            #expect(!recorder.log.value.isOpen)
        }
    }

    @Test func `the error for an unreachable proxy names the proxy and the cause`() async throws {
        try await withLoop { loop in
            let port = try LocalPort.free()
            let silentProxy = ProxySetting.proxy(try ProxyConfiguration(.http, host: "127.0.0.1", port: port))
            let error = try await connect(silentProxy, loop).0.failure()
            #expect(error.code == .connectionRefused)
            #expect(
                error.message.hasPrefix(
                    "no connection to the proxy http://127.0.0.1:\(port): connection refused: 127.0.0.1:\(port)"))

            let unknown = ProxySetting.proxy(try ProxyConfiguration(.socks5h, host: "proxy.example", port: 1))
            let other = try await connect(unknown, loop, tools: DialTools(resolver: resolver([]))).0.failure()
            #expect(other.code == .nameResolutionFailed)
            #expect(
                other.message.hasPrefix(
                    "no connection to the proxy socks5h://proxy.example:1: the host name “proxy.example” has"))
        }
    }

    @Test func `if the scheme is socks5, the error for an unknown broker name recommends socks5h`() async throws {
        try await withLoop { loop in
            let proxy = ProxySetting.proxy(try ProxyConfiguration(.socks5, host: "127.0.0.1", port: 1))
            let (recorder, _) = connect(
                proxy, loop, to: .tcp(host: "other.example", port: 1), tools: DialTools(resolver: resolver([])))
            let error = try await recorder.failure()
            #expect(error.code == .nameResolutionFailed)
            #expect(error.message.contains("with socks5h://, the proxy socks5://127.0.0.1:1 looks up the name"))
        }
    }

    @Test func `a host name that is invalid for a proxy is refused before a connection is opened`() async throws {
        try await withLoop { loop in
            let proxy = try ScriptedProxy([], on: loop)
            for host in ["a\r\nX-Injected: 1", "bücher.example", "fe80::1%lo"] {
                let error = try await connect(try proxy.setting(.http), loop, to: .tcp(host: host, port: 1)).0.failure()
                #expect(error.code == .invalidConfiguration)
            }
            #expect(proxy.connections.value.isEmpty)
        }
    }

    // MARK: Timeouts

    static let silences: [(ProxyConfiguration.Kind, [Step], String)] = [
        (.http, [], "% did not answer the request for broker.example:80"),
        (.socks5h, [], "% did not answer the greeting"),
        (.socks5h, [Step(after: 4, act: .say([5, 2]))], "% did not answer the authentication"),
        (.socks5h, [Step(after: 4, act: .say([5, 0]))], "% did not answer the request for broker.example:80"),
    ]

    @Test(arguments: silences)
    func `if the proxy is silent, the connect timeout error names the missing response`(
        kind: ProxyConfiguration.Kind, steps: [Step], words: String
    ) async throws {
        try await withLoop { server in
            let clock = ManualClock()
            let loop = try EventLoop(clock: clock)
            let proxy = try ScriptedProxy(steps, on: server)
            let (recorder, channel) = connect(
                try proxy.setting(kind, ProxyCredentials(user: "user", password: "hunter2")), loop)
            let name = "the proxy \(kind.rawValue)://127.0.0.1:\(proxy.port)"
            let expected = words.replacing("%", with: name)
            // Poll until the handshake has reached the step with these words. Each poll lets the loop run once.
            var progress = ""
            while progress != expected { progress = await channel.onLoop { $0.dialer?.progress ?? "" } }
            clock.advance(by: .seconds(30))
            let error = try await recorder.failure()
            #expect(error.code == .connectTimedOut)
            #expect(
                error.message == "connection timed out: broker.example:80; \(expected) within 30.0 seconds")
            try await proxy.connections.wait("the end of the connection") { $0.first?.isClosed == true }
            await loop.shutdown()
        }
    }

    @Test func `if no connection to the proxy opens in time, the connect timeout error names the proxy`() async throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let calls = SystemCalls(connect: { _, _, _ in -115 })  // All connection attempts stay in progress.
        let (recorder, channel) = connect(
            .proxy(try ProxyConfiguration(.http, host: "192.0.2.1", port: 3_128)), loop, tools: DialTools(calls: calls))
        _ = await channel.onLoop { $0.dialer?.progress }
        clock.advance(by: .seconds(30))
        let error = try await recorder.failure()
        #expect(error.code == .connectTimedOut)
        #expect(error.message.contains("no connection to the proxy http://192.0.2.1:3128: no answer within"))
        await loop.shutdown()
    }

    @Test(arguments: [ProxyConfiguration.Kind.http, .socks5h])
    func `close() during the proxy handshake closes the connection to the proxy`(
        kind: ProxyConfiguration.Kind
    ) async throws {
        let loop = try EventLoop(clock: ManualClock())
        let proxy = try ScriptedProxy([], on: loop)
        let (recorder, channel) = connect(try proxy.setting(kind), loop)
        try await proxy.connections.wait("the first bytes") { $0.first?.received.isEmpty == false }
        await channel.onLoop { $0.close() }
        #expect(try await recorder.end() == .closedByOwner)
        try await proxy.connections.wait("the end") { $0[0].isClosed }
        #expect(recorder.log.value.closed == [.closedByOwner])
        await loop.shutdown()
    }

    @Test func `shutdown() of the loop during the proxy handshake closes the connection to the proxy`() async throws {
        try await withLoop { server in
            let loop = try EventLoop(clock: ManualClock())
            let proxy = try ScriptedProxy([], on: server)
            let (recorder, _) = connect(try proxy.setting(.http), loop)
            try await proxy.connections.wait("the request") { $0.first?.received.isEmpty == false }
            await loop.shutdown()
            #expect(try await recorder.failure().code == .loopShutDown)
            try await proxy.connections.wait("the end") { $0[0].isClosed }
        }
    }
}
