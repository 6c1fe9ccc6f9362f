import TestSupport
import Testing

@testable import MQTTCodec

/// Encoding a PUBLISH from parts that are already bytes.
@Suite
struct EncodedPartsTests {
    @Test(arguments: [ProtocolVersion.v311, .v5], [1, 2, 3] as [UInt64])
    func `encodePublish() with pre-encoded properties writes the same bytes as encoding a Publish value`(
        version: ProtocolVersion, seed: UInt64
    )
        throws
    {
        var generator = PacketGenerator(version: version, sender: .client, seed: seed)
        for round in 0..<500 {
            var publish = generator.publish()
            let expiry = publish.properties.messageExpiryInterval
            let alias = publish.properties.topicAlias
            publish.properties.list.removeAll { $0.id == .messageExpiryInterval || $0.id == .topicAlias }
            let encoder = PacketEncoder(version: version, sender: .client)
            var properties = PacketBuffer()
            try encoder.encodePublishProperties(publish.properties, hasExpiry: expiry != nil, into: &properties)
            var buffer = PacketBuffer()
            try properties.withBytes { encoded throws(EncodeError) in
                try encoder.encodePublish(
                    topic: publish.topic.utf8Span.span.bytes, payload: publish.payload.span.bytes,
                    delivery: publish.delivery, isRetained: publish.isRetained, encodedProperties: encoded,
                    messageExpiry: expiry, topicAlias: alias, into: &buffer)
            }
            if let expiry { publish.properties.append(.messageExpiryInterval(expiry)) }
            if let alias { publish.properties.append(.topicAlias(alias)) }
            let whole = try encode(.publish(publish), version, from: .client)
            #expect(buffer.withBytes { $0.withUnsafeBytes { Array($0) } } == whole, "seed \(seed), round \(round)")
        }
    }

    @Test func `encoding an invalid PUBLISH throws and leaves the buffer empty`() throws {
        func violation(
            _ topic: String, _ version: ProtocolVersion = .v5, properties: [UInt8] = [], limit: Int = 1_000_000
        ) -> Violation? {
            var buffer = PacketBuffer()
            let encoder = PacketEncoder(version: version, sender: .client, maximumPacketSize: limit)
            do throws(EncodeError) {
                try encoder.encodePublish(
                    topic: topic.utf8Span.span.bytes, payload: [UInt8](repeating: 0, count: 100).span.bytes,
                    encodedProperties: properties.span.bytes, into: &buffer)
                return nil
            } catch {
                let written = buffer.count
                #expect(written == 0)
                return error.violation
            }
        }
        #expect(violation("a/#") == .wildcardInTopicName)
        #expect(violation("") == .emptyTopicWithoutAlias)
        #expect(violation("", .v311) == .emptyTopic)
        #expect(violation(String(repeating: "a", count: 70_000)) == .fieldTooLong(70_000))
        #expect(violation("a", limit: 50) == .packetTooLarge(size: 106, limit: 50))
        #expect(violation("a", .v311, properties: [1, 1]) == .notInThisVersion)
        #expect(violation("a", properties: [1, 1]) == nil)
    }

    @Test func `encodePublishProperties() throws duplicateProperty for repeated or reserved properties`() {
        let encoder = PacketEncoder(version: .v5, sender: .client)
        var buffer = PacketBuffer()
        let twice: [(PacketProperties, Bool, PropertyID)] = [
            ([.contentType("a"), .topicAlias(3)], false, .topicAlias),
            ([.messageExpiryInterval(3)], true, .messageExpiryInterval),
            ([.contentType("a"), .contentType("b")], false, .contentType),
        ]
        for (properties, hasExpiry, id) in twice {
            do throws(EncodeError) {
                try encoder.encodePublishProperties(properties, hasExpiry: hasExpiry, into: &buffer)
                Issue.record("\(properties) was written")
            } catch {
                #expect(error.violation == .duplicateProperty(id))
            }
            let written = buffer.count
            #expect(written == 0)
        }
    }

    @Test func `encoding an invalid content type or user property throws and adds no bytes to the buffer`() throws {
        let encoder = PacketEncoder(version: .v5, sender: .client)
        var buffer = PacketBuffer()
        try encoder.encodeUserProperty("name", "value", into: &buffer)
        try encoder.encodeContentType("text/plain", into: &buffer)
        let count = buffer.count
        for type in ["a\0", String(repeating: "a", count: 65_536)] {
            #expect(throws: EncodeError.self) { try encoder.encodeContentType(type, into: &buffer) }
            let left = buffer.count
            #expect(left == count)
        }
        for (name, value) in [("a\0", "b"), ("a", "b\0"), (String(repeating: "a", count: 65_536), "b")] {
            #expect(throws: EncodeError.self) { try encoder.encodeUserProperty(name, value, into: &buffer) }
            let left = buffer.count
            #expect(left == count)
        }
    }
}
