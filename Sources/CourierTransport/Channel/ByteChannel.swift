/// One connection that sends and receives bytes, with or without TLS and WebSocket. The bytes go over TCP, a Unix
/// socket, descriptors or a stream of the app.
///
/// A channel belongs to one event loop. Every call except ``connect(to:tls:proxy:options:on:handler:)`` must be made on
/// that loop, or it traps. The channel reports events to its ``ChannelHandler``.
///
/// ```swift
/// let channel = ByteChannel.connect(to: .tcp(host: "127.0.0.1", port: 1883), on: loop, handler: connection)
/// // in the handler, on the loop:
/// func opened(_ channel: ByteChannel) { channel.write(hello.bytes) }
/// func received(_ bytes: RawSpan) -> Int { parse(bytes) }
/// ```
///
/// The states are `connecting → handshaking → upgrading → open → closing → closed`. The state `handshaking` is for TLS,
/// and `upgrading` is for WebSocket. Each state may change directly to `closed`, which is final. Until the channel is
/// closed, the loop keeps the channel alive, and the channel keeps its handler alive.
///
/// Safe to share: all mutable state is used on the loop only, which each entry point checks.
public final class ByteChannel: @unchecked Sendable {
    enum Phase: Equatable {
        case connecting
        case handshaking
        case upgrading
        case open
        /// The owner or the peer has closed the channel, and waiting bytes are being written.
        case closing(ChannelCloseReason)
        case closed
    }

    /// The event loop that the channel belongs to.
    public let loop: EventLoop

    /// The name of the peer in error messages.
    public let peerName: String

    let options: ChannelOptions
    let tlsContext: TLSContext?

    // MARK: Used on the loop only

    /// The way to reach the peer; `nil` after the channel has opened.
    private(set) var start: Start?
    var handler: (any ChannelHandler)?
    var phase = Phase.connecting
    var stream: (any DuplexByteStream)?
    var dialer: (any Dialer)?
    var tls: TLSSession?
    var webSocket: WebSocketSession?
    /// True if bytes pass between owner and stream unchanged, without TLS and WebSocket.
    var isBare = true
    var timer: TimerToken?

    /// Bytes that the handler has not consumed.
    var stash = ByteQueue()
    var isReadable = false
    var isReadingPaused = false
    var isTurnQueued = false
    var isTurnRunning = false
    /// True if the bytes in `stash` should be offered again without waiting for new bytes.
    var offersStash = false
    var hasInputEnded = false

    /// Bytes of the owner that wait to be written. With WebSocket, they first wait to be put into frames. With TLS,
    /// they first wait to be encrypted.
    var outgoing = ByteQueue()
    var isWritable = false
    var isHighWater = false
    var isWriteBlocked = false
    var outputEnd = OutputEnd.open
    /// The error of a failed write. It is stored until the bytes that the peer sent earlier have been read.
    var writeFailure: TransportError?
    var writtenByteCount = 0
    var writtenAtLastLook = 0
    /// True if everything was written and the channel only waits for the peer to close.
    var awaitsPeerEnd = false

    /// The state of our output: open, requested to end, or ended.
    enum OutputEnd { case open, requested, done }

    /// The way in which a channel reaches its peer. The value is stored on the heap, because it is large and needed
    /// only at the start.
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

    /// Starts to connect. May be called from any thread. Success is reported by ``ChannelHandler/opened(_:)``, failure
    /// by ``ChannelHandler/closed(_:)``.
    ///
    /// Bytes that are written before the channel is open are sent when it opens. Closing the channel cancels the
    /// attempt.
    ///
    /// - Parameters:
    ///   - endpoint: The address to connect to.
    ///   - tls: The TLS context, or `nil` (the default) for a connection without TLS.
    ///   - proxy: The proxy for TCP connections; none by default.
    ///   - options: The limits and settings of the channel.
    ///   - loop: The event loop that the channel belongs to.
    ///   - handler: The owner of the channel; kept alive until the channel is closed.
    /// - Returns: The channel, which is connecting.
    @discardableResult
    public static func connect(
        to endpoint: TransportEndpoint, tls: TLSContext? = nil, proxy: ProxySetting = .direct,
        options: ChannelOptions = ChannelOptions(), on loop: EventLoop, handler: any ChannelHandler
    ) -> ByteChannel {
        connect(to: endpoint, tls: tls, options: options, on: loop, tools: DialTools(proxy: proxy), handler: handler)
    }

