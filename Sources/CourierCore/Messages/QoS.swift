/// The quality of service: how reliably a message is delivered.
///
/// MQTT has three levels. The two `oneWithoutPersistence…` cases are also sent as level 1. The client does not store
/// their messages, and sends messages of ``oneWithoutPersistenceAndNoRetry`` only once.
public enum QoS: Int, Hashable, Sendable, CaseIterable, Codable {
    /// At most once: the message is sent once, is not acknowledged, and is lost if the connection breaks.
    case zero = 0

    /// At least once: the message is sent again until it is acknowledged. It may arrive twice.
    case one = 1

    /// Exactly once: the handshake of PUBREC, PUBREL and PUBCOMP ensures that the message arrives only once. On a later
    /// connection, a broker may send a message with the packet id of an unfinished message, but without the DUP flag or
    /// with other content. The client then delivers this message as a new message. If the broker sends PUBCOMP with
    /// 0x92 (packet id not found), the message counts as delivered.
    case two = 2

    /// The message is acknowledged like ``one``, but never stored and never sent again. The message arrives once or not
    /// at all.
    case oneWithoutPersistenceAndNoRetry = 3

    /// The message is acknowledged like ``one``, and sent again after a lost connection. The message is in memory only,
    /// so it does not survive the end of the process.
    case oneWithoutPersistenceAndRetry = 4

    /// The level in MQTT packets: 0, 1 or 2.
    public var wireLevel: UInt8 {
        switch self {
        case .zero: 0
        case .one, .oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry: 1
        case .two: 2
        }
    }

    /// Whether the message store holds a message until it is acknowledged.
    public var isPersisted: Bool {
        switch self {
        case .one, .two: true
        case .zero, .oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry: false
        }
    }

    /// Whether a message is sent again if the connection is lost before its acknowledgement.
    public var isRetried: Bool {
        switch self {
        case .one, .two, .oneWithoutPersistenceAndRetry: true
        case .zero, .oneWithoutPersistenceAndNoRetry: false
        }
    }
}
