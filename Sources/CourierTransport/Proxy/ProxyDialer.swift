/// Connects a channel to a host through a proxy. It connects to the proxy, requests a connection to the host, and
/// attaches the socket to the channel.
///
/// TLS and WebSocket then work as on a direct connection to the host.
final class ProxyDialer: Dialer {
    private let proxy: ProxyConfiguration
    private let host: String
    private let port: UInt16
    private let tools: DialTools
    private let loop: EventLoop
    private let options: ChannelOptions
    private weak var channel: ByteChannel?

    /// The dialer's state: `start → (lookingUp →) connecting → talking`. When the proxy refuses an address, the dialer
    /// returns to `connecting` for the next address of the host.
    private enum Step {
        case lookingUp(LookUpTicket?)
        case connecting(TCPDialer)
        case talking(SocketExchange)
    }

    private var step = Step.lookingUp(nil)
    /// The targets to request from the proxy, in order. There are several targets only if the client looked up the host
    /// name itself.
    private var targets: [ProxyTarget] = []
    /// The targets as socket addresses, for the address history. Empty if the client did not look up the host name
    /// itself.
    private var addresses: [SocketAddress] = []
    private var refusals: [TransportError] = []

    init(_ proxy: ProxyConfiguration, host: String, port: UInt16, channel: ByteChannel, tools: DialTools) {
        self.proxy = proxy
        self.host = host
        self.port = port
        self.channel = channel
        self.tools = tools
        loop = channel.loop
        options = channel.options
    }

    var progress: String {
        switch step {
        case .lookingUp: "the lookup of the host name did not finish"
        case .connecting(let dialer): "no connection to the proxy \(proxy): \(dialer.progress)"
        case .talking(let exchange): exchange.progress
        }
    }

    func start() {
        do throws(TransportError) {
            let target = try ProxyTarget(host: host, port: port)
            switch (proxy.kind, target.host) {
            case (.socks5, .name): lookUp()
            case (.socks5, .address), (.http, _), (.socks5h, _):
                targets = [target]
                connect()
            }
        } catch {
            fail(error)
        }
    }

    func cancel() {
        channel = nil
        stop()
    }

    private func stop() {
        switch step {
        case .lookingUp(let ticket): ticket?.cancel()
        case .connecting(let dialer): dialer.cancel()
        case .talking(let exchange):
            // The requested address may be the reason why a proxy is silent or closes the connection. If this attempt
            // fails, `reached` makes the history record the failure for this address.
            if exchange.hasAskedForTarget, let address { tools.history?.reached(address) }
            exchange.cancel()
        }
    }

    /// The address that is requested from the proxy now; `nil` if the host has only one address.
    private var address: SocketAddress? {
        addresses.count > 1 && refusals.count < addresses.count ? addresses[refusals.count] : nil
    }

    // MARK: Resolving the host name, for `socks5`

    private func lookUp() {
        let box = WeakDialer(self)
        let loop = loop
        step = .lookingUp(
            tools.resolver.resolve(host: host, port: port) { answer in
                loop.execute { box.dialer?.resolved(answer) }
            })
    }

    private func resolved(_ answer: HostResolver.Answer) {
        guard channel != nil else { return }
        switch answer {
        case .success(let found):
            let order = HappyEyeballs.order(found.map { $0.kind == .ipv6 ? .ipv6 : .ipv4 })
            addresses = order.map { found[$0] }.filter { IPAddress($0) != nil }
            if let history = tools.history { addresses = history.sorted(addresses, now: loop.clock.now) }
            targets = addresses.compactMap { IPAddress($0) }.map { ProxyTarget($0, port: port) }
            connect()
        case .failure(let error):
            fail(
                TransportError(
                    error.code,
                    "\(error.message) (this machine looked up the name; "
                        + "with socks5h://, the proxy \(proxy) looks up the name)",
                    errno: error.errno))
        }
    }

    // MARK: Connecting to the proxy

    /// Connects to the proxy for the next target. Fails if the proxy has refused all targets.
    private func connect() {
        guard refusals.count < targets.count else { return fail(summary) }
        let dialer = TCPDialer(host: proxy.host, port: proxy.port, loop: loop, options: options, tools: tools) {
            [weak self] result in
            self?.connected(result)
        }
        step = .connecting(dialer)
        dialer.start()
    }

    private func connected(_ result: Result<Int32, TransportError>) {
        switch result {
        case .success(let socket):
            let exchange = SocketExchange(
                socket, handshake, loop: loop, name: "the proxy \(proxy)", calls: tools.calls
            ) { [weak self] result in self?.finished(result) }
            step = .talking(exchange)
            exchange.start()
        case .failure(let error):
            fail(
                TransportError(error.code, "no connection to the proxy \(proxy): \(error.message)", errno: error.errno))
        }
    }

    private var handshake: any ProxyHandshake {
        let route = ProxyRoute(proxy, targets[refusals.count])
        return switch proxy.kind {
        case .http: HTTPConnectHandshake(route, credentials: proxy.credentials)
        case .socks5, .socks5h: SOCKS5Handshake(route, credentials: proxy.credentials)
        }
    }

    private func finished(_ result: Result<Int32, TransportError>) {
        switch result {
        case .success(let socket):
            guard let channel else {
                return DescriptorStream(reading: socket, writing: socket, name: host).close(abruptly: true)
            }
            self.channel = nil
            if let address { tools.history?.reached(address) }
            channel.attach(
                DescriptorStream(reading: socket, writing: socket, name: channel.peerName, calls: tools.calls))
        // This refusal shows that the proxy works. The proxy may be able to reach another address of the host, so the
        // next address is requested.
        case .failure(let error) where error.code == .proxyRefused:
            if let address { tools.history?.failed(address, now: loop.clock.now) }
            refusals.append(error)
            connect()
        case .failure(let error): fail(error)
        }
    }

    /// The error if the proxy refused all addresses: the message of the first refusal, and a list of the tried
    /// addresses.
    private var summary: TransportError {
        guard let first = refusals.first else {
            return TransportError(.hostNotFound, "the host name “\(host)” has no address")
        }
        guard refusals.count > 1 else { return first }
        let tried = targets.map(\.text).joined(separator: ", ")
        return TransportError(first.code, "\(first.message) (tried for \(host):\(port): \(tried))")
    }

    private func fail(_ error: TransportError) {
        let channel = channel
        self.channel = nil
        stop()
        channel?.finish(.failed(error))
    }
}
