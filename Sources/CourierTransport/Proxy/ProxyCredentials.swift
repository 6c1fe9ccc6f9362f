/// A user name and a password for a proxy. The descriptions of this type never contain the user name or the password.
public struct ProxyCredentials: Hashable, Sendable {
    let user: String
    let password: String

    /// Makes credentials. ``ProxyConfiguration`` checks that its protocol allows them.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The maximum length of a user name or a password in bytes. This is the limit of SOCKS5 (RFC 1929, section 2), and
    /// it applies to HTTP too.
    static let limit = 255

    /// Checks that the protocol of a proxy allows these credentials.
    ///
    /// - Throws: ``TransportError/Code/invalidConfiguration`` if they are not allowed. The error never contains them.
    func check(for kind: ProxyConfiguration.Kind) throws(TransportError) {
        let (userCount, passwordCount) = (user.utf8.count, password.utf8.count)
        switch kind {
        case .socks5, .socks5h:
            guard userCount > 0, passwordCount > 0, userCount <= Self.limit, passwordCount <= Self.limit else {
                throw TransportError(
                    .invalidConfiguration,
                    "SOCKS5 needs a user name and a password of 1 to \(Self.limit) bytes each; "
                        + "the user name has \(userCount) bytes, the password \(passwordCount)")
            }
        case .http:
            guard userCount <= Self.limit, passwordCount <= Self.limit else {
                throw TransportError(
                    .invalidConfiguration,
                    "a proxy's user name and password may have at most \(Self.limit) bytes each; "
                        + "the user name has \(userCount) bytes, the password \(passwordCount)")
            }
            // In Basic authentication, the first “:” ends the user name (RFC 7617, section 2).
            guard !user.utf8.contains(UInt8(ascii: ":")) else {
                throw TransportError(
                    .invalidConfiguration,
                    "a user name for an HTTP proxy may not contain “:”, because the password follows that character")
            }
            guard !(user + password).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw TransportError(
                    .invalidConfiguration,
                    "a user name and a password for an HTTP proxy may not contain control characters")
            }
        }
    }
}

extension ProxyCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text, without the user name and the password.
    public var description: String { "credentials" }
    /// The same text as ``description``.
    public var debugDescription: String { description }
    /// Shows no children, so that `dump` does not print the credentials.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection(), displayStyle: .struct) }
}
