/// How hard the two ends of a connection try to deliver a message.
///
/// MQTT knows three levels. The two `oneWithoutPersistence…` cases travel as level 1 and differ in what this client
/// does before the acknowledgement comes.
public enum QoS: Int, Hashable, Sendable, CaseIterable, Codable {
    /// At most once: sent, not acknowledged, lost with the connection.
    case zero = 0

    /// At least once: kept and sent again until it is acknowledged; may arrive twice.
    case one = 1

    /// Exactly once: kept until a two-step handshake has ended.
    case two = 2

    /// Acknowledged like ``one``, but never stored and never sent again: it arrives once or not at all.
    case oneWithoutPersistenceAndNoRetry = 3

    /// Acknowledged like ``one`` and sent again after a lost connection, but kept in memory only: it does not survive
    /// the process.
    case oneWithoutPersistenceAndRetry = 4

    /// The level on the wire: 0, 1 or 2.
    public var wireLevel: UInt8 {
        switch self {
        case .zero: 0
        case .one, .oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry: 1
        case .two: 2
        }
    }

    /// Whether a message is put into the message store until it is acknowledged.
    public var isPersisted: Bool {
        switch self {
        case .one, .two: true
        case .zero, .oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry: false
        }
    }

    /// Whether a message is sent again when the connection was lost before its acknowledgement.
    public var isRetried: Bool {
        switch self {
        case .one, .two, .oneWithoutPersistenceAndRetry: true
        case .zero, .oneWithoutPersistenceAndNoRetry: false
        }
    }
}
