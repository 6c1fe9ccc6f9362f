/// The kept first part of a packet. A new fixed header has this shorter length, so that the part can be decoded like a
/// whole packet.
struct ShortenedPacket {
    let bytes: [UInt8]
    /// The size of the new fixed header.
    let headerSize: Int
    /// The size of the fixed header of the original packet.
    let originalHeaderSize: Int

    /// Creates a shortened packet. Returns `nil` if the kept bytes end inside the fixed header.
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
