/// Accepts connections on one loop and creates a ``ByteChannel`` for each connection.
///
/// ```swift
/// let listener = try ChannelListener.listen(on: .tcp(host: "127.0.0.1", port: 0), loop: loop) { _ in
///     Broker.Session()
/// }
/// print(listener.port)
/// ```
///
/// Safe to share: all state is constant, except state that only the loop uses.
public final class ChannelListener: @unchecked Sendable {
    /// The maximum number of connections that the listener accepts before the loop does its other work.
    private static let acceptsPerTurn = 64
    /// The pause before connections are accepted again, if no descriptor or memory is left.
    private static let exhaustionPause = Duration.milliseconds(100)

    /// The address to listen on.
    public enum Address: Sendable {
        /// An IPv4 or IPv6 address and a port. For port 0, the system chooses a free port.
        case tcp(host: String = "127.0.0.1", port: UInt16 = 0)
        /// The path of a Unix socket. No file may exist there. The listener removes the socket when it closes.
        case unix(path: String)
    }

    /// The loop of the listener and of all channels that it accepts.
    public let loop: EventLoop
    /// The TCP port that the listener uses; 0 for a Unix socket.
    public let port: UInt16
    /// The endpoint that clients connect to.
    public let endpoint: TransportEndpoint

    private let socket: Int32
    private let unixPath: String?
    private let tls: TLSContext?
    private let options: ChannelOptions
    private let calls: SystemCalls
    private let makeHandler: @Sendable (ByteChannel) -> any ChannelHandler
    // Only the loop uses the following state.
    private var registration: Selector.Registration?
    private var timer: TimerToken?
    private var isClosed = false
    private var isTurnQueued = false
    private var acceptedCount = 0

    /// Starts a listener. Clients can connect as soon as this function returns.
    ///
    /// - Parameters:
    ///   - address: The address to listen on; by default a free port of 127.0.0.1.
    ///   - tls: The server's TLS context, or `nil` to listen without TLS.
    ///   - options: The options of the accepted channels. ``ChannelOptions/connectTimeout`` limits their TLS handshake.
    ///   - loop: The loop of the listener and its channels.
    ///   - makeHandler: Creates the handler of an accepted channel. Called on the loop before the channel opens.
    /// - Returns: The listener. Its loop keeps it alive until ``close()``.
    /// - Throws: ``TransportError``, such as ``TransportError/Code/addressInUse``.
    public static func listen(
        on address: Address = .tcp(), tls: TLSContext? = nil, options: ChannelOptions = ChannelOptions(),
        loop: EventLoop, makeHandler: @escaping @Sendable (ByteChannel) -> any ChannelHandler
    ) throws(TransportError) -> ChannelListener {
        try listen(on: address, tls: tls, options: options, loop: loop, calls: .real, makeHandler: makeHandler)
    }

    static func listen(
        on address: Address, tls: TLSContext?, options: ChannelOptions, loop: EventLoop, calls: SystemCalls,
        makeHandler: @escaping @Sendable (ByteChannel) -> any ChannelHandler
    ) throws(TransportError) -> ChannelListener {
        let listener = try ChannelListener(address, tls, options, loop, calls, makeHandler)
        loop.execute { listener.begin() }
        return listener
    }

    private init(
        _ address: Address, _ tls: TLSContext?, _ options: ChannelOptions, _ loop: EventLoop, _ calls: SystemCalls,
        _ makeHandler: @escaping @Sendable (ByteChannel) -> any ChannelHandler
    ) throws(TransportError) {
        let wanted: SocketAddress
        switch address {
        case .tcp(let host, let port):
            let found = try SocketAddress.lookUp(host: host, port: port, isNumeric: true, isPassive: true)
            guard let first = found.first else {
                throw TransportError(.invalidConfiguration, "a listener needs an IP address, not \(host)")
            }
            wanted = first
            unixPath = nil
        case .unix(let path):
            wanted = try SocketAddress(unixPath: path)
            unixPath = path
        }
        socket = try Self.bind(wanted)
        port = Sockets.localAddress(socket)?.port ?? 0
        switch address {
        case .tcp(let host, _): endpoint = .tcp(host: host, port: port)
        case .unix(let path): endpoint = .unix(path: path)
        }
        self.tls = tls
        self.options = options
        self.loop = loop
        self.calls = calls
        self.makeHandler = makeHandler
    }

    private static func bind(_ address: SocketAddress) throws(TransportError) -> Int32 {
        let socket = Platform.current.makeStreamSocket(family: address.family)
        guard socket >= 0 else { throw TransportError.system(-socket, address.text) }
        if address.kind != .unix { Sockets.reuseAddress(socket) }
        var number = -Sockets.bind(socket, address)
        if number == 0 { number = -Sockets.listen(socket) }
        guard number == 0 else {
            Sockets.close(socket)
            // `bind` creates the socket's file, so this error means that the folder is missing.
            if number == ErrorNumber.noEntry {
                throw TransportError(
                    .socketNotFound, "the folder of the socket does not exist: \(address.text)", errno: number)
            }
            throw TransportError.system(number, address.text)
        }
        return socket
    }

    /// Stops listening and frees the port or the path. Accepted channels stay open. May be called from any thread.
    public func close() {
        loop.execute { [self] in stop() }
    }

    // MARK: Called on the event loop

    private func begin() {
        loop.settle(self)
        do throws(TransportError) {
            registration = try loop.selector.register(socket, reads: true, writes: false, self)
        } catch {
            stop()
        }
    }

    private func stop() {
        guard !isClosed else { return }
        isClosed = true
        if let timer { loop.cancel(timer) }
        if let registration { loop.selector.remove(registration) }
        Sockets.close(socket)
        if let unixPath { Sockets.removeFile(unixPath) }
        loop.leave(self)
    }

    private func acceptTurn() {
        for _ in 0..<Self.acceptsPerTurn {
            if isClosed { return }
            let result = calls.accept(socket)
            if result >= 0 {
                accepted(result)
                continue
            }
            switch -result {
            // The call was interrupted, or one connection failed before it was accepted. The loop goes on, because the
            // next connection in the queue may be valid.
            case ErrorNumber.interrupted, ErrorNumber.connectionAborted, ErrorNumber.protocolError: continue
            case ErrorNumber.again: return loop.selector.rearm(registration, .readable)
            default: return pause()
            }
        }
        guard !isTurnQueued else { return }
        isTurnQueued = true
        loop.runLater { [self] in
            isTurnQueued = false
            acceptTurn()
        }
    }

    /// Schedules another `acceptTurn()`, because no descriptor or memory is left. A timer is necessary, because the
    /// selector does not report the waiting connections again.
    private func pause() {
        guard timer == nil else { return }
        timer = loop.schedule(at: loop.clock.now + Self.exhaustionPause) { [weak self] in
            self?.timer = nil
            self?.acceptTurn()
        }
    }

    private func accepted(_ descriptor: Int32) {
        if unixPath == nil { TCPDialer.configure(descriptor, options) }
        acceptedCount += 1
        let name = "client \(acceptedCount) of \(endpoint)"
        let stream = DescriptorStream(reading: descriptor, writing: descriptor, name: name, calls: calls)
        ByteChannel.accept(stream, tls: tls, options: options, on: loop, makeHandler: makeHandler)
    }
}

extension ChannelListener: Selectable {
    func ready(_ events: ReadyEvents) { acceptTurn() }
}

extension ChannelListener: LoopResident {
    func loopWillShutDown() { stop() }
}
