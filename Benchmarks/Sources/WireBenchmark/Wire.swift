/// What lies between a client and its broker.
enum Wire: String, CaseIterable, Sendable {
    case tcp, ws, tls, wss

    var isSecure: Bool { self == .tls || self == .wss }
    var isWebSocket: Bool { self == .ws || self == .wss }

    /// The scheme of its URL.
    var scheme: String {
        switch self {
        case .tcp: "mqtt"
        case .tls: "mqtts"
        case .ws, .wss: rawValue
        }
    }
}
