public import Foundation

/// What a ``ConnectionServiceProvider`` hands out: options, and how long they are good.
public struct ConnectGrant: Hashable, Sendable {
    /// The options for the connection.
    public let options: ConnectOptions

    /// When the credentials end, so that the client can renew them earlier; `nil` if they do not end, or if the end is not known.
    public let expiresAt: Date?

    /// Joins options and their end.
    ///
    /// - Parameters:
    ///   - options: The options for the connection.
    ///   - expiresAt: When they end; `nil` by default.
    public init(_ options: ConnectOptions, expiresAt: Date? = nil) {
        self.options = options
        self.expiresAt = expiresAt
    }
}
