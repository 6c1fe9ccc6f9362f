/// The header of a message and the sizes of its three parts.
///
/// All parts together take less than 2 GiB, so that their sum fits into an `Int` of 32 bits.
package struct MessageRecord: BitwiseCopyable, Sendable {
    /// The message's values, such as QoS, token and expiry; all values except topic, properties and payload.
    package internal(set) var header: OutgoingHeader
    private let counts: (properties: UInt32, topic: UInt32, payload: UInt32)

    /// The maximum length of a part, 512 MiB. A longer part is cut. This does not affect valid messages: 512 MiB is
    /// nearly twice the maximum packet size, and the encoder refuses a larger packet.
    static var largestPart: Int { 1 << 29 }

    init(header: OutgoingHeader, propertiesCount: Int, topicCount: Int, payloadCount: Int) {
        self.header = header
        counts = (
            UInt32(min(propertiesCount, Self.largestPart)), UInt32(min(topicCount, Self.largestPart)),
            UInt32(min(payloadCount, Self.largestPart))
        )
    }

    /// The number of bytes of the encoded properties.
    @inline(__always) package var propertiesCount: Int { Int(counts.properties) }
    /// The number of bytes of the topic in UTF-8.
    @inline(__always) package var topicCount: Int { Int(counts.topic) }
    /// The number of bytes of the payload.
    @inline(__always) package var payloadCount: Int { Int(counts.payload) }

    /// The number of bytes of the three parts together.
    @inline(__always) package var byteCount: Int { propertiesCount &+ topicCount &+ payloadCount }
}
