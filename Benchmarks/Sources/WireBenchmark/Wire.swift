/// The protocol below MQTT: TCP, TLS, WebSocket, or WebSocket over TLS.
enum Wire: String, CaseIterable, Sendable {
    case tcp, ws, tls, wss

    var isSecure: Bool { self == .tls || self == .wss }
    var isWebSocket: Bool { self == .ws || self == .wss }

    /// The scheme in the broker's URL.
    var scheme: String {
        switch self {
        case .tcp: "mqtt"
        case .tls: "mqtts"
        case .ws, .wss: rawValue
        }
    }
}
