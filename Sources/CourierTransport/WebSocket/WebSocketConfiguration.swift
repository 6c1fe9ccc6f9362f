/// That a ``ByteChannel`` speaks WebSocket (RFC 6455) above TCP or TLS, and how: set it as
/// ``ChannelOptions/webSocket``.
///
/// The handler sees the payload of the frames as one stream of bytes, as without WebSocket: a frame may hold several
/// packets, and a packet may span frames [MQTT-6.0.0-2]. On the accepting side ``path``, ``headers`` and ``host`` are not
/// looked at: any path is taken.
///
/// No description or mirror of it shows the values of ``headers`` or the query of ``path``.
///
/// ```swift
/// var options = ChannelOptions()
/// options.webSocket = WebSocketConfiguration(path: "/mqtt")
/// ByteChannel.connect(to: .tcp(host: "127.0.0.1", port: 8080), options: options, on: loop, handler: handler)
/// ```
public struct WebSocketConfiguration: Hashable, Sendable {
    /// The path to ask for, with a query or not, `/mqtt` by default.
    public var path: String

    /// Further header fields of the request, by their names; none by default.
    public var headers: [String: String]

    /// What the `Host` field says; `nil`, the default, stands for host and port of the endpoint, and for `localhost` where
    /// that has none.
    public var host: String?

    /// The subprotocol that is asked for and must be chosen, `mqtt` by default [MQTT-6.0.0-3].
    public var subprotocol = "mqtt"

    /// How many bytes the head of the peer's answer or request may have, 16 KiB by default.
    public var headLimit = 16 << 10

    /// How many header fields the peer's answer or request may have, 100 by default.
    public var headFieldLimit = 100

    /// How many bytes the peer may send in one message, 512 MiB by default, and the WebSocket is closed with 1009 beyond
    /// it. No memory depends on it: payload is passed on as it comes.
    public var messageLimit = 512 << 20

    /// How many bytes one of our frames carries at most, 65,535 by default; more becomes several messages.
    public var frameSize = 0xFFFF

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - path: The path to ask for; `/mqtt` by default.
    ///   - headers: Further header fields of the request; none by default.
    ///   - host: What the `Host` field says; by default what the endpoint says.
    public init(path: String = "/mqtt", headers: [String: String] = [:], host: String? = nil) {
        self.path = path
        self.headers = headers
        self.host = host
    }
}

extension WebSocketConfiguration {
    /// What the handshake itself says, and nobody else may.
    static let reservedHeaders: Set<String> = [
        "host", "connection", "upgrade", "content-length", "transfer-encoding", "te", "trailer", "expect",
    ]

    /// What all names of fields for WebSocket begin with, which are reserved too.
    static let reservedPrefix = "sec-websocket-"

    /// How many further header fields there may be.
    static let headerLimit = 64
    /// How many bytes the path and the further header fields may have together.
    static let requestLimit = 16 << 10

    /// The path without its query, which may hold a secret.
    public var shownPath: String { String(path.prefix { $0 != "?" }) }

    /// Makes sure that a request can be made of it.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration``; it never holds a value of a header field.
    public func check() throws(TransportError) {
        guard path.hasPrefix("/"), path.isVisibleASCII, !path.utf8.contains(UInt8(ascii: "#")) else {
            throw refuse(
                "the path “\(HTTPHead.shown(shownPath))” must begin with a slash, and be percent-encoded without spaces or "
                    + "a fragment")
        }
        if let host, host.isEmpty || !host.isVisibleASCII || host.utf8.contains(where: { "/?#@".utf8.contains($0) }) {
            // What stands before an @ may be a password.
            let shown = host.utf8.lastIndex(of: UInt8(ascii: "@")).map { "<hidden>\(host[$0...])" } ?? host
            throw refuse("“\(HTTPHead.shown(shown))” can not be a Host")
        }
        guard subprotocol.isHTTPToken else { throw refuse("the subprotocol must be a token") }
        guard headLimit > 0, headFieldLimit > 0, messageLimit > 0, frameSize > 0 else {
            throw refuse("every limit must be at least 1")
        }
        try checkHeaders()
    }

    private func checkHeaders() throws(TransportError) {
        guard headers.count <= Self.headerLimit else {
            throw refuse("there are \(headers.count) header fields, at most \(Self.headerLimit) are allowed")
        }
        var names: Set<String> = []
        for (name, value) in headers {
            let shown = HTTPHead.shown(name)
            guard name.isHTTPToken else { throw refuse("“\(shown)” can not be the name of a header field") }
            let small = name.lowercased()
            if Self.reservedHeaders.contains(small) || small.hasPrefix(Self.reservedPrefix) {
                throw refuse("the header field “\(shown)” belongs to the handshake; leave it out")
            }
            guard names.insert(small).inserted else { throw refuse("the header field “\(shown)” is there twice") }
            if value.utf8.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7F }) {
                throw refuse("the value of the header field “\(shown)” has a control character")
            }
        }
        let size = headers.reduce(path.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count + 4 }
        guard size <= Self.requestLimit else {
            throw refuse("path and header fields have \(size) bytes, at most \(Self.requestLimit) are allowed")
        }
    }

    private func refuse(_ what: String) -> TransportError {
        TransportError(.invalidConfiguration, "WebSocket: \(what)")
    }
}

extension WebSocketConfiguration: CustomStringConvertible, CustomReflectable {
    /// The path without its query, and the names of the header fields.
    public var description: String {
        "WebSocketConfiguration(path: \(shownPath), headers: \(headers.keys.sorted()))"
    }

    /// Shows the same as ``description``.
    public var customMirror: Mirror {
        Mirror(self, children: ["path": shownPath, "headers": headers.keys.sorted()], displayStyle: .struct)
    }
}

extension String {
    fileprivate var isVisibleASCII: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
