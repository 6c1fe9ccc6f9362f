/// The client side of the opening handshake (RFC 6455, section 4.1). It makes one request, and checks that the response
/// matches the request. Interim responses are skipped.
struct WebSocketClientHandshake: Sendable {
    private let configuration: WebSocketConfiguration
    private let host: String
    private let peerName: String
    private let key: WebSocketKey
    /// Reads the current response. Each response has a new reader.
    private var reader: HTTPHeadReader
    private var interimCount = 0

    /// Makes a handshake for one connection.
    ///
    /// - Parameters:
    ///   - configuration: The settings of the request. The caller must have checked them.
    ///   - host: The value of the `Host` field if the configuration has none.
    ///   - peerName: The peer's name in error messages.
    ///   - key: A new random key.
    init(_ configuration: WebSocketConfiguration, host: String, peerName: String, key: WebSocketKey) {
        self.configuration = configuration
        self.host = configuration.host ?? host
        self.peerName = peerName
        self.key = key
        reader = Self.makeReader(configuration)
    }

    private static func makeReader(_ configuration: WebSocketConfiguration) -> HTTPHeadReader {
        HTTPHeadReader(
            beginning: "HTTP/1.", limit: configuration.headLimit, fieldLimit: configuration.headFieldLimit)
    }

    /// The text of the request. The client must request the subprotocol `mqtt` [MQTT-6.0.0-3].
    var request: String {
        let fields = configuration.headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }
        return "GET \(configuration.path) HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: \(key.text)\r\nSec-WebSocket-Version: 13\r\n"
            + "Sec-WebSocket-Protocol: \(configuration.subprotocol)\r\n\(fields.joined())\r\n"
    }

    /// Processes bytes of the response. Returns how many bytes it used, and whether the handshake is done.
    ///
    /// - Throws: The reason why the handshake failed.
    mutating func received(_ bytes: UnsafeRawBufferPointer) throws(TransportError) -> (taken: Int, isDone: Bool) {
        var taken = 0
        while true {
            let (count, head): (Int, HTTPHead?)
            do throws(HTTPHead.Problem) {
                (count, head) = try reader.read(UnsafeRawBufferPointer(rebasing: bytes[taken...]))
            } catch {
                throw failure(error)
            }
            taken += count
            guard let head else { return (taken, false) }
            guard let status = head.status, HTTPHead.isInterim(status) else {
                try check(head)
                return (taken, true)
            }
            interimCount += 1
            guard interimCount <= HTTPHead.interimLimit else {
                throw mismatch("the server sent more than \(HTTPHead.interimLimit) interim responses")
            }
            reader = Self.makeReader(configuration)
        }
    }

    /// Returns the error to report if the peer ends the connection before it responds. `deed` is the peer's action:
    /// `closed` or `reset`.
    func brokenOff(_ deed: String, errno: Int32?) -> TransportError {
        TransportError(
            .webSocketHandshakeFailed,
            "connection \(deed) by \(peerName) before it answered the request for a WebSocket; "
                + "does this port speak WebSocket?", errno: errno)
    }

    // MARK: Checking the response

    private func check(_ head: HTTPHead) throws(TransportError) {
        guard let status = head.status else { throw failure(.notHTTP) }
        guard status == 101 else { throw refusal(status, head) }
        guard head.startLine.hasPrefix("HTTP/1.1") else {
            throw mismatch("the response uses HTTP/1.0 instead of HTTP/1.1")
        }
        guard head.elements("upgrade").map({ $0.lowercased() }) == ["websocket"] else {
            throw mismatch("the response's Upgrade field does not say websocket")
        }
        guard head.elements("connection").contains(where: { $0.lowercased() == "upgrade" }) else {
            throw mismatch("the response's Connection field does not say Upgrade")
        }
        guard head.values("sec-websocket-accept") == [key.accept] else {
            throw mismatch(
                "the response's Sec-WebSocket-Accept does not match the key; another machine may have answered")
        }
        if let name = head.elements("sec-websocket-extensions").first {
            throw mismatch("the response uses the extension \(configuration.quoted(name)), which was not offered")
        }
        try checkSubprotocol(head.values("sec-websocket-protocol"))
    }

    /// Checks the subprotocol that the server chose, because the server must choose `mqtt` too [MQTT-6.0.0-4].
    private func checkSubprotocol(_ chosen: [String]) throws(TransportError) {
        if chosen == [configuration.subprotocol] { return }
        let what =
            chosen.isEmpty
            ? "did not choose this subprotocol"
            : "chose \(configuration.quoted(chosen.joined(separator: ", "))) instead"
        throw TransportError(
            .webSocketSubprotocolRefused,
            "\(peerName) was asked for the WebSocket subprotocol “\(configuration.subprotocol)” at "
                + "“\(configuration.shownPath)” and \(what); is this the path of the MQTT endpoint?")
    }

    private func mismatch(_ what: String) -> TransportError {
        TransportError(
            .webSocketHandshakeFailed, "\(peerName) answered the request for a WebSocket incorrectly: \(what)")
    }

    private func failure(_ problem: HTTPHead.Problem) -> TransportError {
        switch problem {
        case .notHTTP:
            TransportError(
                .webSocketHandshakeFailed,
                "\(peerName) answered the request for a WebSocket with something that is not HTTP/1.1")
        case .tooLong(let limit): mismatch("the HTTP head has more than \(limit) bytes")
        case .tooManyFields(let limit): mismatch("the HTTP head has more than \(limit) fields")
        case .malformed(let what): mismatch(what)
        }
    }

    private func refusal(_ status: Int, _ head: HTTPHead) -> TransportError {
        let answer = Self.phrases[status].map { "\(status) \($0)" } ?? "\(status)"
        let path = "“\(configuration.shownPath)”"
        switch status {
        case 300..<400:
            let target = head.values("location").first.map {
                " to \(configuration.quoted($0.prefix { $0 != "?" && $0 != "#" }))"
            }
            return TransportError(
                .webSocketRedirected,
                "\(peerName) answered \(answer) and redirects us\(target ?? " elsewhere"); redirects are not followed; "
                    + "connect to the new address if you trust it")
        case 401, 403:
            return TransportError(
                .webSocketUnauthorized,
                "\(peerName) answered \(answer) to the request for a WebSocket at \(path); "
                    + "the header fields must carry valid credentials")
        case 404:
            return refused("\(peerName) answered \(answer): it has no WebSocket at \(path); use another path")
        case 426:
            let versions = head.elements("sec-websocket-version").first.map { " \(configuration.quoted($0))" } ?? ""
            return refused(
                "\(peerName) answered \(answer): it requires another protocol or version\(versions); "
                    + "this client supports WebSocket version 13 over HTTP/1.1")
        default:
            let pause = head.values("retry-after").first.map {
                "; its Retry-After field is \(configuration.quoted($0))"
            }
            return refused("\(peerName) answered \(answer) to the request for a WebSocket at \(path)\(pause ?? "")")
        }
    }

    private func refused(_ what: String) -> TransportError { TransportError(.webSocketRefused, what) }

    /// The status phrases of RFC 9110, section 15. The phrase of a response is not shown, because it may contain any
    /// text.
    private static let phrases: [Int: String] = [
        200: "OK", 301: "Moved Permanently", 302: "Found", 303: "See Other", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 407: "Proxy Authentication Required", 408: "Request Timeout", 410: "Gone",
        426: "Upgrade Required", 429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented",
        502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}
