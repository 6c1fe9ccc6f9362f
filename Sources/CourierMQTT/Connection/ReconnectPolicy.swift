/// When the client connects again, beside the intervals of the published options.
///
/// ```swift
/// config.reconnect.whenRefused = .stop  // A wrong password is not tried twice.
/// ```
public struct ReconnectPolicy: Hashable, Sendable {
    /// What the client does when each endpoint fails for a reason that lasts until a person corrects something: refused
    /// credentials that the provider does not change, a host name that does not exist, a certificate that is not accepted.
    public enum RefusalResponse: Hashable, Sendable {
        /// The client keeps trying, with growing pauses. The first connection that succeeds ends the trouble.
        case keepTrying

        /// The client waits for the next `connect()`. Messages stay in the queue.
        case stop
    }

    /// How the pauses are spread, so that many clients do not come back at once; half of each pause by default.
    public var jitter = ReconnectJitter.equal

    /// How long a connection must last until the next loss begins with the first interval again; 10 s by default.
    public var stableConnectionTime = Duration.seconds(10)

    /// What follows a refusal that lasts; ``RefusalResponse/keepTrying`` by default. In both cases callers that await the
    /// first connection learn the error at once.
    public var whenRefused = RefusalResponse.keepTrying

    /// A policy with the default values.
    public init() {}
}
