import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTTChuck

/// Recordings as JSON Lines that an earlier version of this library wrote can be read without loss.
@Suite struct OldRecordingTests {
    private static func recording(_ name: String) throws -> Data {
        let fixtures = try #require(Bundle.module.url(forResource: "Fixtures", withExtension: nil))
        return try Data(contentsOf: fixtures.appendingPathComponent("3d93aff").appendingPathComponent(name))
    }

    /// The files contain the packets of ``Recording/everything()``, so a logger that records these packets now is the
    /// expectation.
    @Test(arguments: [(MQTTCodec.ProtocolVersion.v31, "3.1"), (.v311, "3.1.1"), (.v5, "5.0")])
    func `a recording of an old version (commit 3d93aff) gives the same rows and exports as a new recording`(
        version: MQTTCodec.ProtocolVersion, name: String
    ) throws {
        let expected = MQTTChuckLogger.test()
        try Recording(expected, version: version).everything()
        let logger = MQTTChuckLogger.test()
        #expect(try logger.importJSONLines(Self.recording("\(name).jsonl")) == expected.summary.rowCount)
        #expect(logger.rows().rows == expected.rows().rows)
        for row in expected.rows().rows {
            #expect(logger.details(of: row.number) == expected.details(of: row.number), "row \(row.number)")
        }
        #expect(logger.exported(.pcapng) == expected.exported(.pcapng))
        #expect(logger.recordedSessions().map(\.steps) == expected.recordedSessions().map(\.steps))
    }

    @Test func `an imported recording of an old version (commit 3d93aff) has topics and times, but no passwords`()
        throws
    {
        let logger = MQTTChuckLogger.test()
        let recording = try Self.recording("5.0.jsonl")
        try logger.importJSONLines(recording)
        let rows = logger.rows().rows
        #expect(rows.count == 25)
        #expect(rows.first?.connection.clientID == "phone-7")
        #expect(rows.first?.timeNanoseconds == 1_769_860_800_000_000_000)
        #expect(rows.filter { $0.topicAlias == 3 }.map(\.topic) == ["orders/1", "orders/1"])
        #expect(rows.first { $0.type == .pubAck }?.roundTrip == .milliseconds(10))
        #expect(rows.last?.reasons.map(\.code) == [0x8B])
        #expect(!String(decoding: recording, as: UTF8.self).contains("hunter2"))
        #expect(!String(decoding: logger.exported(.text), as: UTF8.self).contains("hunter2"))
    }
}
