/// The user name and client id of a connection: the values of `%u` and `%c` in a topic template.
public struct ConnectionIdentity: Sendable {
    /// The user name, for `%u`.
    public let username: String

    /// The client id, for `%c`.
    public let clientID: String

    /// Creates an identity.
    ///
    /// - Parameters:
    ///   - username: The user name.
    ///   - clientID: The client id.
    public init(username: String, clientID: String) {
        self.username = username
        self.clientID = clientID
    }

    /// Creates the identity of a connection with these options.
    ///
    /// - Parameter options: The options.
    public init(_ options: ConnectOptions) { self.init(username: options.username, clientID: options.clientId) }
}
