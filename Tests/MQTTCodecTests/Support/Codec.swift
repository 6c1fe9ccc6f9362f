import MQTTCodec

/// Decodes all whole packets in `bytes`, and says how many bytes they take.
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

/// The bytes that `hex` writes, with or without white space between them.
func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// `bytes` as hexadecimal digits.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
