/// One connection: bytes in, bytes out, over TCP, a Unix socket, descriptors or a stream of the app's, with or without
/// TLS, and with or without WebSocket above it.
///
/// It lives on one event loop for life, and every call but ``connect(to:tls:proxy:options:on:handler:)`` is made there, or
/// traps. Its ``ChannelHandler`` is told what happens.
///
/// ```swift
/// let channel = ByteChannel.connect(to: .tcp(host: "127.0.0.1", port: 1883), on: loop, handler: connection)
/// // in the handler, on the loop:
/// func opened(_ channel: ByteChannel) { channel.write(hello.bytes) }
/// func received(_ bytes: RawSpan) -> Int { parse(bytes) }
/// ```
///
/// `connecting → handshaking → upgrading → open → closing → closed`, where `handshaking` is for TLS and `upgrading` for
/// WebSocket, and where each may go straight to `closed`, which is final. A channel that is not closed is kept alive by
/// its loop and keeps its handler alive.
///
/// Safe to share: everything mutable is touched on the loop only, which each entry checks.
public final class ByteChannel: @unchecked Sendable {
    enum Phase: Equatable {
        case connecting
        case handshaking
        case upgrading
        case open
        /// The owner has closed, or the peer has and the rest is being written.
        case closing(ChannelCloseReason)
        case closed
    }

    /// The loop that the channel lives on.
    public let loop: EventLoop

    /// How messages call the peer.
    public let peerName: String

    let options: ChannelOptions
    let tlsContext: TLSContext?

    // MARK: Touched on the loop only

    /// How it begins; `nil` once it is open.
    private(set) var start: Start?
    var handler: (any ChannelHandler)?
    var phase = Phase.connecting
    var stream: (any DuplexByteStream)?
    var dialer: (any Dialer)?
    var tls: TLSSession?
    var webSocket: WebSocketSession?
    /// Whether what the owner writes goes to the stream as it is, without TLS and WebSocket.
    var isBare = true
    var timer: TimerToken?

    /// Bytes that the handler has not consumed.
    var stash = ByteQueue()
    var isReadable = false
    var isReadingPaused = false
    var isTurnQueued = false
    var isTurnRunning = false
    /// Whether what is in `stash` is to be offered without waiting for more.
    var offersStash = false
    var hasInputEnded = false

    /// Bytes that wait to be written, or before that to be put into frames or encrypted.
    var outgoing = ByteQueue()
    var isWritable = false
    var isHighWater = false
    var isWriteBlocked = false
    var outputEnd = OutputEnd.open
    /// Why writing failed, while what the peer sent before is still read.
    var writeFailure: TransportError?
    var writtenByteCount = 0
    var writtenAtLastLook = 0
    /// Whether everything was written, and only the peer's end is awaited.
    var awaitsPeerEnd = false

    /// How far the end of our output has come.
    enum OutputEnd { case open, requested, done }

    /// How a channel begins. Elsewhere, because it is large and not needed for long.
    indirect enum Start {
        case dial(TransportEndpoint, DialTools)
        case accept(any DuplexByteStream)
    }

    init(
        start: Start, tls: TLSContext?, peerName: String, options: ChannelOptions, loop: EventLoop,
        handler: (any ChannelHandler)?
    ) {
        self.start = start
        tlsContext = tls
        self.peerName = peerName
        self.options = options
        self.loop = loop
        self.handler = handler
    }

    // MARK: Opening

    /// Begins to connect; `handler` is told of the success by ``ChannelHandler/opened(_:)`` or of the failure by
    /// ``ChannelHandler/closed(_:)``. From any thread.
    ///
    /// Bytes that are written before are sent once the channel is open. Closing the channel gives up.
    ///
    /// - Parameters:
    ///   - endpoint: Where to connect to.
    ///   - tls: What a TLS connection needs, or `nil` for a plain one, which is the default.
    ///   - proxy: The proxy that a host is reached through; none by default.
    ///   - options: Limits and habits.
    ///   - loop: Where the channel lives.
    ///   - handler: Who owns the channel; kept alive until it is closed.
    /// - Returns: The channel, in the state of connecting.
    @discardableResult
    public static func connect(
        to endpoint: TransportEndpoint, tls: TLSContext? = nil, proxy: ProxySetting = .direct,
        options: ChannelOptions = ChannelOptions(), on loop: EventLoop, handler: any ChannelHandler
    ) -> ByteChannel {
        connect(to: endpoint, tls: tls, options: options, on: loop, tools: DialTools(proxy: proxy), handler: handler)
    }

    /// The same for one of a client's connections: `history` is what they find out about the addresses of hosts.
    package static func connect(
        to endpoint: TransportEndpoint, tls: TLSContext?, proxy: ProxySetting, options: ChannelOptions,
        history: AddressHistory?, on loop: EventLoop, handler: any ChannelHandler
    ) -> ByteChannel {
        let tools = DialTools(proxy: proxy, history: history)
        return connect(to: endpoint, tls: tls, options: options, on: loop, tools: tools, handler: handler)
    }

    static func connect(
        to endpoint: TransportEndpoint, tls: TLSContext? = nil, options: ChannelOptions = ChannelOptions(),
        on loop: EventLoop, tools: DialTools, handler: any ChannelHandler
    ) -> ByteChannel {
        let channel = ByteChannel(
            start: .dial(endpoint, tools), tls: tls, peerName: endpoint.description, options: options, loop: loop,
            handler: handler)
        loop.execute { channel.begin() }
        return channel
    }

