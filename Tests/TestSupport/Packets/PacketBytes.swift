package import MQTTCodec

/// Returns the encoded bytes of `packet`.
package func encode(
    _ packet: Packet, _ version: ProtocolVersion, from sender: Endpoint
) throws(EncodeError) -> [UInt8] {
    var buffer = PacketBuffer()
    try PacketEncoder(version: version, sender: sender).encode(packet, into: &buffer)
    return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
}

/// Decodes the first packet in `bytes`, or returns `nil` if it is incomplete.
package func decode(
    _ bytes: [UInt8], _ version: ProtocolVersion, from sender: Endpoint,
    limits: PacketDecoder.Limits = PacketDecoder.Limits()
) throws(DecodeError) -> Packet? {
    let decoder = PacketDecoder(version: version, sender: sender, limits: limits)
    guard case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes) else { return nil }
    return try decoder.packet(frame, in: bytes.span.bytes)
}
