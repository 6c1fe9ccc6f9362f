import TestSupport
import Testing

@testable import MQTTCodec

/// The head of a PUBLISH that is larger than the limit, before MQTT 5.
@Suite
struct LargePublishTests {
    private static let limit = 32
    private static let deliveries: [Delivery] = [
        .atMostOnce, .atLeastOnce(0x102, isDuplicate: true), .exactlyOnce(0x3F3F, isDuplicate: false),
    ]

    private static func decoder(_ version: ProtocolVersion) -> PacketDecoder {
        PacketDecoder(version: version, sender: .server, limits: .init(maximumPacketSize: limit))
    }

    private static func head(_ bytes: [UInt8], _ decoder: PacketDecoder) throws(DecodeError) -> PacketDecoder.Next {
        try bytes.span.bytes.withUnsafeBytes { bytes throws(DecodeError) in
            try decoder.headOfLargePublish(in: bytes, at: 0)
        }
    }

    @Test(arguments: [ProtocolVersion.v31, .v311], [16, 200, 20_000, 3_000_000])
    func `for every split of the bytes, the head of a large PUBLISH is found as soon as it is complete`(
        _ version: ProtocolVersion, _ payloadSize: Int
    ) throws {
        for delivery in Self.deliveries {
            let publish = Publish(
                topic: "room/7", payload: [UInt8](repeating: 0x3F, count: payloadSize), delivery: delivery,
                isRetained: true)
            let bytes = try encode(.publish(publish), version, from: .server)
            let headSize = bytes.count - payloadSize
            let decoder = Self.decoder(version)
            guard bytes.count > Self.limit else { continue }
            for count in 0..<headSize {
                guard case .needsMore(let missing) = try Self.head(Array(bytes[..<count]), decoder) else {
                    Issue.record("a head in \(count) of \(headSize) bytes")
                    continue
                }
                #expect(missing >= 1 && count + missing <= headSize)
            }
            for count in [headSize, headSize + 1, bytes.count] {
                let start = Array(bytes[..<count])
                guard case .frame(let frame) = try Self.head(start, decoder) else {
                    Issue.record("no head in \(count) bytes")
                    continue
                }
                #expect(frame.end == headSize)
                let view = try decoder.publish(frame, in: start.span.bytes)
                #expect(Array(start[view.topic]) == Array("room/7".utf8))
                #expect(view.delivery == delivery && view.isRetained && view.payload.isEmpty)
            }
        }
    }

    @Test func `a PUBLISH whose head exceeds the limit is refused as soon as the topic length is known`() throws {
        for delivery in Self.deliveries {
            let idSize = delivery.packetID == nil ? 0 : 2
            for topicSize in [Self.limit - 4 - idSize, Self.limit - 3 - idSize, 65_535] {
                let publish = Publish(
                    topic: String(repeating: "t", count: topicSize), payload: [UInt8](repeating: 1, count: 40),
                    delivery: delivery)
                let bytes = try encode(.publish(publish), .v311, from: .server)
                let decoder = Self.decoder(.v311)
                let headSize = bytes.count - 40
                guard headSize > Self.limit else {
                    guard case .frame = try Self.head(bytes, decoder) else {
                        Issue.record("no head of \(headSize) bytes")
                        continue
                    }
                    continue
                }
                let topicStart = headSize - topicSize - idSize
                for count in [topicStart, bytes.count] {
                    #expect(
                        throws: DecodeError(
                            .packetTooLarge(size: bytes.count, limit: Self.limit), in: .publish, .remainingLength,
                            at: 1)
                    ) {
                        try Self.head(Array(bytes[..<count]), decoder)
                    }
                }
            }
        }
    }
}