    func begin() {
        guard phase == .connecting else { return dropStart() }  // Closed before it began.
        loop.settle(self)
        let deadline = loop.clock.now + options.connectTimeout
        timer = loop.schedule(at: deadline) { [weak self] in self?.connectTimedOut() }
        switch start {
        case nil: break
        case .accept(let stream)?: attach(stream)
        case .dial(let endpoint, let tools)?:
            switch endpoint {
            case .stream(let stream): attach(stream)
            case .tcp(let host, let port): dialHost(host, port: port, traffic: traffic, tools: tools)
            case .unix(let path): dial(UnixDialer(path: path, channel: self))
            case .descriptors(let reading, let writing):
                attach(DescriptorStream(reading: reading, writing: writing, name: peerName, calls: tools.calls))
            }
        }
    }

    /// Lets go of what it was given to begin with.
    private func dropStart() {
        switch start {
        case .accept(let stream)?: stream.close(abruptly: true)
        case .dial(let endpoint, _)?: endpoint.discard()
        case nil: break
        }
    }

    func dial(_ dialer: any Dialer) {
        self.dialer = dialer
        dialer.start()
    }

    /// The way to the peer is there.
    func attach(_ stream: any DuplexByteStream) {
        dialer = nil
        guard phase == .connecting else { return stream.close(abruptly: true) }
        do throws(TransportError) {
            try stream.open(StreamReadiness(self))
            self.stream = stream
            isReadable = true
            isWritable = true
            isBare = tlsContext == nil && options.webSocket == nil
            guard let context = tlsContext else { return try didConnect() }
            phase = .handshaking
            let tls = try context.makeSession(hostName: hostName, peerName: peerName)
            // Less than the size of one read waits encrypted before more is encrypted, so the rest are answers.
            tls.limitOutput(to: options.answerLimit + 2 * EventLoop.readBufferSize)
            self.tls = tls
            try advanceHandshake()
        } catch {
            finish(.failed(error))
        }
    }

    /// The connection is there, TLS included, but for WebSocket.
    func didConnect() throws(TransportError) {
        if let webSocket = options.webSocket { try beginUpgrade(webSocket) } else { didOpen() }
    }

    /// The connection is there, TLS and WebSocket included.
    func didOpen() {
        if let timer { loop.cancel(timer) }
        timer = nil
        start = nil
        phase = .open
        handler?.opened(self)
        flushFromLoop()
        readTurn()
    }

    /// What a proxy would be for.
    private var traffic: ProxyVariables.Traffic {
        switch (options.webSocket == nil, tlsContext == nil) {
        case (true, true): .plain
        case (true, false): .tls
        case (false, true): .webSocket
        case (false, false): .webSocketOverTLS
        }
    }

    private var hostName: String? {
        switch start {
        case .dial(let endpoint, _)?: endpoint.hostName
        case .accept?, nil: nil
        }
    }

    private func connectTimedOut() {
        timer = nil
        let state =
            switch phase {
            case .handshaking: "the TLS handshake did not finish"
            case .upgrading: "the request for a WebSocket was not answered"
            case .connecting, .open, .closing, .closed: dialer?.progress ?? "no answer"
            }
        finish(
            .failed(
                TransportError(
                    .connectTimedOut,
                    "connection timed out: \(peerName); \(state) within \(options.connectTimeout)")))
    }

    // MARK: What the stream tells

    func streamReady(readable: Bool, writable: Bool) {
        if phase == .closed { return }
        if readable { isReadable = true }
        if writable {
            isWritable = true
            flushFromLoop()
        }
        if readable { readTurn() }
    }

    /// The stream is dead, which is told at once only to those who do not read and would not see it.
    func streamBroke(_ error: @autoclosure () -> TransportError) {
        if isReadingPaused { finish(.failed(error())) }
    }

    /// Nobody reads our output any more, which is told to those as well who do not write now.
    func outputBroke(_ error: TransportError) {
        if outputEnd != .done, writeFailure == nil { writingFailed(error) }
    }

    // MARK: State

    /// Whether bytes can be exchanged: it has been opened, and neither side has closed.
    public var isOpen: Bool {
        loop.preconditionOnLoop()
        return phase == .open
    }

    /// What TLS has agreed on; `nil` without TLS and before it has.
    public var security: TLSSummary? {
        loop.preconditionOnLoop()
        return tls?.summary
    }
}

/// Finds the way to a peer, for a channel that is connecting. On the loop only.
protocol Dialer: AnyObject {
    /// Begins; ends by ``ByteChannel/attach(_:)`` or ``ByteChannel/finish(_:)`` of the channel.
    func start()
    /// Gives up without a word.
    func cancel()
    /// What it is waiting for, in words for a message.
    var progress: String { get }
}

extension ByteChannel: LoopResident {
    func loopWillShutDown() {
        finish(.failed(TransportError(.loopShutDown, "the event loop was shut down: \(peerName)")))
    }
}

extension ByteChannel {
    /// Makes a channel of the accepting side of a stream, such as the server's end of a ``MemoryStream``. On the loop only.
    ///
    /// - Parameters:
    ///   - stream: The accepted stream.
    ///   - tls: A server's context to speak TLS, or `nil`.
    ///   - options: Limits and habits; ``ChannelOptions/connectTimeout`` limits the TLS handshake.
    ///   - loop: Where the channel lives.
    ///   - makeHandler: Makes the owner; called before this returns, and before the channel opens.
    /// - Returns: The channel.
    @discardableResult
    public static func accept(
        _ stream: any DuplexByteStream, tls: TLSContext? = nil, options: ChannelOptions = ChannelOptions(),
        on loop: EventLoop, makeHandler: (ByteChannel) -> any ChannelHandler
    ) -> ByteChannel {
        loop.preconditionOnLoop()
        let channel = ByteChannel(
            start: .accept(stream), tls: tls, peerName: stream.name, options: options, loop: loop, handler: nil)
        channel.handler = makeHandler(channel)
        channel.begin()
        return channel
    }
}
