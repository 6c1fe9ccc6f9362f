/// Opens a connection through a SOCKS5 proxy (RFC 1928). It sends a user name and a password if the proxy requires them
/// (RFC 1929).
///
/// States: `idle → greeting → (authentication →) request → done`. An error also ends the handshake.
struct SOCKS5Handshake: ProxyHandshake {
    private enum State: Sendable { case idle, greeting, authentication, request, done }

    private enum Method {
        static let none: UInt8 = 0x00
        static let userAndPassword: UInt8 = 0x02
        static let noneAcceptable: UInt8 = 0xFF
    }

    private static let version: UInt8 = 5
    private static let authenticationVersion: UInt8 = 1

    private let route: ProxyRoute
    private let credentials: ProxyCredentials?
    private var state = State.idle
    /// The received bytes of the current response.
    private var answer: [UInt8] = []

    init(_ route: ProxyRoute, credentials: ProxyCredentials?) {
        self.route = route
        self.credentials = credentials
    }

    var hasAskedForTarget: Bool {
        switch state {
        case .idle, .greeting, .authentication: false
        case .request, .done: true
        }
    }

    var progress: String {
        switch state {
        case .idle, .greeting: "\(route.proxy) did not answer the greeting"
        case .authentication: "\(route.proxy) did not answer the authentication"
        case .request, .done: "\(route.proxy) did not answer the request for \(route.target.text)"
        }
    }

    var closedError: TransportError {
        switch state {
        case .idle, .greeting:
            route.error(
                .proxyFailed,
                "closed the connection instead of answering the greeting; "
                    + "is it a SOCKS5 proxy, and does it accept this machine?")
        // Some proxies close the connection after a wrong password, instead of sending the response that RFC 1929
        // defines.
        case .authentication:
            route.error(
                .proxyAuthenticationFailed,
                "closed the connection during the authentication; are the user name and the password right?")
        case .request, .done:
            route.error(
                .proxyFailed, "closed the connection instead of answering the request for \(route.target.text)")
        }
    }

    mutating func begin() -> [UInt8] {
        precondition(state == .idle, "a handshake can begin only once")
        state = .greeting
        let methods = credentials == nil ? [Method.none] : [Method.none, Method.userAndPassword]
        return [Self.version, UInt8(methods.count)] + methods
    }

    var wantedCount: Int {
        switch state {
        case .idle, .done: 0
        case .greeting, .authentication: 2 - answer.count
        case .request: (answerLength ?? answer.count + 1) - answer.count
        }
    }

    /// The length of the response to the request, as far as the received bytes show it. The length is 2 at first,
    /// because a proxy that refuses the request may send only two bytes. `nil` if the next byte contains the length.
    private var answerLength: Int? {
        switch answer.count {
        case ..<2: return 2
        case ..<4: return 4
        default:
            switch answer[3] {
            case 1: return 4 + 4 + 2
            case 4: return 4 + 16 + 2
            case 3: return answer.count > 4 ? 5 + Int(answer[4]) + 2 : nil
            default: return 4
            }
        }
    }

    mutating func received(_ bytes: Span<UInt8>) throws(TransportError) -> ProxyAction {
        precondition((1...max(wantedCount, 1)).contains(bytes.count), "received more bytes than requested")
        for index in bytes.indices { answer.append(bytes[index]) }
        switch state {
        case .idle, .done: preconditionFailure("received bytes that were not requested")
        case .greeting: return try receivedMethod()
        case .authentication: return try receivedStatus()
        case .request: return try receivedReply()
        }
    }

    // MARK: The three responses

