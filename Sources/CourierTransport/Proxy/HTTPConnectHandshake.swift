/// Opens a connection through an HTTP proxy with the CONNECT method (RFC 9110, section 9.3.6). The first response that
/// is not interim decides the result.
///
/// States: `idle → reading → done`. An error also ends the handshake.
struct HTTPConnectHandshake: ProxyHandshake {
    /// The maximum size of one response head (status line and header fields) in bytes: 16 KiB.
    static let headLimit = 16 << 10
    /// The maximum number of header fields in one response.
    static let fieldLimit = 100

    private enum State: Sendable { case idle, reading, done }

    private let route: ProxyRoute
    private let credentials: ProxyCredentials?
    private var state = State.idle
    /// Reads the current response. Each response has a new reader.
    private var reader = Self.makeReader()
    private var interimCount = 0
    /// `first` is the first byte received from the proxy. `endCount` is the number of received bytes that match `end`,
    /// the bytes at the end of a head.
    private var first: UInt8?
    private var endCount = 0

    init(_ route: ProxyRoute, credentials: ProxyCredentials?) {
        self.route = route
        self.credentials = credentials
    }

    var hasAskedForTarget: Bool { state != .idle }

    var progress: String { "\(route.proxy) did not answer the request for \(route.target.text)" }

    var closedError: TransportError {
        let what = first == nil ? "instead of answering" : "while it answered"
        return route.error(
            .proxyFailed,
            "closed the connection \(what) the request for \(route.target.text); "
                + "is it an HTTP proxy, and does it accept this machine?")
    }

    mutating func begin() -> [UInt8] {
        precondition(state == .idle, "a handshake can begin only once")
        state = .reading
        let target = route.target.text
        var request = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
        if let credentials {
            request +=
                "Proxy-Authorization: Basic \(Base64.text(Array("\(credentials.user):\(credentials.password)".utf8)))\r\n"
        }
        return Array("\(request)\r\n".utf8)
    }

    /// The line break and the empty line that end a response head.
    private static let end = Array("\r\n\r\n".utf8)

    private static func makeReader() -> HTTPHeadReader {
        HTTPHeadReader(beginning: "HTTP/1.", limit: headLimit, fieldLimit: fieldLimit)
    }

    /// The number of bytes that are still missing from the end of the response head, `end`. The caller must not read
    /// more bytes, because bytes of the target may follow the head.
    var wantedCount: Int {
        switch state {
        case .reading: Self.end.count - endCount
        case .idle, .done: 0
        }
    }

    mutating func received(_ bytes: Span<UInt8>) throws(TransportError) -> ProxyAction {
        precondition(state == .reading && (1...wantedCount).contains(bytes.count), "received more bytes than requested")
        if first == nil { first = bytes[0] }
        for index in bytes.indices {
            let byte = bytes[index]
            endCount = byte == Self.end[endCount] ? endCount + 1 : byte == Self.end[0] ? 1 : 0
        }
        guard let head = try read(bytes) else { return .none }
        return try received(head)
    }

    /// Returns the response head when it is complete, otherwise `nil`.
    private mutating func read(_ bytes: Span<UInt8>) throws(TransportError) -> HTTPHead? {
        let problem: HTTPHead.Problem
        do throws(HTTPHead.Problem) {
            return try bytes.bytes.withUnsafeBytes { bytes throws(HTTPHead.Problem) in try reader.read(bytes).head }
        } catch {
            problem = error
        }
        switch problem {
        case .notHTTP: throw otherProtocol
        case .tooLong(let limit): throw route.error(.proxyFailed, "sent headers of more than \(limit) bytes")
        case .tooManyFields(let limit): throw route.error(.proxyFailed, "sent more than \(limit) header fields")
        case .malformed(let what): throw route.error(.proxyFailed, "sent headers with an error: \(what)")
        }
    }

    private mutating func received(_ head: HTTPHead) throws(TransportError) -> ProxyAction {
        guard let status = head.status else {
            throw route.error(.proxyFailed, "sent an invalid HTTP/1.1 status line")
        }
        switch status {
        case 200...299:
            // A successful response to CONNECT has no body, even if its header fields announce a body (RFC 9110,
            // section 9.3.6).
            state = .done
            return .done
        case _ where HTTPHead.isInterim(status):
            interimCount += 1
            guard interimCount <= HTTPHead.interimLimit else {
                throw route.error(.proxyFailed, "sent more than \(HTTPHead.interimLimit) interim responses")
            }
            reader = Self.makeReader()
            endCount = 0
            return .none
        default: throw refusal(status, head)
        }
    }

    private var otherProtocol: TransportError {
        let hint =
            switch first {
            case 0x05, 0x00: "; if it is a SOCKS proxy, its URL must begin with socks5h://"
            case 0x15, 0x16: "; it seems to expect TLS, but TLS to a proxy is not supported"
            default: ""
            }
        return route.error(.proxyFailed, "did not answer with HTTP/1.1\(hint)")
    }

    // MARK: Refusals

    /// Returns the error for a response that refuses the request. The error contains only the status of the response,
    /// because a proxy may repeat the request with its credentials in the response.
    private func refusal(_ status: Int, _ head: HTTPHead) -> TransportError {
        let target = route.target.text
        switch status {
        // 407 is the right status for a proxy, but tinyproxy sends 401 for a wrong password.
        case 401, 407: return authenticationFailure(status, head)
        case 300...399:
            return route.error(
                .proxyRefused,
                "answered the request for \(target) with a redirect (status \(status)), which is not followed; "
                    + "the network may require a sign-in first")
        case 403:
            return route.error(
                .proxyRefused,
                "does not allow connections to \(target) (status 403); "
                    + "its administrator has to allow that host and port")
        case 405, 501:
            return route.error(
                .proxyRefused, "does not support CONNECT requests (status \(status)); is it a proxy?")
        case 504:
            return route.error(
                .proxyRefused, "got no answer from \(target) in time (status 504); is the server running there?")
        case 500...599:
            return route.error(
                .proxyRefused,
                "could not connect to \(target) (status \(status)); is the server running, and can the proxy reach it?")
        case 101: return route.error(.proxyFailed, "wants to switch to another protocol (status 101)")
        default:
            return route.error(.proxyRefused, "refused the request for \(target) (status \(status))")
        }
    }

    private func authenticationFailure(_ status: Int, _ head: HTTPHead) -> TransportError {
        // A comma separates two challenges, or two parameters of one challenge. So some elements begin with a parameter
        // instead of a scheme.
        let words = head.elements("proxy-authenticate").compactMap { $0.split(separator: " ").first?.lowercased() }
        let offered = Self.knownSchemes.filter { words.contains($0.lowercased()) }
        guard offered.isEmpty || offered.contains("Basic") else {
            return route.error(
                .proxyAuthenticationFailed,
                "wants authentication by \(offered.joined(separator: " or ")) (status \(status)); only Basic is supported"
            )
        }
        return credentials == nil
            ? route.error(
                .proxyAuthenticationFailed,
                "wants a user name and a password (status \(status)); add them to the proxy's configuration")
            : route.error(
                .proxyAuthenticationFailed,
                "did not accept the user name and the password (status \(status)); correct them in the proxy's configuration"
            )
    }

    /// The authentication schemes that an error message may name.
    private static let knownSchemes = ["Basic", "Digest", "NTLM", "Negotiate", "Kerberos", "Bearer"]
}
