/// Further options for reconnecting, in addition to `autoReconnectInterval` and `maxAutoReconnectInterval`.
///
/// ```swift
/// config.reconnect.whenRefused = .stop  // Stops after a wrong password, instead of trying it again and again.
/// ```
public struct ReconnectPolicy: Hashable, Sendable {
    /// The client's response to a final failure. A failure is final if no endpoint can work before a person corrects
    /// something.
    ///
    /// Examples are refused credentials that the provider does not change, a host name that does not exist, and a
    /// certificate that is not accepted. If one endpoint refuses the credentials, the client assumes that every
    /// endpoint refuses them.
    public enum RefusalResponse: Hashable, Sendable {
        /// The client tries again after a pause.
        case keepTrying

        /// The client waits for the next `connect()`. Messages stay in the queue.
        case stop
    }

    /// The random part of each pause, so that many clients do not reconnect at the same moment. By default, the client
    /// waits half of the pause, and a random part of the other half.
    public var jitter = ReconnectJitter.equal

    /// The time after which a connection counts as stable, so that the pauses start again with the first interval; 10 s
    /// by default.
    public var stableConnectionTime = Duration.seconds(10)

    /// The response to a final failure; ``RefusalResponse/keepTrying`` by default.
    ///
    /// If the client has not been connected yet, `connected()` throws the final failure, with both values. After a lost
    /// connection, `connected()` throws the final failure with ``RefusalResponse/stop``, and waits for the next attempt
    /// with ``RefusalResponse/keepTrying``.
    public var whenRefused = RefusalResponse.keepTrying

    /// A policy with the default values.
    public init() {}
}
