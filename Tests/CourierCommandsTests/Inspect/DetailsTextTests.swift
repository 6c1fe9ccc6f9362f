import CourierMQTTChuck
import MQTTCodec
import Testing

@testable import CourierCommands

struct DetailsTextTests {
    @Test func `only the visible part of a large packet is converted to hex`() throws {
        let packets = RecordedPackets(packetMaxSize: 2 << 20)
        try packets.receive("a", String(repeating: "\u{1}", count: 1 << 20))
        let details = try #require(packets.logger.details(of: packets.logger.summary.firstRow))
        try #require(details.bytes.count > 1 << 20)
        let all = ThreadTime.spent { _ = details.hexDump }
        let shown = ThreadTime.spent { _ = DetailsText(details, .hex, width: 80) }
        #expect(shown < all / 2, "\(shown), \(all)")
    }
}
