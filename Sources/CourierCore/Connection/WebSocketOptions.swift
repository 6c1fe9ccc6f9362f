/// The fields of the HTTP request that opens a WebSocket connection: its path and further header fields. Reconnecting,
/// sessions and the limits of MQTT work as over TCP.
///
/// No description, debug description or mirror of the options shows the values of ``headers``, which often contain
/// tokens, or the query of ``path``.
///
/// ```swift
/// let options = ConnectOptions(
///     host: "broker.example.com", port: 443, clientId: "phone-7", username: "", password: "", scheme: "wss",
///     webSocket: WebSocketOptions(path: "/mqtt?region=eu", headers: ["Authorization": "Bearer \(token)"]))
/// ```
public struct WebSocketOptions: Hashable, Sendable {
    /// The path of the request, `/mqtt` by default. It begins with a slash, is percent-encoded and may have a query.
    public let path: String

    /// Further header fields of the request by their names, none by default. Fields that the handshake itself sets,
    /// such as `Host` or `Upgrade`, are not allowed.
    public let headers: [String: String]

    /// Makes the options. The client checks them when it connects.
    ///
    /// - Parameters:
    ///   - path: The path of the request, which may have a query; `/mqtt` by default.
    ///   - headers: Further header fields of the request; none by default.
    public init(path: String = "/mqtt", headers: [String: String] = [:]) {
        self.path = path
        self.headers = headers
    }
}

extension WebSocketOptions: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private static let hidden = "<hidden>"

    private var shownPath: String {
        guard let query = path.firstIndex(of: "?") else { return path.debugDescription }
        return "\(String(path[..<query]).debugDescription) + \(Self.hidden) query"
    }

    private var shownHeaders: String {
        if headers.isEmpty { return "[:]" }
        let fields = headers.keys.sorted().map { "\($0.debugDescription): \(Self.hidden)" }
        return "[\(fields.joined(separator: ", "))]"
    }

    /// The path without its query, and the names of the header fields.
    public var description: String { "WebSocketOptions(path: \(shownPath), headers: \(shownHeaders))" }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same fields as ``description``, so that `dump` and debuggers show no secrets either.
    public var customMirror: Mirror {
        Mirror(self, children: ["path": shownPath, "headers": shownHeaders], displayStyle: .struct)
    }
}
