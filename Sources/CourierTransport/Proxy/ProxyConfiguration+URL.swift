extension ProxyConfiguration {
    /// Parses a proxy URL such as `http://user:password@host:port`. The scheme is `http`, `socks5` or `socks5h`.
    ///
    /// The user name and the password are optional. The port is optional for a SOCKS proxy. Percent-encode special
    /// characters in the user name and the password, such as `%40` for “@” and `%2F` for “/”. Write an IPv6 address in
    /// brackets.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration``. Its message says which part is wrong, and never quotes
    ///   the URL, because any part of the URL may contain a password.
    public init(url: String) throws(TransportError) {
        guard let mark = url.firstRange(of: "://") else {
            throw Self.refusal("the proxy's URL has no scheme; begin it with http://, socks5:// or socks5h://")
        }
        let kind = try Self.kind(url[..<mark.lowerBound])
        var authority = url[mark.upperBound...]
        if let end = authority.firstIndex(where: { "/?#".contains($0) }) {
            guard authority[end...] == "/" else {
                throw Self.refusal(
                    "the proxy's URL has text after its host and port; "
                        + "remove that text, or, if it belongs to a password, "
                        + "write “/” as %2F, “?” as %3F and “#” as %23")
            }
            authority = authority[..<end]
        }
        // The last “@” ends the credentials, because a password may contain an “@” that is not percent-encoded.
        var credentials: ProxyCredentials?
        if let at = authority.lastIndex(of: "@") {
            credentials = try Self.credentials(authority[..<at])
            authority = authority[authority.index(after: at)...]
        }
        let (host, port) = try Self.hostAndPort(authority)
        guard let port = port ?? (kind == .http ? nil : Self.defaultSOCKSPort) else {
            throw Self.refusal("the proxy's URL has no port; add the port of the HTTP proxy, such as 3128 or 8080")
        }
        try self.init(kind, host: host, port: port, credentials: credentials)
    }

    private static func refusal(_ what: String) -> TransportError {
        TransportError(.invalidConfiguration, what)
    }

    private static func kind(_ text: Substring) throws(TransportError) -> Kind {
        let scheme = text.lowercased()
        if let kind = Kind(rawValue: scheme) { return kind }
        switch scheme {
        case "https":
            throw refusal("the proxy's URL begins with https://, but TLS to a proxy is not supported; use http://")
        case "socks", "socks4", "socks4a":
            throw refusal("the proxy's URL needs SOCKS version 5; use socks5:// or socks5h://")
        default: throw refusal("the proxy's URL has a scheme that is not known; use http://, socks5:// or socks5h://")
        }
    }

    private static func credentials(_ text: Substring) throws(TransportError) -> ProxyCredentials {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts.compactMap(\.percentDecoded)
        guard decoded.count == parts.count, let user = decoded.first else {
            throw refusal(
                "the proxy's URL has an invalid percent escape in its user name or password; "
                    + "write a percent sign as %25")
        }
        return ProxyCredentials(user: user, password: decoded.count > 1 ? decoded[1] : "")
    }

    private static func hostAndPort(_ text: Substring) throws(TransportError) -> (String, UInt16?) {
        let host: Substring
        var rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw refusal("the proxy's URL has a “[” without a “]”") }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard host.contains(":") else {
                throw refusal("the proxy's URL has brackets around a host that is not an IPv6 address")
            }
        } else {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
            guard !rest.dropFirst().contains(":") else {
                throw refusal("the proxy's URL has several colons in its host; write an IPv6 address in brackets")
            }
        }
        guard !host.isEmpty else { throw refusal("the proxy's URL has no host") }
        if rest.isEmpty { return (String(host), nil) }
        let first = rest.removeFirst()
        guard first == ":", rest.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(rest), port > 0 else {
            throw refusal("the proxy's URL has an invalid port; use a number from 1 to 65535")
        }
        return (String(host), port)
    }
}
