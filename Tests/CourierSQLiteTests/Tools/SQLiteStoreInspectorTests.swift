import CourierCore
import Foundation
import Testing

@testable import CourierSQLite

@Suite struct SQLiteStoreInspectorTests {
    private let folder: TemporaryFolder
    private let other = StoreScope(clientID: "other", broker: "b:1")

    init() throws { folder = try TemporaryFolder() }

    private func fill() async throws -> SQLiteMessageStore {
        let store = try SQLiteMessageStore(at: folder.file)
        let properties = MessageProperties(
            contentType: "t", payloadFormat: .utf8, correlationData: Data([1]), messageExpiry: .seconds(9),
            userProperties: [.init("n", "v")])
        try await store.commit(
            .enqueue(message(1, bytes: 3, properties: properties)), .progress(id(1), .sent(packetID: 5)),
            .keep(message(2, bytes: 1)), .rememberPacketID(9),
            .want(StoredSubscription(try TopicFilter("a/#"), .subscribed(.two))))
        try await store.commit(.enqueue(message(1, bytes: 7)), in: other)
        return store
    }

    @Test func `SQLiteStoreInspector lists and counts the rows of a store that is in use`() async throws {
        let store = try await fill()
        let inspector = try SQLiteStoreInspector(at: folder.file)
        #expect(try inspector.scopes().map(\.scope) == [.client, other])
        let expected = try await store.summary(of: .client)
        #expect(try inspector.scopes().first?.summary == expected)
        try await store.commit(.removeAll, in: other)
        #expect(try inspector.scopes().last?.summary.outgoingCount == 0)
        await store.close()
    }

    @Test func `a store export has one JSON line for each message, packet id and subscription`() async throws {
        let store = try await fill()
        var lines: [String] = []
        try SQLiteStoreInspector(at: folder.file).export { lines.append($0) }
        let kinds = try lines.map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return "\(object?["clientID"] ?? "") \(object?["kind"] ?? "")"
        }
        let expected = [
            "client outgoing", "client incoming", "client packetID", "client subscription", "other outgoing",
        ]
        #expect(kinds == expected)
        #expect(
            lines[0]
                == #"{"broker":"broker:1883","clientID":"client","contentType":"t","correlationData":"AQ==","id":1,"isRetained":false,"isUTF8":true,"kind":"outgoing","messageExpirySeconds":9,"packetID":5,"payload":"AQEB","progress":"sent","qos":1,"storedAt":"2026-05-09T06:13:20Z","topic":"a/b","userProperties":[{"name":"n","value":"v"}]}"#
        )
        var ofOther: [String] = []
        try SQLiteStoreInspector(at: folder.file).export(other) { ofOther.append($0) }
        #expect(ofOther == [lines[4]])
        await store.close()
    }

    @Test func `a store export is complete even if the store has more rows than one read returns`() async throws {
        let store = try SQLiteMessageStore(at: folder.file)
        #expect(await store.refusal((1...2_500).map { .enqueue(message($0, bytes: 1)) }) == nil)
        await store.close()
        var count = 0
        try SQLiteStoreInspector(at: folder.file).export { _ in count += 1 }
        #expect(count == 2_500)
    }

    @Test func `an export has the state of each job, and jobs are counted and read in pages`() async throws {
        let store = try SQLiteMessageStore(at: folder.file)
        let time = StoreTime(date: Date(timeIntervalSince1970: 1_700_000_000))
        func job(_ number: UInt64, _ stage: StoredJob.Stage) -> StoreChange {
            let state = StoredJob.State(
                processor: "orders", deduplicationKey: "k\(number)", attempts: 2, lastError: "closed", stage: stage)
            return .addJob(StoredJob(message(number, bytes: 1), state))
        }
        let waiting = (1...240 as ClosedRange<UInt64>).map { job($0, .waiting(.seconds(30), since: time)) }
        #expect(await store.refusal(waiting + [job(241, .parked(at: time.date))]) == nil)
        await store.close()
        let inspector = try SQLiteStoreInspector(at: folder.file)
        let counts = try inspector.jobCounts(of: .client)
        #expect(counts.waiting == 240 && counts.parked == 1)
        var (lines, ids): ([String], [UInt64]) = ([], [])
        try inspector.export { lines.append($0) }
        try inspector.visitJobs(of: .client) { ids.append($0.message.id.rawValue) }
        #expect(lines.count == 241 && ids == Array(1...241))
        for part in [#""attempts":2"#, #""deduplicationKey":"k1""#, #""kind":"job""#] {
            #expect(lines[0].contains(part), "\(lines[0])")
        }
        #expect(lines[0].contains(#""nextAttemptAt":"2023-11-14T22:13:50Z""#), "\(lines[0])")
        for part in [#""kind":"parked""#, #""parkedAt":"2023-11-14T22:13:20Z""#, #""reason":"closed""#] {
            #expect(lines[240].contains(part), "\(lines[240])")
        }
        #expect(try inspector.jobCounts(of: other).parked == 0)
    }

    @Test func `purge() of a store removes only the rows of one client id and broker`() async throws {
        let store = try await fill()
        try await store.purge(.client)
        #expect(try await store.summary(of: .client).outgoingCount == 0)
        #expect(try await store.summary(of: other).outgoingCount == 1)
        await store.close()
    }

    @Test func `SQLiteStoreInspector refuses a missing file and a file that is not a store, and changes nothing`()
        async throws
    {
        let missing = #expect(throws: CourierError.self) { try SQLiteStoreInspector(at: folder.file) }
        #expect(missing?.code == .storeFailed && folder.names.isEmpty)
        try Data(repeating: 5, count: 5_000).write(to: folder.file)
        let garbage = #expect(throws: CourierError.self) { try SQLiteStoreInspector(at: folder.file) }
        #expect(garbage?.code == .storeDamaged)
        #expect(try folder.bytes("store.courier") == Data(repeating: 5, count: 5_000))
    }
}
