import TestSupport
import Testing

@testable import MQTTCodec

@Suite
struct RoundTripTests {
    /// Each version and sender runs with two fixed seeds, so that a failure repeats. Failure messages contain the seed.
    static let cases = ProtocolVersion.allCases.flatMap { version in
        Endpoint.both.flatMap { sender in [1, 2].map { (version, sender, UInt64($0)) } }
    }

    @Test(arguments: cases)
    func `a random packet is unchanged after encoding and decoding`(
        version: ProtocolVersion, sender: Endpoint, seed: UInt64
    ) throws {
        var generator = PacketGenerator(version: version, sender: sender, seed: seed)
        for type in generator.types {
            for round in 0..<400 {
                let packet = generator.packet(type)
                let bytes = try encode(packet, version, from: sender)
                let decoded = try decode(bytes, version, from: sender)
                #expect(decoded == packet, "seed \(seed), round \(round), \(hex(bytes.prefix(200)))")
                // Swift compares text by canonical equivalence; the bytes must be the same too.
                let again = try decoded.map { try encode($0, version, from: sender) }
                #expect(again == bytes, "seed \(seed), round \(round)")
            }
        }
    }

    @Test(arguments: cases)
    func `several packets in one buffer are decoded in order`(
        version: ProtocolVersion, sender: Endpoint, seed: UInt64
    ) throws {
        var generator = PacketGenerator(version: version, sender: sender, seed: seed)
        let encoder = PacketEncoder(version: version, sender: sender)
        let decoder = PacketDecoder(version: version, sender: sender)
        var buffer = PacketBuffer()
        let packets = (0..<200).map { _ in generator.packet() }
        for packet in packets { try encoder.encode(packet, into: &buffer) }
        let bytes = buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
        let decoded = try decodeAll(bytes, decoder)
        #expect(decoded.packets == packets, "seed \(seed)")
        #expect(decoded.consumed == bytes.count)
    }

    @Test(arguments: cases)
    func `decoding PUBLISH in place returns the fields of the encoded message`(
        version: ProtocolVersion, sender: Endpoint, seed: UInt64
    ) throws {
        var generator = PacketGenerator(version: version, sender: sender, seed: seed)
        let decoder = PacketDecoder(version: version, sender: sender)
        for _ in 0..<500 {
            let publish = generator.publish()
            // Another packet in front makes sure that the ranges count from the start of the bytes, not of the packet.
            let bytes = try [0xC0, 0x00] + encode(.publish(publish), version, from: sender)
            guard case .frame(let frame) = try decoder.nextFrame(in: bytes.span.bytes, at: 2) else {
                Issue.record("no frame")
                return
            }
            let view = try decoder.publish(frame, in: bytes.span.bytes)
            #expect(Array(bytes[view.topic]) == Array(publish.topic.utf8))
            #expect(Array(bytes[view.payload]) == publish.payload)
            #expect(view.delivery == publish.delivery)
            #expect(view.isRetained == publish.isRetained)
            #expect(view.topicAlias == publish.properties.topicAlias)
            var ids: [PropertyID] = []
            try decoder.forEachProperty(of: frame, in: view.properties, of: bytes.span.bytes) { ids.append($0.id) }
            #expect(ids == publish.properties.list.map(\.id))
        }
    }

    @Test(arguments: PropertyID.allCases)
    func `the description of a property identifier is the name of its case`(id: PropertyID) {
        var generator = PacketGenerator(version: .v5, sender: .client, seed: 1)
        // The cases of `Property` and `PropertyID` have the same names.
        let name = Mirror(reflecting: generator.property(id)).children.first?.label
        #expect(name == "\(id)")
    }
}
