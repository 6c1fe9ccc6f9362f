/// The limits and settings of one ``ByteChannel``.
public struct ChannelOptions: Hashable, Sendable {
    /// The number of waiting outgoing bytes at which ``ByteChannel/isAboveHighWater`` becomes `true`, 256 KiB by
    /// default. The channel accepts more bytes even then, so the owner itself must stop writing.
    public var highWaterMark = 256 << 10

    /// The number of waiting outgoing bytes at which the owner may write again, 64 KiB by default.
    public var lowWaterMark = 64 << 10

    /// The maximum number of bytes that a handler may leave unconsumed, 256 MiB by default. If a handler leaves more
    /// bytes, the channel closes with ``TransportError/Code/remainderTooLong``.
    public var remainderLimit = 256 << 20

    /// The maximum number of waiting bytes that TLS itself sends in response to the peer, such as key updates; 4 MiB by
    /// default. These responses wait while the peer does not read. If more bytes wait, the channel closes with
    /// ``TransportError/Code/answersUnread``.
    ///
    /// Responses to WebSocket Pings have a fixed limit of 16 KiB. If it is exceeded, the response to a later Ping
    /// replaces all waiting responses.
    public var answerLimit = 4 << 20

    /// The maximum number of reads of one connection before the loop serves its other connections, 4 by default.
    public var readsPerTurn = 4

    /// True if the channel stays open for writing after the peer has ended its output. `false` by default: the channel
    /// then closes after ``ChannelHandler/inputClosed()``.
    public var staysOpenAfterInputClosed = false

    /// The maximum time without progress while an orderly close writes the remaining bytes, 2 s by default. After this
    /// time, the connection is dropped. When our output has ended, the peer must end its output within the same time.
    /// Over WebSocket, the peer must send its Close frame within this time.
    public var lingerTimeout = Duration.seconds(2)

    /// The time that an orderly close waits for the peer to close too, counted from the end of our output. `nil`, the
    /// default, means ``lingerTimeout``. Bytes that the peer still sends are read and discarded, because unread bytes
    /// would turn the close into a reset.
    package var peerCloseTimeout: Duration?

    /// The maximum time to connect, including name resolution and the handshakes of TLS and WebSocket, 30 s by default.
    public var connectTimeout = Duration.seconds(30)

    /// The time after which the next address is tried in parallel with the previous address, 250 ms by default (RFC
    /// 8305).
    public var attemptDelay = HappyEyeballs.recommendedAttemptDelay

    /// True if small writes are sent at once (TCP_NODELAY), `true` by default.
    public var sendsAtOnce = true

    /// The time without traffic after which TCP checks that the peer is alive, 60 s by default; `nil` turns it off.
    public var keepAliveIdle: Duration? = .seconds(60)

    /// The WebSocket configuration; `nil`, the default, means no WebSocket. With TLS, WebSocket runs above TLS.
    public var webSocket: WebSocketConfiguration? {
        get { rareWebSocket.wrappedValue }
        set { rareWebSocket.wrappedValue = newValue }
    }

    /// The local address and network interface of TCP connections; `nil`, the default, leaves both to the operating
    /// system.
    public var localBinding: LocalBinding? {
        get { rareLocalBinding.wrappedValue }
        set { rareLocalBinding.wrappedValue = newValue }
    }

    private var rareLocalBinding = BoxedOptional<LocalBinding>.absent
    private var rareWebSocket = BoxedOptional<WebSocketConfiguration>.absent

    /// The default options.
    public init() {}
}
