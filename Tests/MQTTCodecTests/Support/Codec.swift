import MQTTCodec

/// Encodes `packet` alone.
func encode(
    _ packet: Packet, _ version: ProtocolVersion, from sender: Endpoint
) throws(EncodeError) -> [UInt8] {
    var buffer = PacketBuffer()
    try PacketEncoder(version: version, sender: sender).encode(packet, into: &buffer)
    return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
}

/// Decodes the one packet that `bytes` consist of, or `nil` when more bytes are needed.
func decode(
    _ bytes: [UInt8], _ version: ProtocolVersion, from sender: Endpoint,
    limits: PacketDecoder.Limits = PacketDecoder.Limits()
) throws(DecodeError) -> Packet? {
    let decoder = PacketDecoder(version: version, sender: sender, limits: limits)
    guard case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes) else { return nil }
    return try decoder.packet(frame, in: bytes.span.bytes)
}

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
