/// The status in a Close frame: the reason why a WebSocket is closed (RFC 6455, section 7.4).
struct WebSocketStatus: Hashable, Sendable {
    let rawValue: UInt16

    static let normal = WebSocketStatus(rawValue: 1000)
    static let goingAway = WebSocketStatus(rawValue: 1001)
    static let protocolError = WebSocketStatus(rawValue: 1002)
    static let unsupportedData = WebSocketStatus(rawValue: 1003)
    static let invalidPayload = WebSocketStatus(rawValue: 1007)
    static let messageTooBig = WebSocketStatus(rawValue: 1009)

    /// True if a Close frame may contain this status. 1004 to 1006 and 1015 are reserved, values below 1000 are not
    /// used, and other values are not defined.
    var mayBeSent: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// True if the status means a close without an error.
    var isOrderly: Bool { self == .normal || self == .goingAway }
}

extension WebSocketStatus: CustomStringConvertible {
    /// The status number, and its meaning if a meaning is defined.
    var description: String {
        let meaning: String? =
            switch rawValue {
            case 1000: "normal closure"
            case 1001: "going away"
            case 1002: "protocol error"
            case 1003: "unsupported data"
            case 1007: "invalid payload"
            case 1008: "policy violation"
            case 1009: "message too big"
            case 1010: "extension missing"
            case 1011: "internal error"
            case 1012: "service restart"
            case 1013: "try again later"
            case 1014: "bad gateway"
            default: nil
            }
        return meaning.map { "\(rawValue) (\($0))" } ?? "\(rawValue)"
    }
}

/// A violation of the protocol by the peer, and the status to close the WebSocket with.
struct WebSocketViolation: Error, Hashable, Sendable {
    let status: WebSocketStatus
    /// The peer's action, as a phrase that follows the peer's name in a message.
    let deed: String

    init(_ status: WebSocketStatus, _ deed: String) {
        self.status = status
        self.deed = deed
    }
}
