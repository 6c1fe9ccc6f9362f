import CourierCore
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTTChuck

@Suite(.timeLimit(.minutes(5))) struct PacketRestoringTests {
    private static let largest = PacketRestoring.largestNumber

    private let logger = MQTTChuckLogger.test()
    private var live: Recording { Recording(logger, id: 7, client: "live") }

    /// The connection of the recording.
    private static let recorded = connection("recorded")

    private static func connection(_ clientID: String) -> MQTTChuckConnection {
        MQTTChuckConnection(
            id: 1, ordinal: 1, clientID: clientID, host: "h", port: 1, scheme: nil, alpn: [], protocolVersion: .v5,
            openedNanoseconds: 0)
    }

    /// A PINGRESP with this row number. It is linked to the exchange that began at row `start`.
    private static func record(
        _ number: UInt64, start: UInt64? = nil, _ connection: MQTTChuckConnection = recorded
    ) -> PacketRecord {
        PacketRecord(
            number: number, bytes: [0xD0, 0], wholeSize: 2, direction: .incoming, time: 0, connection: connection,
            alias: nil, link: start.map { ExchangeLink(row: number, start: $0, elapsed: 5, isLast: true) })
    }

    private func rows(of clientID: String) -> [MQTTChuckRow] {
        logger.rows(limit: .max).rows.filter { $0.connection.clientID == clientID }
    }

    // MARK: Beside clients

    @Test func `all packets of a recording are restored while a live client adds rows`() throws {
        var restoring = PacketRestoring(logger)
        for number in UInt64(1)...100 {
            try restoring.restore(Self.record(number, start: number > 1 ? number - 1 : nil))
            if number % 3 == 0 { try live.send(.pingReq, .pingReq) }
        }
        #expect(restoring.count == 100)
        #expect(logger.summary.rowCount == 166 && logger.summary.recordedCount == 166)
        #expect(logger.rows(limit: .max).rows.map(\.number) == Array(1...166))
        let own = rows(of: "recorded")
        #expect(own.count == 100)
        // Each packet is linked to the packet before it, unless rows of the live client are in between.
        let neighbours = zip(own, own.dropFirst())
        #expect(neighbours.allSatisfy { $1.exchange == ($1.number == $0.number + 1 ? $0.number : nil) })
        #expect(own.filter { $0.exchange != nil }.count == 66)
    }

    @Test func `restore() links a packet only to a packet that was restored after the last row of a live client`()
        throws
    {
        try live.send(.pingReq, .pingReq, .pingReq, .pingReq)
        var restoring = PacketRestoring(logger)
        // The gaps between the recorded numbers are wide enough to keep them. But row 3 belongs to the live client.
        try restoring.restore(Self.record(10, start: 3))
        try restoring.restore(Self.record(12, start: 10))
        try live.send(.pingReq)  // Row 13.
        try restoring.restore(Self.record(20, start: 13))
        try restoring.restore(Self.record(21, start: 12))
        try restoring.restore(Self.record(22, start: 21))
        let own = rows(of: "recorded")
        #expect(own.map(\.number) == [10, 12, 20, 21, 22])
        #expect(own.map(\.exchange) == [nil, 10, nil, nil, 21])
    }

    @Test func `if a live client adds rows during an import, no row is lost or assigned to a wrong exchange`()
        async throws
    {
        let source = MQTTChuckLogger.test()
        let session = Recording(source, id: 1, client: "recorded", version: .v311)
        for number in UInt16(1)...2_000 {
            try session.send(Recording.message("t", "\(number)", id: PacketID(rawValue: number), qos: .atLeastOnce))
            try session.receive(.pubAck(Acknowledgement(packetID: try #require(PacketID(rawValue: number)))))
        }
        let file = source.exported(.jsonLines)
        let live = live
        async let imported = logger.importJSONLines(file)
        async let observed: Void = {
            for _ in 0..<4_000 { try live.send(.pingReq) }
        }()
        #expect(try await imported == 4_000)
        try await observed
        #expect(logger.rows(limit: .max).rows.map(\.number) == Array(1...8_000))
        let own = rows(of: "recorded")
        #expect(own.filter { $0.type == .publish }.map(\.preview.text) == (1...2_000).map { "\($0)" })
        let publishes = Set(own.filter { $0.type == .publish }.map(\.number))
        #expect(own.allSatisfy { $0.exchange.map(publishes.contains) ?? true })
    }

    // MARK: Numbers

    @Test func `restore() throws if a packet number is too large or not above the previous number`() throws {
        var restoring = PacketRestoring(logger)
        for number in [Self.largest + 1, UInt64(Int64.max) - 1, UInt64(Int64.max), .max] {
            #expect(throws: PacketRestoring.Refusal.numberIsTooLarge) { try restoring.restore(Self.record(number)) }
        }
        try restoring.restore(Self.record(Self.largest - 1))
        for number in [1, Self.largest - 1] {
            #expect(throws: PacketRestoring.Refusal.numberDoesNotGrow) { try restoring.restore(Self.record(number)) }
        }
        try restoring.restore(Self.record(Self.largest))
        #expect(restoring.count == 2)
        // After the largest number, a client can still record rows. But no other recording fits.
        try live.send(.pingReq)
        #expect(logger.rows().rows.map(\.number) == [Self.largest - 1, Self.largest, Self.largest + 1])
        var another = PacketRestoring(logger)
        #expect(throws: PacketRestoring.Refusal.numberIsTooLarge) { try another.restore(Self.record(1)) }
        #expect(throws: PacketRestoring.Refusal.numberIsTooLarge) { try another.restore(Self.record(Self.largest)) }
        #expect(logger.rows(before: .max).rows.count == 3)
    }

    @Test
    func `restore() refuses a packet without bytes, and ignores an exchange whose start is not an earlier packet`()
        throws
    {
        var restoring = PacketRestoring(logger)
        let empty = PacketRecord(
            number: 1, bytes: [], wholeSize: 2, direction: .outgoing, time: 0, connection: Self.recorded, alias: nil,
            link: nil)
        #expect(throws: PacketRestoring.Refusal.hasNoBytes) { try restoring.restore(empty) }
        try restoring.restore(Self.record(5, start: 5))
        try restoring.restore(Self.record(6, start: .max))
        #expect(logger.rows().rows.allSatisfy { $0.roundTrip == nil })
    }

    @Test(arguments: [
        ("9007199254740993", "the packet number is above 9007199254740992"),
        ("9223372036854775806", "the packet number is above 9007199254740992"),
        ("18446744073709551615", "the packet number is above 9007199254740992"),
        ("4", "the packet numbers must increase from line to line"),
        ("5", "the packet numbers must increase from line to line"),
    ])
    func `an import error reports line and reason of an invalid packet number`(number: String, message: String) throws {
        let source = MQTTChuckLogger.test()
        try Recording(source).send(.pingReq)
        let lines = String(decoding: source.exported(.jsonLines), as: UTF8.self).split(separator: "\n")
        func line(_ number: String) -> String {
            lines[1].replacingOccurrences(of: "\"number\":1,", with: "\"number\":\(number),")
        }
        let text = [String(lines[0]), line("5"), line(number)].joined(separator: "\n")
        let error = #expect(throws: MQTTChuckImportError.self) { try logger.importJSONLines(Data(text.utf8)) }
        #expect(error == MQTTChuckImportError(line: 3, message: message))
        #expect(logger.rows().rows.map(\.number) == [5])
    }

    // MARK: Connections

    @Test func `connections with the same id in two recordings stay separate if their client ids differ`() throws {
        for clientID in ["a", "b", "a"] {
            var restoring = PacketRestoring(logger)
            try restoring.restore(Self.record(1, Self.connection(clientID)))
        }
        let rows = logger.rows().rows
        #expect(rows.map(\.connection.clientID) == ["a", "b", "a"])
        #expect(rows[0].connection.id == rows[2].connection.id && rows[0].connection.id != rows[1].connection.id)
        #expect(logger.connections.count == 2)
    }
}
