import MQTTCodec

/// Decodes all whole packets in `bytes`, and returns the packets and their size in bytes.
func decodeAll(
    _ bytes: [UInt8], _ decoder: PacketDecoder
) throws(DecodeError) -> (packets: [Packet], consumed: Int) {
    var packets: [Packet] = []
    var offset = 0
    while case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes, at: offset) {
        packets.append(try decoder.packet(frame, in: bytes.span.bytes))
        offset = frame.end
    }
    return (packets, offset)
}

extension Endpoint {
    static let both: [Endpoint] = [.client, .server]
}

/// The bytes of the hexadecimal text `hex`, which may contain white space.
func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// `bytes` as hexadecimal digits.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
