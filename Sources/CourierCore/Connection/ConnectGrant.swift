public import Foundation

/// The result of a ``ConnectionServiceProvider``: connect options, and when they expire.
public struct ConnectGrant: Hashable, Sendable {
    /// The options for the connection.
    public let options: ConnectOptions

    /// When the credentials expire, so that the client can renew them earlier. `nil` if they do not expire, or if the
    /// time is not known. The client renews credentials at the earliest 1 s after CONNACK or after the provider's last
    /// response.
    public let expiresAt: Date?

    /// Makes a grant.
    ///
    /// - Parameters:
    ///   - options: The options for the connection.
    ///   - expiresAt: When the credentials expire; `nil` by default.
    public init(_ options: ConnectOptions, expiresAt: Date? = nil) {
        self.options = options
        self.expiresAt = expiresAt
    }
}
