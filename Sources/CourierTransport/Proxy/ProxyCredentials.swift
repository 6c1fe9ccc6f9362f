/// A user name and a password for a proxy. Nothing here prints them.
public struct ProxyCredentials: Hashable, Sendable {
    let user: String
    let password: String

    /// Credentials for a proxy; ``ProxyConfiguration`` checks that its protocol can carry them.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The longest user name or password, in bytes: what SOCKS5 can carry (RFC 1929, section 2).
    static let limit = 255

    /// - Throws: ``TransportError/Code/invalidConfiguration``, without a word of the credentials.
    func check(for kind: ProxyConfiguration.Kind) throws(TransportError) {
        let (userCount, passwordCount) = (user.utf8.count, password.utf8.count)
        switch kind {
        case .socks5, .socks5h:
            guard userCount > 0, passwordCount > 0, userCount <= Self.limit, passwordCount <= Self.limit else {
                throw TransportError(
                    .invalidConfiguration,
                    "SOCKS5 carries a user name and a password of 1 to \(Self.limit) bytes each; these have "
                        + "\(userCount) and \(passwordCount)")
            }
        case .http:
            guard userCount <= Self.limit, passwordCount <= Self.limit else {
                throw TransportError(
                    .invalidConfiguration,
                    "a proxy's user name and password may have \(Self.limit) bytes each; these have \(userCount) and "
                        + "\(passwordCount)")
            }
            // RFC 7617, section 2.
            guard !user.utf8.contains(UInt8(ascii: ":")) else {
                throw TransportError(
                    .invalidConfiguration, "a user name for an HTTP proxy may not contain “:”, which ends it there")
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
    /// That there are credentials; not which.
    public var description: String { "credentials" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// Shows nothing, so that `dump` does not print them either.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection(), displayStyle: .struct) }
}
