import TestSupport
import Testing

@testable import CourierTransport

/// Channels through two real proxies: tinyproxy (HTTP) and microsocks (SOCKS5).
@Suite(.timeLimit(.minutes(5)))
struct RealProxyTests {
    /// Resolves every name to an address of this machine, for proxies that are asked for an address.
    private let tools = DialTools(
        resolver: HostResolver { _, port in
            do throws(TransportError) {
                return .success(try SocketAddress.lookUp(host: "127.0.0.1", port: port, isNumeric: true))
            } catch {
                return .failure(error)
            }
        })

    private func connect(
        _ proxy: ProxyConfiguration, host: String, port: UInt16, tls: TLSContext? = nil,
        options: ChannelOptions = ChannelOptions(), on loop: EventLoop
    ) -> (Recorder, ByteChannel) {
        var tools = tools
        tools.proxy = .proxy(proxy)
        let recorder = Recorder()
        let channel = ByteChannel.connect(
            to: .tcp(host: host, port: port), tls: tls, options: options, on: loop, tools: tools, handler: recorder)
        return (recorder, channel)
    }

    @Test(arguments: ProxyConfiguration.Kind.allCases, [true, false])
    func `1 MiB is echoed through each proxy, with and without TLS and WebSocket`(
        kind: ProxyConfiguration.Kind, hasUser: Bool
    ) async throws {
        let certificates = try await Certificates.shared
        let proxy = try await RealProxy(kind, user: hasUser ? "user" : nil, password: "pa55word")
        try await withLoop { loop in
            for (isSecure, isFramed) in [(false, false), (true, false), (false, true), (true, true)] {
                let server = TLSServerConfiguration(identity: certificates.server)
                var options = ChannelOptions()
                options.webSocket = isFramed ? WebSocketConfiguration() : nil
                let listener = try ChannelListener.listen(
                    tls: isSecure ? try TLSContext(server: server) : nil, options: options, loop: loop
                ) { _ in Echo() }
                let (recorder, channel) = connect(
                    proxy.configuration, host: "localhost", port: listener.port,
                    tls: isSecure ? try TLSContext(client: certificates.client) : nil, options: options, on: loop)
                let sent = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
                channel.send(sent)
                #expect(try await recorder.bytes(sent.count) == sent)
                #expect(await channel.onLoop { $0.security != nil } == isSecure)
            }
        }
        await proxy.kill()
    }

    /// The first certificate is valid for 127.0.0.1, the proxy's address. The broker's name is “elsewhere.example”.
    @Test(arguments: [("server", false), ("elsewhere", true)])
    func `TLS through a proxy checks the name of the broker, not the name of the proxy`(
        identity: String, isRight: Bool
    ) async throws {
        let certificates = try await Certificates.shared
        let proxy = try await RealProxy(.socks5)
        try await withLoop { loop in
            let listener = try ChannelListener.listen(
                tls: try TLSContext(server: TLSServerConfiguration(identity: certificates.identity(identity))),
                loop: loop
            ) { _ in Echo() }
            let (recorder, _) = connect(
                proxy.configuration, host: "elsewhere.example", port: listener.port,
                tls: try TLSContext(client: certificates.client), on: loop)
            if isRight {
                _ = try await recorder.open()
            } else {
                let error = try await recorder.failure()
                #expect(error.code == .tlsHostNameMismatch)
                #expect(error.message.contains("is not for “elsewhere.example”"), "\(error)")
            }
        }
        await proxy.kill()
    }

    @Test(arguments: ProxyConfiguration.Kind.allCases, ["someone:else", ""])
    func `the error for wrong or missing proxy credentials says how to fix the problem`(
        kind: ProxyConfiguration.Kind, credentials: String
    ) async throws {
        let proxy = try await RealProxy(kind, user: "user", password: "hunter2")
        try await withLoop { loop in
            let url = "\(kind.rawValue)://\(credentials.isEmpty ? "" : "\(credentials)@")127.0.0.1:\(proxy.port)"
            let (recorder, _) = connect(try ProxyConfiguration(url: url), host: "localhost", port: 1, on: loop)
            let error = try await recorder.failure()
            #expect(error.code == .proxyAuthenticationFailed)
            #expect(error.message.hasPrefix("the proxy \(kind.rawValue)://127.0.0.1:\(proxy.port) "))
            let words = credentials.isEmpty ? "add" : kind == .http ? "correct them" : "user name and"
            #expect(error.message.contains(words), "\(error)")
        }
        await proxy.kill()
    }

    @Test(arguments: ProxyConfiguration.Kind.allCases)
    func `the errors for an unreachable broker and for an unreachable proxy are different`(
        kind: ProxyConfiguration.Kind
    ) async throws {
        let proxy = try await RealProxy(kind)
        try await withLoop { loop in
            let port = try LocalPort.free()
            let (refused, _) = connect(proxy.configuration, host: "127.0.0.1", port: port, on: loop)
            let error = try await refused.failure()
            #expect(error.code == .proxyRefused)
            #expect(error.message.contains("127.0.0.1:\(port)"))
            await proxy.kill()
            let (unreached, _) = connect(proxy.configuration, host: "127.0.0.1", port: port, on: loop)
            #expect(try await unreached.failure().code == .connectionRefused)
        }
    }

    @Test func `if the proxy forbids the port, the error advises the user to ask the administrator`() async throws {
        let proxy = try await RealProxy(.http, allowedPort: 443)
        try await withLoop { loop in
            let error = try await connect(proxy.configuration, host: "localhost", port: 1_883, on: loop).0.failure()
            #expect(error.code == .proxyRefused)
            #expect(error.message.contains("does not allow connections to localhost:1883 (status 403)"))
            #expect(error.message.contains("administrator"))
        }
        await proxy.kill()
    }
}
