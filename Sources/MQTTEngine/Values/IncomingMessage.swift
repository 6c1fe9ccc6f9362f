public import MQTTCodec

/// A message that has arrived, where it stands in the bytes that were given to ``ClientEngine/received(_:now:into:_:)``.
///
/// It is valid until those bytes change. The topic may stand there too, or be known by an alias:
/// ``ClientEngine/aliasedTopic(of:)`` finds it then.
public struct IncomingMessage: Hashable, Sendable {
    /// Names one QoS 1 or 2 message that waits for ``ClientEngine/acknowledge(_:_:now:into:_:)``.
    public struct Handle: Hashable, Sendable {
        /// The packet id of the message.
        public let packetID: PacketID
        /// Its quality of service.
        public let qos: PacketQoS
        /// Tells the message from others that used the same packet id before.
        let serial: UInt64
    }

    /// The frame that holds it, with which the decoder finds its properties.
    public let frame: PacketFrame
    /// Topic, payload and flags as offsets into the bytes.
    public let view: PublishView
    /// What to acknowledge it with; `nil` when there is nothing to acknowledge, or the engine has done so already.
    public let handle: Handle?
}
