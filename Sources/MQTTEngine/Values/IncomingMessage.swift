public import MQTTCodec

/// A received message, as offsets into the bytes that were passed to ``ClientEngine/received(_:now:into:_:)``.
///
/// The message is valid until these bytes change. If the bytes contain a topic alias instead of the topic,
/// ``ClientEngine/aliasedTopic(of:)`` returns the topic.
public struct IncomingMessage: Hashable, Sendable {
    /// Identifies one QoS 1 or 2 message that waits for ``ClientEngine/acknowledge(_:_:now:into:_:)``.
    public struct Handle: Hashable, Sendable {
        /// The packet id of the message.
        public let packetID: PacketID
        /// The quality of service of the message.
        public let qos: PacketQoS
        /// A number that distinguishes the message from earlier messages with the same packet id.
        let serial: UInt64
    }

    /// The frame of the packet, from which the decoder reads the properties of the message.
    public let frame: PacketFrame
    /// The topic, payload and flags, as offsets into the bytes.
    public let view: PublishView
    /// The handle to acknowledge the message; `nil` for QoS 0, or if the engine has already acknowledged the message.
    public let handle: Handle?
}
