import CourierCore
import Foundation
import Testing

@testable import CourierSQLite

/// Files that an earlier version of this library wrote can be opened without loss.
@Suite struct OldStoreTests {
    private static let moment = Date(timeIntervalSinceReferenceDate: 790_000_000.5)
    private static let first = StoreScope(clientID: "phone-7", broker: "broker.example.com:8883")
    private static let second = StoreScope(clientID: "caf\u{E9}/\u{1F69A}", broker: "[2001:db8::7]:1883")
    private static let properties = MessageProperties(
        contentType: "application/json", payloadFormat: .utf8, responseTopic: "answers/7",
        correlationData: Data([0, 255, 7]), messageExpiry: .seconds(3_600),
        userProperties: [.init("b", "1"), .init("a", ""), .init("b", "2")])

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Copies a file of version 1 to the temporary folder.
    private func copy(_ name: String) throws {
        let fixtures = try #require(Bundle.module.url(forResource: "Fixtures", withExtension: nil))
        let file = fixtures.appendingPathComponent("version-1").appendingPathComponent(name)
        try write(Data(contentsOf: file), to: folder.file.path)
        let version = try Database(path: folder.file.path, .reader, system: nil).number(
            "PRAGMA user_version", "testing")
        #expect(version == 1)
    }

    private func open(at date: Date = moment) throws -> SQLiteMessageStore {
        try SQLiteMessageStore(at: folder.file, date: { date })
    }

    private static func message(
        _ number: UInt64, _ topic: String, _ payload: [UInt8], _ qos: QoS = .one, isRetained: Bool = false,
        properties: MessageProperties = MessageProperties(), lifetime: TimeInterval? = nil
    ) -> StoredMessage {
        let storedAt = moment.addingTimeInterval(TimeInterval(number))
        return StoredMessage(
            id: id(number), topic: topic, payload: payload, qos: qos, isRetained: isRetained, properties: properties,
            storedAt: storedAt, expiresAt: lifetime.map { storedAt.addingTimeInterval($0) })
    }

    private static func wanted(_ filter: String, _ intent: StoredSubscription.Intent) throws -> StoredSubscription {
        StoredSubscription(try TopicFilter(filter), intent)
    }

    private static func firstContents() throws -> StoreContents {
        let outgoing = [
            StoredOutgoing(message(1, "orders/1", Array("queued".utf8)), .queued),
            StoredOutgoing(
                message(2, "orders/2", Array("queued, all properties".utf8), properties: properties, lifetime: 3_600),
                .queued),
            StoredOutgoing(message(3, "orders/3", [], .two, isRetained: true, lifetime: 60), .queued),
            StoredOutgoing(message(4, "orders/4", Array("sent, QoS 1".utf8)), .sent(packetID: 1)),
            StoredOutgoing(
                message(5, "orders/5", Array("sent, QoS 2".utf8), .two, properties: properties, lifetime: 3_600),
                .sent(packetID: 65_535)),
            StoredOutgoing(message(6, "orders/6", Array("received".utf8), .two), .received(packetID: 2)),
            StoredOutgoing(
                message(7, "orders/7", Array(0...255), .two, properties: .init(userProperties: [.init("n", "7")])),
                .received(packetID: 40_000)),
        ]
        let incoming = [
            message(9, "news/9", Array("kept".utf8)),
            message(
                10, "news/10", Array("kept, all properties".utf8), .two, properties: properties, lifetime: 3_600),
            message(11, "news/11", Array("one minute".utf8), isRetained: true, lifetime: 60),
        ]
        return StoreContents(
            outgoing: outgoing, incoming: incoming, packetIDs: [1, 500, 65_535],
            subscriptions: [
                try wanted("$share/g/caf\u{E9}", .subscribed(.zero)), try wanted("news/#", .subscribed(.two)),
                try wanted("old/+", .unsubscribing),
            ],
            summary: StoreSummary(
                outgoingCount: 7, incomingCount: 3,
                payloadBytes: (outgoing.map(\.message) + incoming).reduce(0) { $0 + $1.payload.count },
                lastMessageID: id(11)))
    }

    private static func secondContents() throws -> StoreContents {
        StoreContents(
            outgoing: [
                StoredOutgoing(message(1, "other/1", Array("queued".utf8), .two), .queued),
                StoredOutgoing(message(2, "other/2", Array("sent".utf8)), .sent(packetID: 1)),
            ],
            incoming: [message(3, "other/3", [])], packetIDs: [9],
            subscriptions: [try wanted("other/#", .subscribed(.one))],
            summary: StoreSummary(outgoingCount: 2, incomingCount: 1, payloadBytes: 10, lastMessageID: id(3)))
    }

