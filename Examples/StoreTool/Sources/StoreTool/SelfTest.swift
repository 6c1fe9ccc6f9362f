import CourierCore
import CourierSQLite
import Foundation

/// Runs each command on a store whose contents are known.
enum SelfTest {
    private static let ada = StoreScope(clientID: "ada", broker: "a.example:1883")
    private static let bob = StoreScope(clientID: "bob\u{1B}[2J", broker: "b.example:8883")
    private static let secret = "do not show this"

    static func run(_ write: (String) -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("courier-store-\(UUID().uuidString)", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("messages.courier")
        let store = try SQLiteMessageStore(at: file)
        try await fill(store)

        // While this process has the file open.
        try await listing(file)
        try await counting(file)
        try await exporting(file)
        try await refuses(["purge", file.path, "--all"], "in use")
        await store.close()

        try await purging(file)
        try await refusing(in: folder, file)
        write("store: every command does what it says")
    }

    private static func fill(_ store: SQLiteMessageStore) async throws {
        func message(_ id: UInt64, _ topic: String, _ qos: QoS) -> StoredMessage {
            StoredMessage(
                id: StoredMessage.ID(rawValue: id), topic: topic, payload: Array(secret.utf8), qos: qos,
                storedAt: Date(timeIntervalSince1970: 1_700_000_000))
        }
        let wanted = StoredSubscription(try TopicFilter("orders/#"), .subscribed(.one))
        try await commit(
            [
                .enqueue(message(1, "orders/1", .one)), .enqueue(message(2, "orders/2", .two)),
                .progress(StoredMessage.ID(rawValue: 2), .sent(packetID: 77)), .want(wanted), .rememberPacketID(9),
            ], ada, store)
        try await commit([.keep(message(1, "news/\u{7}", .one))], bob, store)
    }

    private static func commit(_ changes: [StoreChange], _ scope: StoreScope, _ store: SQLiteMessageStore) async throws
    {
        try await withCheckedThrowingContinuation { continuation in
            store.commit(changes, in: scope) { continuation.resume(with: $0) }
        }
    }

    private static func listing(_ file: URL) async throws {
        let lines = try await output(["list", file.path])
        try check(lines.count == 5, "list shows 5 rows: \(lines)")
        try check(
            lines.contains {
                $0.hasPrefix(#""ada" at "a.example:1883": outgoing 2 "orders/2" QoS 2 16 bytes sent with packet id 77"#)
            }, "list shows a message that was sent: \(lines)")
        try check(lines.contains { $0.hasSuffix("packet id 9") }, "list shows a packet id: \(lines)")
        try check(
            lines.contains { $0.contains(#"subscription "orders/#" QoS 1"#) }, "list shows a subscription: \(lines)")
        let text = lines.joined()
        try check(!text.contains(secret), "list shows no payload")
        try check(!text.contains(Data(secret.utf8).base64EncodedString()), "list shows no payload in Base64")
        try check(!text.unicodeScalars.contains { $0.value < 32 }, "list shows no control characters: \(lines)")
        let ofBob = try await output(["list", file.path, "--client", bob.clientID])
        try check(ofBob.count == 1, "list --client shows one client: \(ofBob)")
    }

    private static func counting(_ file: URL) async throws {
        let lines = try await output(["count", file.path])
        try check(lines.count == 2, "count shows 2 clients: \(lines)")
        try check(
            lines.first == #""ada" at "a.example:1883": 2 outgoing, 0 incoming, 32 bytes of payload"#,
            "count counts: \(lines)")
    }

    private static func exporting(_ file: URL) async throws {
        struct Row: Decodable {
            let kind: String
            let payload: Data?
        }
        let rows = try await output(["export", file.path, "--broker", ada.broker])
            .map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
        try check(
            rows.map(\.kind) == ["outgoing", "outgoing", "packetID", "subscription"], "export shows each row: \(rows)")
        try check(rows[0].payload == Data(secret.utf8), "export shows payloads")
    }

    private static func purging(_ file: URL) async throws {
        let removed = try await output(["purge", file.path, "--client", ada.clientID, "--broker", ada.broker])
        try check(removed.count == 1 && removed[0].contains("removed 2 outgoing"), "purge says what it did: \(removed)")
        let rest = try await output(["list", file.path])
        try check(rest.count == 1 && rest[0].contains("incoming 1"), "purge removes one client only: \(rest)")
        _ = try await output(["purge", file.path, "--all"])
        let none = try await output(["list", file.path])
        try check(none.isEmpty, "purge --all removes everything: \(none)")
    }

    private static func refusing(in folder: URL, _ file: URL) async throws {
        let missing = folder.appendingPathComponent("missing")
        for command in ["list", "count", "export"] { try await refuses([command, missing.path], "There is no file") }
        try await refuses(["purge", missing.path, "--all"], "There is no file")
        try check(!FileManager.default.fileExists(atPath: missing.path), "a missing file is not made")

        let foreign = folder.appendingPathComponent("foreign")
        let text = Data("not a store".utf8)
        try text.write(to: foreign)
        try await refuses(["purge", foreign.path, "--all"], foreign.path)
        try check(try Data(contentsOf: foreign) == text, "a foreign file is left alone")

        try await refuses(["count", file.path, "--client", "eve"], "knows no such client")
        try await refuses(["purge", file.path], "needs both")
        try await refuses(["purge", file.path, "--client", "ada"], "needs both")
        try await refuses(["list"], "needs one file")
        try await refuses(["lst", file.path], "There is no command lst")
        try await refuses([], "Say what to do")
    }

    private static func output(_ words: [String]) async throws -> [String] {
        var lines: [String] = []
        try await StoreTool { lines.append($0) }.perform(try Command(words))
        return lines
    }

    /// Passes when the command fails with words like these.
    private static func refuses(_ words: [String], _ reason: String) async throws {
        let message: String
        do {
            let lines = try await output(words)
            throw CommandError.failed("self-test: \(words) is to fail, and says \(lines)")
        } catch CommandError.usage(let text) {
            message = text
        } catch let error as CourierError {
            message = error.message
        } catch CommandError.failed(let text) where !text.hasPrefix("self-test:") {
            message = text
        }
        try check(message.contains(reason), "\(words) fails with \"\(reason)\": \(message)")
    }

    private static func check(_ isTrue: Bool, _ promise: String) throws {
        guard isTrue else { throw CommandError.failed("self-test: this does not hold: \(promise)") }
    }
}
