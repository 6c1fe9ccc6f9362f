public import Foundation

/// The result of a ``ConnectionServiceProvider``: connect options, and the time when they expire.
public struct ConnectGrant: Hashable, Sendable {
    /// The options for the connection.
    public let options: ConnectOptions

    /// The time when the credentials expire, so that the client can renew them earlier. `nil` if they never expire, or
    /// if the time is not known. The client renews them no earlier than 1 s after CONNACK or after the provider's last
    /// response.
    public let expiresAt: Date?

    /// Makes a grant.
    ///
    /// - Parameters:
    ///   - options: The options for the connection.
    ///   - expiresAt: The date when the credentials expire; `nil` by default.
    public init(_ options: ConnectOptions, expiresAt: Date? = nil) {
        self.options = options
        self.expiresAt = expiresAt
    }
}
