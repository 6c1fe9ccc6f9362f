import CourierCore
import CourierMQTTChuck
import MQTTCodec
import Testing

@testable import CourierCommands

struct PacketLineTests {
    @Test(arguments: [
        (0, ".000"), (1_700_000_000_123_999_999, ".123"), (1_700_000_000_999_999_999, ".999"), (-1, ".999"),
        (-1_000_000_000, ".000"),
    ])
    func `a packet's time is cut to milliseconds, not rounded`(nanoseconds: Int64, fraction: String) {
        let time = PacketLine.time(nanoseconds, hasFraction: true)
        let seconds = Int(nanoseconds >= 0 ? nanoseconds / 1_000_000_000 : -1)
        #expect(time == WallTime(seconds: seconds, nanoseconds: 0).text("%H:%M:%S") + fraction)
        #expect(PacketLine.time(nanoseconds, hasFraction: false) + fraction == time)
    }

    @Test func `a packet line formats only as many filters and reason codes as fit into its width`() throws {
        let packets = RecordedPackets()
        let id = try #require(PacketID(rawValue: 1))
        let filters = (0..<4_000).map { "meters/\($0)" }
        try packets.observe(
            .outgoing,
            .subscribe(Subscribe(packetID: id, subscriptions: filters.map { Subscription($0, qos: .atMostOnce) })))
        try packets.observe(
            .incoming, .subAck(SubAck(packetID: id, reasonCodes: filters.map { _ in .notAuthorized })))
        let rows = packets.logger.rows().rows
        try #require(rows.count == 2 && rows[1].reasons.count == filters.count)
        let topic = try #require(rows[0].topic)
        let whole = ThreadTime.spent { _ = GlyphText(topic) }
        let line = ThreadTime.spent { _ = PacketLine(rows[0], width: 80) }
        #expect(line < whole / 4, "\(line), \(whole)")
        #expect(PacketLine(rows[0], width: 80).line.parts.contains { $0.text.string.hasSuffix("…") })
        #expect(PacketLine(rows[1], width: 80).line.parts.count < 100)
    }
}