    private mutating func receivedMethod() throws(TransportError) -> ProxyAction {
        guard answer[0] == Self.version else { throw otherProtocol(answer[0]) }
        guard answer.count == 2 else { return .none }
        switch (answer[1], credentials) {
        case (Method.none, _): return sendRequest()
        case (Method.userAndPassword, let credentials?):
            state = .authentication
            answer.removeAll()
            let (user, password) = (Array(credentials.user.utf8), Array(credentials.password.utf8))
            return .send(
                [Self.authenticationVersion, UInt8(user.count)] + user + [UInt8(password.count)] + password)
        case (Method.noneAcceptable, nil):
            throw route.error(
                .proxyAuthenticationFailed,
                "requires authentication; add a user name and a password to its configuration")
        case (Method.noneAcceptable, _?):
            throw route.error(
                .proxyAuthenticationFailed,
                "accepts neither a user name with a password nor a client without authentication")
        default:
            throw route.error(
                .proxyFailed, "chose the authentication method \(answer[1]), which this client did not offer")
        }
    }

    private mutating func receivedStatus() throws(TransportError) -> ProxyAction {
        guard answer[0] == Self.authenticationVersion else {
            throw route.error(
                .proxyFailed,
                "answered the authentication with version \(answer[0]) instead of \(Self.authenticationVersion)")
        }
        guard answer.count == 2 else { return .none }
        guard answer[1] == 0 else {
            throw route.error(
                .proxyAuthenticationFailed,
                "did not accept the user name and the password (status \(answer[1])); correct them in the proxy settings of this client"
            )
        }
        return sendRequest()
    }

    private mutating func sendRequest() -> ProxyAction {
        state = .request
        answer.removeAll()
        let connect: UInt8 = 1
        var bytes = [Self.version, connect, 0]
        switch route.target.host {
        case .address(let address): bytes += [address.isIPv6 ? 4 : 1] + address.bytes
        // The name has at most 253 bytes, which ``ProxyTarget`` checks.
        case .name(let name): bytes += [3, UInt8(name.utf8.count)] + Array(name.utf8)
        }
        bytes += [UInt8(route.target.port >> 8), UInt8(route.target.port & 0xFF)]
        return .send(bytes)
    }

    private mutating func receivedReply() throws(TransportError) -> ProxyAction {
        guard answer[0] == Self.version else { throw otherProtocol(answer[0]) }
        guard answer.count >= 2 else { return .none }
        guard answer[1] == 0 else { throw refusal(answer[1]) }
        guard answer.count >= 4 else { return .none }
        guard [1, 3, 4].contains(answer[3]) else {
            throw route.error(.proxyFailed, "answered with an address of the unknown kind \(answer[3])")
        }
        guard answer.count == answerLength else { return .none }
        state = .done
        return .done
    }

    // MARK: Refusals

    private func otherProtocol(_ first: UInt8) -> TransportError {
        switch first {
        case UInt8(ascii: "H"):
            route.error(.proxyFailed, "answered with HTTP; the URL of an HTTP proxy begins with http://")
        case 0, 4: route.error(.proxyFailed, "speaks SOCKS4, which is not supported")
        case 0x15, 0x16:
            route.error(.proxyFailed, "seems to expect TLS, but TLS to a proxy is not supported")
        default: route.error(.proxyFailed, "did not answer with SOCKS5 (the first byte is \(first))")
        }
    }

    /// Returns the error for a reply code (RFC 1928, section 6).
    private func refusal(_ code: UInt8) -> TransportError {
        let target = route.target.text
        let what =
            switch code {
            case 1: "failed to connect to \(target) and gave no exact reason; the proxy's log may say more"
            case 2: "does not allow connections to \(target); its administrator has to allow that host and port"
            case 3: "has no network route to \(target)"
            case 4: "cannot reach the host \(target); does the name exist, and is the host running?"
            case 5: "reports that \(target) refused the connection; is the server running there?"
            case 6: "reports that the network route to \(target) is too long (TTL expired)"
            case 7: "does not support the command that opens a connection"
            case 8: "cannot use this kind of address: \(target)"
            default: "failed to connect to \(target) with the unknown code \(code)"
            }
        return route.error(.proxyRefused, what)
    }
}
