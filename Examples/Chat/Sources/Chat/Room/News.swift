/// An event that a member reports.
enum News: Sendable {
    case token
    case connected
    case inRoom
    case heard(Line, Format)
    /// The broker has acknowledged the line.
    case said(Line)
    case lost(String)
    /// An operation failed and is repeated.
    case trouble(String)
}

extension News: CustomStringConvertible {
    var description: String {
        switch self {
        case .token: "has a token"
        case .connected: "is connected"
        case .inRoom: "is in the room"
        case .heard(let line, let format): "hears \(line.author), in \(format.rawValue): \(line.shownText)"
        case .said(let line): "said: \(line.shownText)"
        case .lost(let reason): "lost the connection: \(reason)"
        case .trouble(let reason): "has trouble: \(reason)"
        }
    }
}

/// The token service refused the secret. A new request would fail too, so the member leaves.
struct Refused: Error, CustomStringConvertible {
    let name: String
    var description: String { "the token service refuses \(name): HTTP 401, the secret is wrong" }
}
