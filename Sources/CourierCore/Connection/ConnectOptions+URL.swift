import Foundation

extension ConnectOptions {
    /// Makes options from a broker's URL, such as `mqtts://ada:secret@broker.example.com`.
    ///
    /// ```swift
    /// let options = try ConnectOptions(url: "mqtts://ada:secret@broker.example.com?client_id=phone-7")
    /// ```
    ///
    /// | part | |
    /// |---|---|
    /// | scheme | `mqtt`, `mqtts` (TLS), `ws`, `wss` (WebSocket), `unix` (a socket, as in `unix:///run/broker.sock`) |
    /// | user name and password | may be left out; special characters are percent-encoded, such as `%40` for `@` |
    /// | port | by default 1883 (`mqtt`), 8883 (`mqtts`), 80 (`ws`) or 443 (`wss`) |
    /// | path | only with `ws` and `wss`, where it is `/mqtt` by default, and with `unix` |
    /// | query | `client_id` and nothing else |
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - clientId: The client id; must be `nil` if the URL has a `client_id`. If no id is given, the client uses a
    ///     random id and a clean session.
    ///   - keepAlive: Seconds after the last sent packet until the client sends PINGREQ; 60 by default, 0 for no
    ///     PINGREQ.
    ///   - isCleanSession: Whether the broker deletes the earlier session. By default, the session is clean only if no
    ///     client id is given.
    /// - Throws: ``CourierError/Code-swift.struct/invalidConfiguration``, which names the wrong part. The error does
    ///   not quote any part of the URL, because any part may contain a password.
    public init(
        url: String, clientId: String? = nil, keepAlive: UInt16 = 60, isCleanSession: Bool? = nil
    ) throws(CourierError) {
        let parts = try BrokerURLParts(url)
        if clientId != nil, parts.clientID != nil {
            throw BrokerURLParts.refusal(
                "The broker's URL has a client_id, but the option clientId is set too; use only one")
        }
        let id = clientId ?? parts.clientID
        if id == nil, isCleanSession == false {
            throw BrokerURLParts.refusal(
                "The broker's URL has no client_id. A session that is not clean needs a client id; "
                    + "add a client_id, or set isCleanSession to true"
            )
        }
        self.init(
            host: parts.host, port: parts.port, keepAlive: keepAlive, clientId: id ?? "courier-%%%%%%%%",
            username: parts.username, password: parts.password, isCleanSession: isCleanSession ?? (id == nil),
            scheme: parts.scheme, webSocket: parts.path.map { WebSocketOptions(path: $0) })
    }
}

/// The parts of a broker's URL, decoded and checked.
private struct BrokerURLParts {
    private static let ports: KeyValuePairs<String, UInt16> = [
        "mqtt": 1_883, "mqtts": 8_883, "ws": 80, "wss": 443, "unix": 0,
    ]

    let scheme: String
    let host: String
    let port: UInt16
    var username = ""
    var password = ""
    /// The path of a WebSocket; `nil` for the default.
    var path: String?
    var clientID: String?

    init(_ url: String) throws(CourierError) {
        guard let mark = url.firstRange(of: "://") else {
            throw Self.refusal("The broker's URL has no scheme; write it as mqtt://broker.example.com")
        }
        scheme = url[..<mark.lowerBound].lowercased()
        guard let defaultPort = Self.ports.first(where: { [scheme] in $0.key == scheme })?.value else {
            // Do not quote the scheme in the error, because it may be a part of a password.
            throw Self.refusal(
                "The broker's URL has an unknown scheme; use \(Self.ports.map(\.key).joined(separator: ", "))")
        }
        var rest = url[mark.upperBound...]
        guard !rest.contains("#") else {
            throw Self.refusal("The broker's URL has a fragment (#); write %23 in a password")
        }
        if let mark = rest.firstIndex(of: "?") {
            clientID = try Self.clientID(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        var authority = rest.prefix { $0 != "/" }
        let path = rest[authority.endIndex...]
        if let at = authority.lastIndex(of: "@") {
            let words = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            username = try Self.decoded(words[0], "user name")
            if words.count > 1 { password = try Self.decoded(words[1], "password") }
            authority = authority[authority.index(after: at)...]
        }
        guard scheme != "unix" else {
            guard authority.isEmpty, path.count > 1 else {
                throw Self.refusal("The broker's URL has no socket path; write it as unix:///run/broker.sock")
            }
            (host, port) = (try Self.decoded(path, "path"), 0)
            return
        }
        (host, port) = try Self.hostAndPort(authority, defaultPort)
        switch scheme {
        case "ws", "wss":
            guard !path.contains("@") else {
                throw Self.refusal(
                    "The broker's URL has an @ in its path; write %40 there, and %2F for a slash in a password")
            }
            if !path.isEmpty { self.path = String(path) }
        default:
            guard path.isEmpty || path == "/" else {
                throw Self.refusal(
                    "The broker's URL has a path, but only ws, wss and unix URLs have a path; "
                        + "write %2F for a slash in a password")
            }
        }
    }

    static func refusal(_ what: String) -> CourierError {
        CourierError(.invalidConfiguration, "\(what).")
    }

    private static func decoded(_ text: Substring, _ name: String) throws(CourierError) -> String {
        guard let decoded = String(text).removingPercentEncoding else {
            throw refusal("The broker's URL has an invalid percent escape in its \(name); write a percent sign as %25")
        }
        return decoded
    }

    private static func clientID(_ query: Substring) throws(CourierError) -> String {
        guard let mark = query.firstIndex(of: "="), query[..<mark] == "client_id",
            !query.contains(where: { $0 == "&" || $0 == "@" })
        else {
            throw refusal(
                "The broker's URL has a query item other than client_id; write %3F for a question mark in a password")
        }
        let id = try decoded(query[query.index(after: mark)...], "client_id")
        guard !id.isEmpty else {
            throw refusal("The broker's URL has an empty client_id; name a client id, or leave client_id out")
        }
        return id
    }

    private static func hostAndPort(
        _ text: Substring, _ defaultPort: UInt16
    ) throws(CourierError) -> (host: String, port: UInt16) {
        let host: Substring
        var rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else {
                throw refusal("The broker's URL has a \"[\" without a \"]\"")
            }
            host = text[..<end].dropFirst()
            rest = text[text.index(after: end)...]
            guard host.contains(":") else {
                throw refusal("The broker's URL has brackets around a host that is not an IPv6 address")
            }
        } else {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
            guard !rest.dropFirst().contains(":") else {
                throw refusal("The broker's URL has several colons in its host; write an IPv6 address in brackets")
            }
        }
        guard !host.isEmpty else { throw refusal("The broker's URL has no host") }
        guard !rest.isEmpty else { return (try decoded(host, "host"), defaultPort) }
        guard rest.removeFirst() == ":", rest.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(rest),
            port > 0
        else { throw refusal("The broker's URL has an invalid port; use a number from 1 to 65535") }
        return (try decoded(host, "host"), port)
    }
}
