/// The stored first part of a large packet, with a new fixed header that contains the smaller length. It can thus be
/// decoded like a whole packet.
struct ShortenedPacket {
    let bytes: [UInt8]
    /// The size of the new fixed header in bytes.
    let headerSize: Int
    /// The size of the original fixed header in bytes.
    let originalHeaderSize: Int

    /// Creates a shortened packet from the stored bytes. Returns `nil` if they end inside the fixed header.
    init?(_ kept: ArraySlice<UInt8>) {
        let kept = Array(kept)
        guard let headerEnd = kept.dropFirst().prefix(4).firstIndex(where: { $0 < 0x80 }) else { return nil }
        originalHeaderSize = headerEnd + 1
        let body = kept[originalHeaderSize...]
        var packet = [kept[0]]
        var length = body.count
        repeat {
            packet.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
            length >>= 7
        } while length > 0
        headerSize = packet.count
        bytes = packet + body
    }
}
