import CourierCore
import Foundation
import TestSupport
import Testing

@testable import CourierSQLite

@Suite struct PropertiesCodecTests {
    private static let full = MessageProperties(
        contentType: "text/\u{1F69A}", payloadFormat: .utf8, responseTopic: "", correlationData: Data([0, 255]),
        messageExpiry: .milliseconds(-1_500), userProperties: [.init("b", ""), .init("a", "1"), .init("b", "2")])

    @Test func `encoded properties decode to the same properties`() {
        let all = [
            Self.full, MessageProperties(contentType: ""), MessageProperties(payloadFormat: .utf8),
            MessageProperties(correlationData: Data()), MessageProperties(messageExpiry: .zero),
            MessageProperties(messageExpiry: .seconds(Int64(UInt32.max))),
            MessageProperties(userProperties: [.init("", "")]),
        ]
        for properties in all {
            #expect(PropertiesCodec.encode(properties).flatMap { PropertiesCodec.decode($0) } == properties)
        }
        #expect(PropertiesCodec.encode(MessageProperties()) == nil)
    }

    @Test func `decode() of PropertiesCodec returns nil if a field is truncated or the version is unknown`() throws {
        let bytes = try #require(PropertiesCodec.encode(Self.full))
        // Bytes that are cut between two fields are valid: they contain fewer fields.
        let whole = (1..<bytes.count).filter { PropertiesCodec.decode(Array(bytes.prefix($0))) != nil }
        #expect(whole.count == 8)
        #expect(PropertiesCodec.decode([]) == nil)
        #expect(PropertiesCodec.decode([2] + bytes.dropFirst()) == nil)
        #expect(PropertiesCodec.decode([1, 9]) == nil)
        #expect(PropertiesCodec.decode([1, 1, 255, 255, 255, 255]) == nil)
        #expect(PropertiesCodec.decode([1, 1, 0, 0, 0, 1, 0xFF]) == nil)
    }

    @Test func `decoding randomly changed properties does not crash`() throws {
        var random = SeededGenerator(seed: 3)
        let bytes = try #require(PropertiesCodec.encode(Self.full))
        var (read, refused) = (0, 0)
        for _ in 0..<20_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if PropertiesCodec.decode(changed) == nil { refused += 1 } else { read += 1 }
        }
        #expect(read > 0 && refused > 0)
    }
}