    @Test func `a store file of schema version 1 opens with all its rows`() async throws {
        try copy("every-row.courier")
        for _ in 0..<2 {  // The second time, the file has the tables of this version.
            let store = try open()
            #expect(store.recovery == nil)
            #expect(try await store.scopes().map(\.scope) == [Self.first, Self.second])
            #expect(try await store.contents(of: Self.first) == Self.firstContents())
            #expect(try await store.contents(of: Self.second) == Self.secondContents())
            await store.close()
        }
    }

    @Test func `in a store file of schema version 1, the expiry of incoming messages is measured by date`() async throws
    {
        try copy("every-row.courier")
        let store = try open(at: Self.moment + 300)
        let rows = try await store.incoming(in: Self.first, matching: nil, after: nil, limit: .max)
        #expect(rows.map(\.id) == [id(9), id(10)])
        try await store.commit(.removeExpired(at: Self.moment + 300), in: Self.first)
        #expect(try await store.summary(of: Self.first).incomingCount == 2)
        await store.close()
    }

    @Test func `a store file of schema version 1 accepts all kinds of changes of the current version`() async throws {
        try copy("every-row.courier")
        let store = try open()
        let new = StoredMessage(
            id: id(12), topic: "orders/12", payload: [1, 2], qos: .two, storedAt: Self.moment, bootTime: .now,
            isLatestOnly: true)
        try await store.commit(
            .enqueue(new), .progress(id(1), .sent(packetID: 3)), .removeOutgoing(id(5)), .removeIncoming(id(9)),
            .forgetPacketID(500), .strike(id(4), count: 2), .reject(id(3), reason: "Thrice.", at: Self.moment),
            in: Self.first)
        var expected = try Self.firstContents()
        expected.rejected = [RejectedMessage(expected.outgoing[2], reason: "Thrice.", rejectedAt: Self.moment)]
        expected.outgoing[3] = StoredOutgoing(expected.outgoing[3].message, .sent(packetID: 1), strikes: 2)
        expected.outgoing[0] = StoredOutgoing(expected.outgoing[0].message, .sent(packetID: 3))
        expected.outgoing.remove(at: 4)
        expected.outgoing.remove(at: 2)
        expected.outgoing.append(StoredOutgoing(new, .queued))
        expected.incoming.removeFirst()
        expected.packetIDs.remove(500)
        expected.summary = StoreSummary(
            outgoingCount: 6, incomingCount: 2,
            payloadBytes: (expected.outgoing.map(\.message) + expected.incoming).reduce(0) { $0 + $1.payload.count },
            lastMessageID: id(12))
        #expect(try await store.contents(of: Self.first) == expected)
        await store.close()
    }

    @Test func `SQLiteStoreInspector reads a store file of schema version 1 and changes nothing`() throws {
        try copy("every-row.courier")
        let before = try folder.bytes("store.courier")
        var lines: [String] = []
        try SQLiteStoreInspector(at: folder.file).export { lines.append($0) }
        #expect(lines.count == 21)
        #expect(lines.count { $0.contains(#""kind":"outgoing""#) } == 9)
        #expect(lines.allSatisfy { !$0.contains("bootID") && !$0.contains("strikes") })
        #expect(try folder.bytes("store.courier") == before)
    }

    @Test func `sent and queued messages are read from a store file of schema version 1`() async throws {
        try copy("many-rows.courier")
        let store = try open()
        let rows = try await store.outgoing(in: Self.first, after: nil, limit: .max)
        let expected = (1...300).map { number in
            StoredOutgoing(
                Self.message(UInt64(number) * 3, "many/\(number)", Array("message \(number)".utf8)),
                number.isMultiple(of: 10) ? .sent(packetID: UInt16(number)) : .queued)
        }
        #expect(rows == expected)
        let sent = try await store.sentOutgoing(in: Self.first, after: nil, limit: .max)
        #expect(sent == expected.filter { $0.progress != .queued })
        await store.close()
    }

    @Test func `all rows are recovered from a damaged store file of schema version 1`() async throws {
        try copy("every-row.courier")
        var bytes = try folder.bytes("store.courier")
        bytes.replaceSubrange(0..<16, with: Data(count: 16))  // These bytes are not the header of a database.
        try write(bytes, to: folder.file.path)
        let store = try open()
        #expect(store.recovery != nil)
        #expect(try await store.contents(of: Self.first) == Self.firstContents())
        #expect(try await store.contents(of: Self.second) == Self.secondContents())
        await store.close()
    }
}
