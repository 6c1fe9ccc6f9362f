import MQTTCodec

/// Encodes and decodes packets.
enum Wire {
    static func encoded(_ packet: Packet, _ version: ProtocolVersion, _ sender: Endpoint) -> [UInt8] {
        var buffer = PacketBuffer()
        do {
            try PacketEncoder(version: version, sender: sender).encode(packet, into: &buffer)
        } catch {
            fatalError("the model wrote a wrong packet: \(error)")
        }
        return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
    }

    static func next(
        _ bytes: inout [UInt8], _ decoder: PacketDecoder, _ budget: inout Int
    ) throws(Broken) -> Packet? {
        do throws(DecodeError) {
            guard case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes) else { return nil }
            let packet = try decoder.packet(frame, in: bytes.span.bytes)
            bytes.removeFirst(frame.byteCount)
            budget -= frame.byteCount
            return packet
        } catch {
            throw Broken("the engine wrote a wrong packet: \(error)")
        }
    }
}
