/// All there is to know of one packet.
public struct MQTTChuckDetails: Hashable, Sendable {
    /// The row, with its preview in full length.
    public let row: MQTTChuckRow

    /// What the packet does, for somebody who does not know the names of MQTT.
    public let explanation: String

    /// The decoded fields in their order on the wire. Those of CONNECT begin with host, port, scheme and ALPN.
    public let fields: [MQTTChuckField]

    /// The packet as it is kept: secrets overwritten, and cut where it is too large.
    public let bytes: [UInt8]

    /// Where the payload is in ``bytes``; empty for packets other than PUBLISH.
    public let payload: Range<Int>

    /// All packets of the exchange that are still kept, in order; at most 1,000. Empty for a packet of no exchange.
    public let exchange: [MQTTChuckRow]

    /// ``bytes`` in lines of sixteen, with offsets and ASCII.
    public var hexDump: String { Hex.dump(bytes) }

    /// Some of ``bytes`` in the same way, in lines of so many; their offsets begin at 0.
    package func hexDump(of range: Range<Int>, perLine count: Int) -> String {
        Hex.dump(bytes[range.clamped(to: bytes.indices)], perLine: max(1, count))
    }
}
