/// The numbers of a client at one moment, for a dashboard or an alarm. ``CourierSession/metrics`` returns them.
///
/// The client starts to count when it is created. `disconnect()` and `destroy()` do not reset the counts. Messages that
/// an earlier process stored are included in all counts except ``acceptedCount``. The client counts them when it opens
/// its message store, before ``CourierSession/connected()`` returns.
///
/// Later versions may add fields.
public struct ClientMetrics: Sendable {
    // MARK: Outgoing messages

    /// The number of messages that the client accepted for delivery.
    public var acceptedCount = 0

    /// The number of messages of QoS 1 and 2 that the broker acknowledged with success.
    public var acknowledgedCount = 0

    /// The number of messages whose delivery ended with an error, for example because they expired, because the app
    /// withdrew them, or because the client ended.
    public var failedCount = 0

    /// The number of messages that wait to be sent.
    public var waitingCount = 0

    /// The number of bytes of waiting messages that count toward `offline.maximumBytes`.
    public var waitingByteCount = 0

    /// The number of messages of QoS 1 and 2 that the client has sent or is about to send, and that are not
    /// acknowledged.
    public var inFlightCount = 0

    /// The times from sending to the acknowledgement of messages of QoS 1 and 2. If the broker lost the session and the
    /// client sent a message again, the time starts at the last sending. Messages that an earlier process sent are not
    /// included.
    public var acknowledgementTimes = DurationHistogram()

    // MARK: Incoming messages

    /// The number of messages that arrived. A repeated QoS 2 message counts once.
    public var receivedCount = 0

    /// The number of messages of QoS 0 that were dropped, because the ``ReadBuffer`` of a reader was full. A message
    /// counts once for each of these readers.
    public var droppedCount = 0

    // MARK: Connections

    /// The number of connections that brokers accepted.
    public var connectionCount = 0

    /// The number of connections that brokers accepted after the first connection.
    public var reconnectCount: Int { max(connectionCount - 1, 0) }

    /// The number of bytes of all packets sent, without TLS and WebSocket.
    public var sentByteCount = 0

    /// The number of bytes of all packets received, without TLS and WebSocket.
    public var receivedByteCount = 0

    /// Makes metrics in which all numbers are 0. Apps need this initializer only in tests.
    public init() {}
}