    /// Starts to connect a channel for a client. `history` remembers which addresses of a host failed recently.
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
        guard phase == .connecting else { return dropStart() }  // The channel was closed before this call.
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

    /// Closes the stream, or the descriptors of the endpoint, if the channel was closed before it began to connect.
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

    /// Starts to use `stream`, which is connected to the peer.
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
            // The limit has space for `answerLimit` bytes of TLS responses, and for two read buffers of application
            // data. The channel needs no more space for application data: it stops encrypting when the waiting
            // encrypted bytes would fill one read buffer.
            tls.limitOutput(to: options.answerLimit + 2 * EventLoop.readBufferSize)
            self.tls = tls
            try advanceHandshake()
        } catch {
            finish(.failed(error))
        }
    }

    /// Continues when the stream and TLS are ready: starts the WebSocket handshake, or opens the channel.
    func didConnect() throws(TransportError) {
        if let webSocket = options.webSocket { try beginUpgrade(webSocket) } else { didOpen() }
    }

    /// Opens the channel when the stream, TLS and WebSocket are ready.
    func didOpen() {
        if let timer { loop.cancel(timer) }
        timer = nil
        start = nil
        phase = .open
        handler?.opened(self)
        flushFromLoop()
        readTurn()
    }

    /// The kind of traffic, which determines the environment variables that can name a proxy.
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

    // MARK: Events of the stream

    func streamReady(readable: Bool, writable: Bool) {
        if phase == .closed { return }
        if readable { isReadable = true }
        if writable {
            isWritable = true
            flushFromLoop()
        }
        if readable { readTurn() }
    }

    /// Handles a failed stream. The channel closes at once only while reading is paused; otherwise the next read
    /// reports the error.
    func streamBroke(_ error: @autoclosure () -> TransportError) {
        if isReadingPaused { finish(.failed(error())) }
    }

    /// Handles the event that the peer no longer reads our output. So the channel also fails if the owner writes
    /// nothing.
    func outputBroke(_ error: TransportError) {
        if outputEnd != .done, writeFailure == nil { writingFailed(error) }
    }

    // MARK: State

    /// True from the opening of the channel until it starts to close.
    public var isOpen: Bool {
        loop.preconditionOnLoop()
        return phase == .open
    }

    /// The result of the TLS handshake; `nil` without TLS and before the handshake is complete.
    public var security: TLSSummary? {
        loop.preconditionOnLoop()
        return tls?.summary
    }
}

/// Establishes the stream to the peer for a connecting channel. Used on the loop only.
protocol Dialer: AnyObject {
    /// Starts to connect. The result is reported through ``ByteChannel/attach(_:)`` or ``ByteChannel/finish(_:)``.
    func start()
    /// Stops connecting and reports no result.
    func cancel()
    /// The step that the dialer waits for, as text for an error message.
    var progress: String { get }
}

extension ByteChannel: LoopResident {
    func loopWillShutDown() {
        finish(.failed(TransportError(.loopShutDown, "the event loop was shut down: \(peerName)")))
    }
}

extension ByteChannel {
    /// Creates a channel for the accepting side of a stream, such as the server's end of a ``MemoryStream``. Call it on
    /// the loop only.
    ///
    /// - Parameters:
    ///   - stream: The accepted stream.
    ///   - tls: The server's TLS context, or `nil` for a connection without TLS.
    ///   - options: The limits and settings; ``ChannelOptions/connectTimeout`` limits the TLS and WebSocket handshakes.
    ///   - loop: The event loop that the channel belongs to.
    ///   - makeHandler: Creates the owner. Called before this function returns and before the channel opens.
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
