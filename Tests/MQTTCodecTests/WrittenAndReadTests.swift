import MQTTCodec
import Testing

@Suite
struct WrittenAndReadTests {
    @Test func `SUBSCRIBE and PUBLISH that are encoded into one buffer are decoded in order`() throws {
        let encoder = PacketEncoder(version: .v5, sender: .client)
        var buffer = PacketBuffer()
        let subscription = Subscription("chat/+/notes", qos: .atLeastOnce)
        try encoder.encode(.subscribe(Subscribe(packetID: 1, subscriptions: [subscription])), into: &buffer)
        try encoder.encodePublish(topic: "chat/7/notes", payload: Array("hello".utf8).span.bytes, into: &buffer)

        var packets: [Packet] = []
        let decoder = PacketDecoder(version: .v5, sender: .client)
        try buffer.withBytes { bytes in
            var offset = 0
            while case .frame(let frame) = try decoder.nextFrame(in: bytes, at: offset) {
                packets.append(try decoder.packet(frame, in: bytes))
                offset = frame.end
            }
        }
        #expect(packets.map(\.type) == [.subscribe, .publish])
    }
}
