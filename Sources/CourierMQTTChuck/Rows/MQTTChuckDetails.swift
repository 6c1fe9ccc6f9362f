/// Everything that the logger knows about one packet.
public struct MQTTChuckDetails: Hashable, Sendable {
    /// The row of the packet, with a full-length preview.
    public let row: MQTTChuckRow

    /// A sentence that says what the packet does, for readers who do not know the packet types of MQTT.
    public let explanation: String

    /// The decoded fields in wire order. For CONNECT, the first fields are host, port, scheme and ALPN.
    public let fields: [MQTTChuckField]

    /// The bytes of the packet as the logger stores them. Secrets are overwritten, and a large packet is cut.
    public let bytes: [UInt8]

    /// The position of the payload in ``bytes``; empty for packets other than PUBLISH.
    public let payload: Range<Int>

    /// All packets of the exchange that the logger still holds, oldest first; at most 1,000. It is empty if the packet
    /// belongs to no exchange.
    public let exchange: [MQTTChuckRow]

    /// A hex dump of ``bytes`` with sixteen bytes per line, offsets and ASCII.
    public var hexDump: String { Hex.dump(bytes) }

    /// Returns a hex dump of a part of ``bytes``, with `count` bytes per line. The first line has offset 0.
    package func hexDump(of range: Range<Int>, perLine count: Int) -> String {
        Hex.dump(bytes[range.clamped(to: bytes.indices)], perLine: max(1, count))
    }
}
