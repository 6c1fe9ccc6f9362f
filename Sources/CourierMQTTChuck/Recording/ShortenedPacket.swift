/// The kept beginning of a packet with a fixed header that says how much of it there is, so that it can be read like a
/// whole one.
struct ShortenedPacket {
    let bytes: [UInt8]
    /// The size of its fixed header.
    let headerSize: Int
    /// The size of the fixed header of the packet that it is the beginning of.
    let originalHeaderSize: Int

    /// Shortens a packet; `nil` when not even its fixed header was kept.
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
