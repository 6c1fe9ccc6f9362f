public import MQTTCodec

/// Many messages from a ``ScriptedBroker``, sent as fast as possible.
///
/// ```swift
/// .flood(PublishFlood(count: 100_000, qos: .atLeastOnce, exceedsReceiveMaximum: true))
/// ```
///
/// Each payload starts with the message's number as eight big-endian bytes; the first message has the number 0. A
/// payload of less than eight bytes contains only the first of these bytes.
public struct PublishFlood: Hashable, Sendable {
    /// The number of messages.
    public var count: Int

    /// The topic name of all messages; `flood` by default.
    public var topic = "flood"

    /// The size of each payload in bytes; 64 by default.
    public var payloadSize = 64

    /// The quality of service; QoS 0 by default.
    public var qos = PacketQoS.atMostOnce

    /// Whether the flood ignores the client's receive maximum for QoS 1 and 2; `false` by default, so that the flood
    /// waits for acknowledgements. The flood reuses a packet id that is still in flight only when all 65,535 ids are in
    /// flight.
    public var exceedsReceiveMaximum = false

    /// Makes a flood.
    ///
    /// - Parameters:
    ///   - count: How many messages.
    ///   - topic: The topic name of all messages.
    ///   - payloadSize: The size of each payload in bytes.
    ///   - qos: The quality of service.
    ///   - exceedsReceiveMaximum: Whether the client's receive maximum is ignored.
    public init(
        count: Int, topic: String = "flood", payloadSize: Int = 64, qos: PacketQoS = .atMostOnce,
        exceedsReceiveMaximum: Bool = false
    ) {
        self.count = count
        self.topic = topic
        self.payloadSize = payloadSize
        self.qos = qos
        self.exceedsReceiveMaximum = exceedsReceiveMaximum
    }

    /// The payload of message `number`.
    func payload(_ number: Int) -> [UInt8] {
        var payload = [UInt8](repeating: 0, count: max(0, payloadSize))
        for index in 0..<min(8, payload.count) {
            payload[index] = UInt8(truncatingIfNeeded: number >> (8 * (7 - index)))
        }
        return payload
    }
}
