import CourierCore
import CourierSQLite
import Foundation
import FuzzSupport

/// Opens a damaged file of a message store.
///
/// The input says which bytes of a correct file are changed. Opening succeeds for every file, except for a file of a
/// newer version. Then all rows can be read, a new message can be stored and read, and the closed file opens again
/// without a recovery. The inspector of stores returns rows or throws a `CourierError`, and leaves the file unchanged.
func check(_ input: InputReader) {
    var input = input
    let file = correctFiles[Int(input.byte()) % correctFiles.count]
    let bytes = Edits.apply(input, to: file)
    let path = WorkFolder.emptied(for: "messages.courier")
    WorkFolder.write(bytes, to: path)
    let url = URL(fileURLWithPath: path)
    inspect(url, isCorrect: bytes == file)
    demand(WorkFolder.read(path) == bytes, "an inspector leaves the file unchanged")
    waiting { await checkStore(url, isCorrect: bytes == file) }
}

private let scope = StoreScope(clientID: "new", broker: "broker:1883")
private let oldScope = StoreScope(clientID: "phone", broker: "broker:1883")

private func message(_ id: UInt64) -> StoredMessage {
    StoredMessage(
        id: StoredMessage.ID(rawValue: id), topic: "a/\(id)", payload: Array("payload \(id)".utf8), qos: .one,
        storedAt: Date(timeIntervalSince1970: 1_700_000_000))
}

/// Correct files: one with a row of every kind, and one without rows.
private let correctFiles: [[UInt8]] = [true, false].map { hasRows in
    let path = WorkFolder.emptied(for: "correct.courier")
    waiting {
        do {
            let store = try SQLiteMessageStore(at: URL(fileURLWithPath: path))
            if hasRows { try await store.commit(rows(), in: oldScope) }
            await store.close()
        } catch {
            fatalError("the store is written: \(error)")
        }
    }
    return WorkFolder.read(path)
}

private func rows() throws -> [StoreChange] {
    var changes: [StoreChange] = []
    for id in 1...UInt64(9) {
        changes.append(.enqueue(message(id)))
        changes.append(.keep(message(id)))
    }
    changes.append(.progress(StoredMessage.ID(rawValue: 2), .sent(packetID: 2)))
    changes.append(.progress(StoredMessage.ID(rawValue: 3), .received(packetID: 3)))
    changes.append(.strike(StoredMessage.ID(rawValue: 4), count: 2))
    changes.append(.reject(StoredMessage.ID(rawValue: 5), reason: "too large", at: Date(timeIntervalSince1970: 0)))
    changes += [.rememberPacketID(7), .rememberPacketID(8)]
    changes.append(.want(StoredSubscription(try TopicFilter("a/#"), .subscribed(.one))))
    return changes
}

// MARK: Reading

private func inspect(_ url: URL, isCorrect: Bool) {
    do {
        let inspector = try SQLiteStoreInspector(at: url)
        var count = 0
        for (scope, _) in try inspector.scopes() { _ = try inspector.rejectedCount(of: scope) }
        try inspector.export { line in
            count += 1
            demand(count <= 10_000, "a small file has few rows")
            demand(!line.contains("\n"), "a row is one line")
        }
    } catch {
        demand(!isCorrect, "a correct file is read: \(error)")
        demandSentence(error)
    }
}

private func checkStore(_ url: URL, isCorrect: Bool) async {
    let store: SQLiteMessageStore
    do {
        store = try SQLiteMessageStore(at: url)
    } catch {
        demand(!isCorrect && error.message.contains("has version"), "only a newer file is refused: \(error)")
        return demandSentence(error)
    }
    demand(!isCorrect || store.recovery == nil, "a correct file is not replaced")
    let contents: Contents
    do {
        _ = try await Contents(of: store)
        let next = (try await store.summary(of: scope).lastMessageID?.rawValue ?? 0) + 1
        try await store.commit([.enqueue(message(next))], in: scope)
        let page = try await store.outgoing(in: scope, after: StoredMessage.ID(rawValue: next - 1), limit: 9)
        demand(page.count == (Plant.isPlanted ? 2 : 1), "a new message is read")
        let id = StoredMessage.ID(rawValue: next)
        try await store.commit([.reject(id, reason: "test", at: Date(timeIntervalSince1970: 0))], in: scope)
        contents = try await Contents(of: store)
    } catch {
        fatalError("broken property: an open store can be read and written: \(error)")
    }
    if let recovery = store.recovery {
        demand(recovery.error.code == .storeDamaged, "only a damaged file is replaced: \(recovery.error)")
        demandSentence(recovery.error)
    }
    await store.close()
    do {
        let again = try SQLiteMessageStore(at: url)
        demand(again.recovery == nil, "a closed store opens without a recovery")
        let same = try await Contents(of: again)
        demand(same == contents, "a store that opens again has the same rows: \(contents) \(same)")
        await again.close()
    } catch {
        fatalError("broken property: a closed store opens again: \(error)")
    }
}

/// All rows of a store, except those of the scope for new messages.
private struct Contents: Equatable {
    var lines: [String] = []

    init(of store: SQLiteMessageStore) async throws {
        // A page may find damage, which the store repairs at once. So the rows are read until two reads are equal.
        for _ in 0..<4 {
            let before = lines
            lines = try await Self.lines(of: store)
            if lines == before, !lines.isEmpty { return }
        }
    }

    private static func lines(of store: SQLiteMessageStore) async throws -> [String] {
        var lines: [String] = []
        for (place, _) in try await store.scopes() where place != scope {
            let outgoing = try await store.outgoing(in: place, after: nil, limit: 1_000)
            let incoming = try await store.incoming(in: place, matching: nil, after: nil, limit: 1_000)
            let rejected = try await store.rejected(in: place, after: nil, limit: 1_000)
            let packetIDs = try await store.incomingPacketIDs(in: place).sorted()
            let subscriptions = try await store.subscriptions(in: place)
            lines.append("\(place) \(outgoing.map(\.message.id)) \(incoming.map(\.id)) \(rejected.map(\.message.id)) ")
            lines.append("\(packetIDs) \(subscriptions.map(\.filter))")
        }
        return lines
    }
}

private func demandSentence(_ error: any Error) {
    guard let error = error as? CourierError else { fatalError("another error: \(error)") }
    demand([.storeDamaged, .storeFailed, .storeFull].contains(error.code), "the code is that of a file: \(error)")
    demand(error.message.hasSuffix("."), "an error is a sentence: \(error.message)")
}

extension SQLiteMessageStore {
    /// Commits changes, and waits for the result.
    fileprivate func commit(_ changes: [StoreChange], in scope: StoreScope) async throws {
        try await withCheckedThrowingContinuation { continuation in
            commit(changes, in: scope) { continuation.resume(with: $0) }
        }
    }
}
