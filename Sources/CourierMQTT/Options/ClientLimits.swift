/// How much a client sends, receives and holds.
///
/// ```swift
/// config.limits.maximumInFlight = 100
/// ```
public struct ClientLimits: Hashable, Sendable {
    /// How many messages the broker may send without an acknowledgement (MQTT 5); 65,535 by default.
    public var receiveMaximum = UInt16.max

    /// How many messages are sent without an acknowledgement; `nil`, the default, is 1,000 where MQTT 5 says that the
    /// broker allows as many, and 20 before MQTT 5, where no broker says and some end a connection that has more.
    public var maximumInFlight: Int?

    /// The size of the largest packet that is read, in bytes; 16 MiB by default.
    public var maximumPacketSize = 16 << 20

    /// How many messages may be kept that no reader wants; 10,000 by default. One for which there is no room is
    /// acknowledged, and `messageReceiveFailure` tells of it.
    public var maximumKeptMessages = 10_000

    /// How many bytes of memory the messages may take that are kept without a message store, 16 MiB by default: topics,
    /// properties, payloads and what is known of each. With a store, whose own limit counts what is in it, reading pauses
    /// while as much is on its way into it.
    public var maximumKeptBytes = 16 << 20

    /// Which texts the client sends; by default those that every common broker accepts, ``TextPolicy/portable``. Any
    /// other topic, client id, user name or property is an error at the call.
    public var textPolicy = TextPolicy.portable

    /// The defaults.
    public init() {}
}
