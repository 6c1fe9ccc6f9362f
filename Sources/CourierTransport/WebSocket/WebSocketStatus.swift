/// Why a WebSocket was closed, as its Close frame says it (RFC 6455, section 7.4).
struct WebSocketStatus: Hashable, Sendable {
    let rawValue: UInt16

    static let normal = WebSocketStatus(rawValue: 1000)
    static let goingAway = WebSocketStatus(rawValue: 1001)
    static let protocolError = WebSocketStatus(rawValue: 1002)
    static let unsupportedData = WebSocketStatus(rawValue: 1003)
    static let invalidPayload = WebSocketStatus(rawValue: 1007)
    static let messageTooBig = WebSocketStatus(rawValue: 1009)

    /// Whether a frame may carry it: 1004 to 1006 and 1015 are reserved, those below 1000 not used, others not defined.
    var mayBeSent: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// Whether the peer says that nothing is wrong.
    var isOrderly: Bool { self == .normal || self == .goingAway }
}

extension WebSocketStatus: CustomStringConvertible {
    /// The number, and what it means where that is defined.
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

/// What a peer sent that it must not send, and the status to close with.
struct WebSocketViolation: Error, Hashable, Sendable {
    let status: WebSocketStatus
    /// What it did, to stand behind “the peer”.
    let deed: String

    init(_ status: WebSocketStatus, _ deed: String) {
        self.status = status
        self.deed = deed
    }
}
