import CourierCore
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTTChuck

@Suite struct MQTTChuckHostileTests {
    /// Reads all rows, details, searches, exports and metrics of a logger.
    private func look(at logger: MQTTChuckLogger) throws {
        let rows = logger.rows(limit: .max).rows
        for row in rows {
            let details = try #require(logger.details(of: row.number))
            #expect(details.payload.upperBound <= details.bytes.count)
        }
        for text in ["errors", "topic:#", "qos:>0", "id:1", "x", "reason:0", "took:>1ms"] {
            _ = logger.rows(matching: try MQTTChuckQuery(text), limit: .max)
        }
        for format in MQTTChuckExportFormat.allCases { _ = logger.exported(format) }
        _ = (logger.metrics.prometheusText, logger.recordedSessions(), logger.connections)
        #expect(logger.rows(limit: .max).rows.map(\.number) == rows.map(\.number))
    }

    @Test(arguments: [MQTTCodec.ProtocolVersion.v31, .v311, .v5])
    func `a recorded packet that is cut at any byte can be read and exported`(version: MQTTCodec.ProtocolVersion) throws
    {
        let whole = MQTTChuckLogger.test()
        try Recording(whole, version: version).everything()
        let packets = try whole.rows().rows.map { try #require(whole.details(of: $0.number)) }
        for packet in packets {
            for cut in stride(from: 0, to: packet.bytes.count, by: max(1, packet.bytes.count / 20)) {
                let logger = MQTTChuckLogger.test()
                let recording = Recording(logger, version: version)
                recording.observe(packet.row.direction, bytes: [0xC0, 0] + packet.bytes.prefix(cut))
                #expect(logger.summary.rowCount == (cut == 0 ? 1 : 2))
                try look(at: logger)
            }
        }
    }

    @Test(arguments: 0..<40)
    func `a logger survives random and altered bytes, and its export can be imported again`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var options = MQTTChuckOptions()
        options.packetMaxSize = seed % 2 == 0 ? 40 : 64 * 1024
        if seed % 3 == 0 { options.redaction.topics = [.init(try TopicFilter("orders/#"), hidesTopic: true)] }
        let whole = MQTTChuckLogger.test()
        let version = MQTTCodec.ProtocolVersion.allCases[Int(seed % 3)]
        try Recording(whole, version: version).everything()
        let packets = try whole.rows().rows.map { try #require(whole.details(of: $0.number)) }
        let logger = MQTTChuckLogger.test(options)
        let recording = Recording(logger, version: version)
        for _ in 0..<60 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                guard let packet = packets.randomElement(using: &random) else { continue }
                bytes += packet.bytes
            }
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            if Int.random(in: 0...4, using: &random) == 0 {
                bytes = (0..<Int.random(in: 1...50, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            }
            recording.observe(
                Bool.random(using: &random) ? .outgoing : .incoming, bytes: bytes,
                at: Int.random(in: -9...9, using: &random))
        }
        try look(at: logger)
        // The imported copy equals the original, except a PUBLISH that was cut within its properties. Its bytes are
        // overwritten, because they cannot be searched for secrets. A second import changes nothing.
        let copy = MQTTChuckLogger.test(options)
        try copy.importJSONLines(logger.exported(.jsonLines))
        let again = MQTTChuckLogger.test(options)
        try again.importJSONLines(copy.exported(.jsonLines))
        let lines = [logger, copy, again].map { $0.exported(.jsonLines) }
        if seed % 2 == 1 || version < .v5 { #expect(lines[1] == lines[0], "seed \(seed)") }
        #expect(lines[2] == lines[1], "seed \(seed)")
        try look(at: copy)
    }

    @Test func `a logger accepts connection and packet times in the extreme past and future`() throws {
        let logger = MQTTChuckLogger.test()
        for (id, date) in [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: .infinity)].enumerated() {
            let connection = ObservedConnection(
                id: UInt64(id + 1),
                options: ConnectOptions(host: "h", port: 1, clientId: "c\(id)", username: "", password: ""),
                protocolVersion: .v5, openedAt: date, openedInstant: .now)
            logger.observed(PacketBatch(direction: .incoming, bytes: [0xD0, 0], time: .now, connection: connection))
            logger.observed(
                PacketBatch(
                    direction: .incoming, bytes: [], time: .now + .seconds(Int64.max / 2), connection: connection))
        }
        _ = logger.exported(.text)
        _ = logger.exported(.pcapng)
        #expect(logger.metrics.total(.incoming).packets == 3)
    }

    @Test func `the history of topic aliases stays within its memory limit`() throws {
        var history = AliasHistory()
        for row in UInt64(0)..<20_000 {
            let topic = [UInt8](repeating: 0x61, count: 500) + Array("\(row)".utf8)
            history.define(
                UInt16(row % 70), AliasHistory.Meaning(row: row, bytes: topic, isHidden: false), oldestRow: 0)
            #expect(history.meaning(of: UInt16(row % 70), at: row)?.bytes == topic)
        }
        #expect(history.cost <= AliasHistory.limit)
    }
}
