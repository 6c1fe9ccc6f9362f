/// The limits and habits of one ``ByteChannel``.
public struct ChannelOptions: Hashable, Sendable {
    /// From how many waiting outgoing bytes on ``ByteChannel/isAboveHighWater`` asks the owner to stop writing, 256 KiB
    /// by default. Nothing is refused above it: the owner keeps the limit.
    public var highWaterMark = 256 << 10

    /// At how many waiting outgoing bytes or fewer writing may continue, 64 KiB by default.
    public var lowWaterMark = 64 << 10

    /// How many bytes a handler may leave unread at most, 256 MiB by default. Beyond it the channel closes with
    /// ``TransportError/Code/remainderTooLong``.
    public var remainderLimit = 256 << 20

    /// How many bytes of the answers of TLS itself, such as new keys, wait at most for a peer that does not read, 4 MiB by
    /// default. Beyond it the channel closes with ``TransportError/Code/answersUnread``.
    ///
    /// The answers to the Pings of a WebSocket have a fixed limit of 16 KiB: a later Ping replaces those that wait.
    public var answerLimit = 4 << 20

    /// How many reads follow each other, 4 by default, before the other connections of the loop have their turn.
    public var readsPerTurn = 4

    /// Whether the channel stays open for writing when the peer has ended its output; `false` by default, and the
    /// channel then closes after ``ChannelHandler/inputClosed()``.
    public var staysOpenAfterInputClosed = false

    /// How long an orderly close waits without progress for the peer to read the bytes that are left, 2 s by default; then the
    /// connection is dropped. From the end of our output on, the peer has as much time to close too, over WebSocket by a
    /// Close frame of its own.
    public var lingerTimeout = Duration.seconds(2)

    /// How long an orderly close waits for the peer to close too, counted from the end of our output; ``lingerTimeout`` by
    /// default, for `nil`. What the peer still sends is read meanwhile and thrown away, because unread bytes would turn
    /// the close into a reset.
    package var peerCloseTimeout: Duration?

    /// When to give up on connecting, counted from the start and including name resolution, TLS and the handshake of
    /// WebSocket, 30 s by default.
    public var connectTimeout = Duration.seconds(30)

    /// How long to wait for one address before the next is tried beside it, 250 ms by default (RFC 8305).
    public var attemptDelay = HappyEyeballs.recommendedAttemptDelay

    /// Whether small writes go out at once (TCP_NODELAY), `true` by default.
    public var sendsAtOnce = true

    /// After how much silence TCP asks whether the peer is still there, 60 s by default; `nil` turns it off.
    public var keepAliveIdle: Duration? = .seconds(60)

    /// That WebSocket is spoken, above TLS where there is TLS, and how; `nil`, the default, is plain bytes.
    public var webSocket: WebSocketConfiguration? {
        get { rareWebSocket.wrappedValue }
        set { rareWebSocket.wrappedValue = newValue }
    }

    private var rareWebSocket = BoxedOptional<WebSocketConfiguration>.absent

    /// The default options.
    public init() {}
}
