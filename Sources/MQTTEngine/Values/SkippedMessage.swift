public import MQTTCodec

/// A message whose payload the engine discarded, because the packet was larger than
/// ``EngineConfiguration/maximumPacketSize``.
public struct SkippedMessage: Hashable, Sendable {
    /// The topic name in UTF-8.
    public let topic: [UInt8]
    /// The QoS. A message of QoS 1 or 2 was acknowledged like a received message.
    public let qos: PacketQoS
    /// The size of the whole packet in bytes.
    public let packetSize: Int
    /// The size of the discarded payload in bytes.
    public let payloadSize: Int
}
