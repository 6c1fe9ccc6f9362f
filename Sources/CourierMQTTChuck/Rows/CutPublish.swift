import CourierCore
import MQTTCodec

/// The decoded first part of a PUBLISH that was too large to be stored whole.
struct CutPublish {
    let topic: String
    let packetID: UInt16?
    let properties: PacketProperties
    /// The offset of the payload from the first byte of the original packet.
    let payloadOffset: Int

    /// Decodes the stored bytes like a smaller, complete PUBLISH. Returns `nil` if the stored bytes end before the
    /// payload.
    init?(_ raw: RawRow) {
        guard let shortened = ShortenedPacket(raw.bytes) else { return nil }
        let packet = shortened.bytes
        let decoder = PacketDecoder(
            version: raw.connection.codecVersion, sender: raw.direction == .outgoing ? .client : .server,
            limits: PacketDecoder.Limits(maximumPacketSize: PacketEncoder.largestPacketSize))
        let found = packet.withBytes { bytes -> (view: PublishView, publish: Publish)? in
            guard case .frame(let frame)? = try? decoder.nextFrame(in: bytes),
                let view = try? decoder.publish(frame, in: bytes),
                case .publish(let publish)? = try? decoder.packet(frame, in: bytes)
            else { return nil }
            return (view, publish)
        }
        guard let (view, publish) = found else { return nil }
        topic = String(decoding: packet[view.topic], as: UTF8.self)
        properties = publish.properties
        packetID = view.delivery.packetID?.rawValue
        payloadOffset = view.payload.lowerBound - shortened.headerSize + shortened.originalHeaderSize
    }
}
