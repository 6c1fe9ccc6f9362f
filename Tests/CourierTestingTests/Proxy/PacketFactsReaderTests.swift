import MQTTCodec
import TestSupport
import Testing

@testable import CourierTesting

@Suite struct `Packet facts reader` {
    private func bytes(_ packet: Packet, _ version: ProtocolVersion = .v5) throws -> [UInt8] {
        var buffer = PacketBuffer()
        try PacketEncoder(version: version, sender: .client).encode(packet, into: &buffer)
        return buffer.withBytes { $0.withUnsafeBytes { Array($0) } }
    }

    private func publish(_ topic: String, alias: UInt16? = nil) throws -> [UInt8] {
        var publish = Publish(topic: topic, payload: [1])
        if let alias { publish.properties.append(.topicAlias(alias)) }
        return try bytes(.publish(publish))
    }

    private func reader() -> PacketFactsReader {
        var reader = PacketFactsReader(sender: .client)
        reader.version = .v5
        return reader
    }

    @Test func `the reader replaces the topic alias of a PUBLISH by its topic`() throws {
        var reader = reader()
        #expect(reader.facts(.publish, try publish("a", alias: 1), isWhole: true).topics == ["a"])
        #expect(reader.facts(.publish, try publish("", alias: 1), isWhole: true).topics == ["a"])
        #expect(reader.facts(.publish, try publish("b", alias: 1), isWhole: true).topics == ["b"])
        #expect(reader.facts(.publish, try publish("", alias: 1), isWhole: true).topics == ["b"])
        #expect(reader.facts(.publish, try publish("", alias: 2), isWhole: true).topics == [])
    }

    @Test func `if there are more topic aliases than the limit, the topics of further aliases are not stored`() throws {
        var reader = reader()
        let long = String(repeating: "x", count: 60_000)
        for alias in 1...20 as ClosedRange<UInt16> {
            #expect(reader.facts(.publish, try publish(long, alias: alias), isWhole: true).topics == [long])
        }
        #expect(reader.facts(.publish, try publish("", alias: 1), isWhole: true).topics == [long])
        #expect(reader.facts(.publish, try publish("", alias: 20), isWhole: true).topics == [])
    }

    @Test func `the topics of SUBSCRIBE and UNSUBSCRIBE are their filters without the share group`() throws {
        var reader = reader()
        let subscribe = Subscribe(
            packetID: 1,
            subscriptions: [Subscription("$share/g/a/#", qos: .atMostOnce), Subscription("b", qos: .atMostOnce)])
        #expect(reader.facts(.subscribe, try bytes(.subscribe(subscribe)), isWhole: true).topics == ["a/#", "b"])
        let unsubscribe = Unsubscribe(packetID: 1, filters: ["a/+"])
        #expect(reader.facts(.unsubscribe, try bytes(.unsubscribe(unsubscribe)), isWhole: true).topics == ["a/+"])
    }

    @Test func `the topic of a large PUBLISH is found in the first bytes of the packet`() throws {
        var reader = reader()
        let whole = try bytes(.publish(Publish(topic: "large/ü", payload: [UInt8](repeating: 0, count: 70_000))))
        #expect(reader.facts(.publish, Array(whole.prefix(50)), isWhole: false).topics == ["large/ü"])
    }

    @Test func `a packet of any length that cannot be decoded is described by its type and no topics`() throws {
        var random = SeededGenerator(seed: 5)
        var reader = reader()
        for size in 0..<60 {
            for isWhole in [true, false] {
                let bytes = [0x30, UInt8(size)] + (0..<size).map { _ in UInt8.random(in: 0x80...0xFF, using: &random) }
                #expect(reader.facts(.publish, bytes, isWhole: isWhole) == PacketFacts(sender: .client, type: .publish))
            }
        }
    }

    @Test(arguments: [(3, .v31), (4, .v311), (5, .v5), (0x84, .v311), (6, nil)] as [(UInt8, ProtocolVersion?)])
    func `the MQTT version is found in a CONNECT that is incomplete or cannot be decoded`(
        _ level: UInt8, _ version: ProtocolVersion?
    ) {
        // The flags have the reserved bit, and the packet ends after the keep-alive.
        let beginning: [UInt8] = [0x10, 0xFF, 0xFF, 0x7F, 0, 4, 77, 81, 84, 84, level, 0x03, 0, 60]
        #expect(PacketFactsReader.version(ofConnect: beginning) == version)
        for count in 0...10 { #expect(PacketFactsReader.version(ofConnect: Array(beginning.prefix(count))) == nil) }
    }
}
