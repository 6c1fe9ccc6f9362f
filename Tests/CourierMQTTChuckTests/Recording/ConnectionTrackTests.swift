import CourierCore
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTTChuck

@Suite struct ConnectionTrackTests {
    /// One random packet in two encodings: a plain one, and one that only the slow parser can read.
    private struct Piece {
        let plain: [UInt8]
        let elaborate: [UInt8]
    }

    /// The compared values of a row. The size is not compared, because the two encodings differ in size.
    private struct Seen: Equatable {
        let type: PacketType?
        let exchange: UInt64?
        let roundTrip: Duration?
        let topic: String?
    }

    private static func publish(_ random: inout SeededGenerator, _ id: UInt8) -> Piece {
        let qos = UInt8(random.below(3))
        let isDuplicate: UInt8 = qos > 0 && random.chance(1, in: 8) ? 0b1000 : 0
        let head = 0x30 | isDuplicate | qos << 1
        let beginning = [0, 1, UInt8(ascii: "a")] + (qos > 0 ? [0, id] : [])
        // Without properties, and with a payload format indicator that has the default value.
        let (plain, elaborate) = (beginning + [0, 120], beginning + [2, 1, 0, 120])
        return Piece(
            plain: [head, UInt8(plain.count)] + plain, elaborate: [head, UInt8(elaborate.count)] + elaborate)
    }

    private static func answer(_ random: inout SeededGenerator, _ id: UInt8) -> Piece {
        let first: UInt8 = random.pick([0x40, 0x40, 0x50, 0x62, 0x70])
        // The reason code 0 can be sent or omitted.
        return Piece(plain: [first, 2, 0, id], elaborate: [first, 3, 0, id, 0])
    }

    private static func rows(_ logger: MQTTChuckLogger) -> [Seen] {
        logger.rows(limit: 10_000).rows.map {
            Seen(type: $0.type, exchange: $0.exchange, roundTrip: $0.roundTrip, topic: $0.topic)
        }
    }

    @Test(arguments: [UInt64(1), 2, 3, 4, 5])
    func `several packets in one read give the same rows and metrics as packets that are read one by one`(seed: UInt64)
        throws
    {
        var random = SeededGenerator(seed: seed)
        let (fast, slow) = (MQTTChuckLogger.test(), MQTTChuckLogger.test())
        let (fastRecording, slowRecording) = (Recording(fast), Recording(slow))
        for read in 0..<200 {
            let direction = random.pick([PacketBatch.Direction.incoming, .outgoing])
            var (plain, next) = ([UInt8](), UInt8(1 + random.below(40)))
            for _ in 0...random.below(12) {
                // Most packet ids are in order, as in real traffic; others are random.
                next = random.chance(3, in: 4) ? next % 40 + 1 : UInt8(1 + random.below(40))
                let piece = random.flag() ? Self.publish(&random, next) : Self.answer(&random, next)
                plain += piece.plain
                slowRecording.observe(direction, bytes: piece.elaborate, at: read)
            }
            fastRecording.observe(direction, bytes: plain, at: read)
        }
        #expect(Self.rows(fast) == Self.rows(slow))
        let (metrics, others) = (fast.metrics, slow.metrics)
        #expect(metrics.inFlightOutgoing == others.inFlightOutgoing)
        #expect(metrics.inFlightIncoming == others.inFlightIncoming)
        #expect(metrics.latencies.map(\.counts) == others.latencies.map(\.counts))
        #expect(metrics.latencies.map(\.sum) == others.latencies.map(\.sum))
        #expect(metrics.traffic.map(\.packets) == others.traffic.map(\.packets))
    }
}
