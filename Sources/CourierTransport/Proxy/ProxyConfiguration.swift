/// A proxy to connect through: what it speaks, where it is, and as whom to use it.
///
/// ```swift
/// let proxy = try ProxyConfiguration(url: "socks5h://user:secret@proxy.example:1080")
/// ```
///
/// Any TCP connection can go through it, and TLS is then spoken with the server behind it, not with the proxy. Printed,
/// it shows everything but the credentials.
public struct ProxyConfiguration: Hashable, Sendable {
    /// What a proxy speaks.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// HTTP with the method CONNECT (RFC 9110, section 9.3.6); the proxy looks the host's name up.
        case http
        /// SOCKS5 (RFC 1928); the host's name is looked up here, and the proxy gets an address.
        case socks5
        /// SOCKS5; the proxy looks the host's name up.
        case socks5h
    }

    /// The port of a SOCKS proxy whose URL names none.
    public static let defaultSOCKSPort: UInt16 = 1080

    /// What the proxy speaks.
    public let kind: Kind

    /// Its name or its IPv4 or IPv6 address, the last without brackets.
    public let host: String

    /// Its port.
    public let port: UInt16

    /// As whom to use it; `nil` if it asks nobody.
    public let credentials: ProxyCredentials?

    /// A proxy of these parts.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` for a host or a port that cannot be, and for credentials
    ///   that the protocol cannot carry: SOCKS5 has 1 to 255 bytes for each, HTTP at most as many, and no “:” in a
    ///   user name. The error never holds them.
    public init(
        _ kind: Kind, host: String, port: UInt16, credentials: ProxyCredentials? = nil
    ) throws(TransportError) {
        guard HostText.isPlausible(host) else {
            throw TransportError(
                .invalidConfiguration,
                "the proxy's host is no name and no address; give it alone, without a scheme, a port or spaces")
        }
        guard port > 0 else {
            throw TransportError(
                .invalidConfiguration, "the port of the proxy “\(host)” is 0; give the one it listens at")
        }
        try credentials?.check(for: kind)
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }
}

extension ProxyConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How messages call it, such as `socks5h://proxy.example:1080`; never with the credentials.
    public var description: String { "\(kind.rawValue)://\(TransportEndpoint.tcp(host: host, port: port))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Shows the URL, and whether there are credentials.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["url": description, "hasCredentials": credentials != nil] as KeyValuePairs<String, Any>,
            displayStyle: .struct)
    }
}
