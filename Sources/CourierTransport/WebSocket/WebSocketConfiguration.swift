/// The settings of a WebSocket (RFC 6455) over TCP or TLS. A ``ByteChannel`` uses them if they are set as
/// ``ChannelOptions/webSocket``.
///
/// The handler receives the payload of the frames as one stream of bytes, as without WebSocket. A frame may contain
/// several packets, and a packet may span several frames [MQTT-6.0.0-2]. The accepting side ignores ``path``,
/// ``headers`` and ``host``, and accepts a request for any path.
///
/// The description and the mirror never show the values of ``headers`` or the query of ``path``.
///
/// ```swift
/// var options = ChannelOptions()
/// options.webSocket = WebSocketConfiguration(path: "/mqtt")
/// ByteChannel.connect(to: .tcp(host: "127.0.0.1", port: 8080), options: options, on: loop, handler: handler)
/// ```
public struct WebSocketConfiguration: Hashable, Sendable {
    /// The path of the request, with or without a query; `/mqtt` by default.
    public var path: String

    /// Additional header fields of the request, by name; none by default.
    public var headers: [String: String]

    /// The value of the `Host` field. With `nil`, the default, it is the host and the port of the endpoint, or
    /// `localhost` if the endpoint has no host.
    public var host: String?

    /// The subprotocol that the client requests and the server must choose; `mqtt` by default [MQTT-6.0.0-3].
    public var subprotocol = "mqtt"

    /// The maximum size of the peer's response or request head in bytes; 16 KiB by default. At most 8 interim responses
    /// (status 1xx) may precede the response.
    public var headLimit = 16 << 10

    /// The maximum number of header fields in the peer's response or request; 100 by default.
    public var headFieldLimit = 100

    /// The maximum size of one message from the peer in bytes; 512 MiB by default. A longer message closes the
    /// WebSocket with status 1009. The limit reserves no memory, because payload is passed on as soon as it arrives.
    public var messageLimit = 512 << 20

    /// The maximum payload of one sent frame in bytes; 65,535 by default. Longer data is sent as several messages.
    public var frameSize = 0xFFFF

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - path: The path of the request; `/mqtt` by default.
    ///   - headers: Additional header fields of the request; none by default.
    ///   - host: The value of the `Host` field; by default the host and the port of the endpoint.
    public init(path: String = "/mqtt", headers: [String: String] = [:], host: String? = nil) {
        self.path = path
        self.headers = headers
        self.host = host
    }
}

extension WebSocketConfiguration {
    /// The names of header fields that the app must not set, because they belong to the handshake.
    static let reservedHeaders: Set<String> = [
        "host", "connection", "upgrade", "content-length", "transfer-encoding", "te", "trailer", "expect",
    ]

    /// The prefix of the names of WebSocket's own header fields. The app must not set a field with this prefix.
    static let reservedPrefix = "sec-websocket-"

    /// The maximum number of additional header fields.
    static let headerLimit = 64
    /// The maximum size of the path and the additional header fields together, in bytes.
    static let requestLimit = 16 << 10

    /// The path without its query, because the query may contain a secret.
    public var shownPath: String { String(path.prefix { $0 != "?" }) }

    /// Checks that a valid request can be made from this configuration.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if no valid request can be made. The error never contains
    ///   a value of a header field.
    public func check() throws(TransportError) {
        guard path.hasPrefix("/"), path.isVisibleASCII, !path.utf8.contains(UInt8(ascii: "#")) else {
            throw refuse(
                "the path “\(HTTPHead.shown(shownPath))” must begin with a slash, "
                    + "and be percent-encoded without spaces or a fragment")
        }
        if let host, host.isEmpty || !host.isVisibleASCII || host.utf8.contains(where: { "/?#@".utf8.contains($0) }) {
            // The text before an “@” may be a password.
            let shown = host.utf8.lastIndex(of: UInt8(ascii: "@")).map { "<hidden>\(host[$0...])" } ?? host
            throw refuse("“\(HTTPHead.shown(shown))” cannot be the value of the Host field")
        }
        guard subprotocol.isHTTPToken else { throw refuse("the subprotocol must be an HTTP token") }
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
            guard name.isHTTPToken else { throw refuse("“\(shown)” cannot be the name of a header field") }
            let small = name.lowercased()
            if Self.reservedHeaders.contains(small) || small.hasPrefix(Self.reservedPrefix) {
                throw refuse("the header field “\(shown)” belongs to the handshake; leave it out")
            }
            guard names.insert(small).inserted else { throw refuse("the header field “\(shown)” occurs twice") }
            if value.utf8.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7F }) {
                throw refuse("the value of the header field “\(shown)” has a control character")
            }
        }
        let size = headers.reduce(path.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count + 4 }
        guard size <= Self.requestLimit else {
            throw refuse("the path and the header fields have \(size) bytes, at most \(Self.requestLimit) are allowed")
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
