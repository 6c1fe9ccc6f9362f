/// A proxy to connect through: its protocol, its address and its credentials.
///
/// ```swift
/// let proxy = try ProxyConfiguration(url: "socks5h://user:secret@proxy.example:1080")
/// ```
///
/// Any TCP connection can go through the proxy. With TLS, the handshake is done with the server behind the proxy. The
/// connection to the proxy itself does not use TLS. The description shows everything except the credentials. At most 8
/// interim responses (status 1xx) may precede the response of an HTTP proxy.
public struct ProxyConfiguration: Hashable, Sendable {
    /// The protocol of a proxy.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// HTTP with the CONNECT method (RFC 9110, section 9.3.6). The proxy looks up the address of the host name.
        case http
        /// SOCKS5 (RFC 1928). The client looks up the address of the host name and sends the address to the proxy.
        case socks5
        /// SOCKS5 (RFC 1928). The proxy looks up the address of the host name.
        case socks5h
    }

    /// The port of a SOCKS proxy if its URL has none.
    public static let defaultSOCKSPort: UInt16 = 1080

    /// The proxy's protocol.
    public let kind: Kind

    /// The proxy's host name or IP address. An IPv6 address has no brackets.
    public let host: String

    /// The proxy's port.
    public let port: UInt16

    /// The user name and the password for the proxy; `nil` if the proxy needs none.
    public let credentials: ProxyCredentials?

    /// Makes a configuration and checks its values.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if the host, the port or the credentials are invalid.
    ///   SOCKS5 allows 1 to 255 bytes each for the user name and the password. HTTP allows at most 255 bytes each, no
    ///   control characters, and no “:” in the user name. The error never contains the credentials.
    public init(
        _ kind: Kind, host: String, port: UInt16, credentials: ProxyCredentials? = nil
    ) throws(TransportError) {
        guard HostText.isPlausible(host) else {
            throw TransportError(
                .invalidConfiguration,
                "the proxy's host must be a name or an address, without a scheme, a port or spaces")
        }
        guard port > 0 else {
            throw TransportError(
                .invalidConfiguration, "the port of the proxy “\(host)” is 0; set the proxy's port")
        }
        try credentials?.check(for: kind)
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }
}

extension ProxyConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The proxy's URL without the credentials, such as `socks5h://proxy.example:1080`.
    public var description: String { "\(kind.rawValue)://\(TransportEndpoint.tcp(host: host, port: port))" }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the URL, and whether credentials are set.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["url": description, "hasCredentials": credentials != nil] as KeyValuePairs<String, Any>,
            displayStyle: .struct)
    }
}
