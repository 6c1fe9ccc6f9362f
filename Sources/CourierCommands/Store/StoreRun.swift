import CommandArguments
import CourierCore
import CourierSQLite
import Foundation
import Synchronization

/// One run of `courier store` on a store file.
struct StoreRun {
    private let settings: StoreArguments
    private let url: URL
    private let console: Console

    init(_ settings: StoreArguments, path: String, _ console: Console) {
        self.settings = settings
        url = URL(fileURLWithPath: path)
        self.console = console
    }

    /// Returns the text that names a client and a broker. Quotation marks enclose unusual texts.
    static func name(_ clientID: String, _ broker: String) -> String {
        "\(clientID.quoted(limit: 200)) at \(broker.quoted(limit: 200))"
    }

    func perform(_ action: StoreArguments.Action) throws {
        let (inspector, scopes) = try chosen()
        switch action {
        case .list:
            try export(inspector, scopes) { try Self.row($0).line }
        case .export: try export(inspector, scopes) { $0 }
        case .count, .files:
            for (scope, summary) in scopes {
                console.write("\(try Self.count(scope, summary, inspector))\n")
            }
        case .purge: try purge()
        }
    }

    /// Returns the numbers of messages of one client and broker, as one line.
    static func count(
        _ scope: StoreScope, _ summary: StoreSummary, _ inspector: SQLiteStoreInspector
    ) throws -> String {
        let rejectedCount = try inspector.rejectedCount(of: scope)
        return "\(name(scope.clientID, scope.broker)): \(summary.outgoingCount) outgoing, "
            + "\(summary.incomingCount) incoming, \(summary.payloadBytes) bytes of payload"
            + (rejectedCount > 0 ? ", \(rejectedCount) rejected" : "")
    }

    private typealias Scopes = [(scope: StoreScope, summary: StoreSummary)]

    /// Opens the file, and returns the clients and brokers that the options select.
    private func chosen() throws -> (SQLiteStoreInspector, Scopes) {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw ArgumentError(
                "The file \(url.path) does not exist.", hint: "Give the file that a client used with --store.")
        }
        let inspector = try SQLiteStoreInspector(at: url)
        let all = try inspector.scopes()
        let chosen = all.filter { settings.contains($0.scope) }
        if chosen.isEmpty, settings.clientID != nil || settings.broker != nil {
            let known = all.map { Self.name($0.scope.clientID, $0.scope.broker) }.joined(separator: ", ")
            throw ArgumentError(
                "\(url.path) has no data of this client and broker.",
                hint: known.isEmpty ? "The file is empty." : "The file has data of: \(known).")
        }
        return (inspector, chosen)
    }

    private func export(
        _ inspector: SQLiteStoreInspector, _ scopes: Scopes, _ text: (String) throws -> String
    ) throws {
        for (scope, _) in scopes {
            try inspector.export(scope) { line in
                guard !console.isOutputClosed, try !settings.isRejectedOnly || Self.row(line).isRejected else { return }
                console.write(try text(line) + "\n")
            }
        }
    }

    private static func row(_ line: String) throws -> ListedRow {
        try JSONDecoder().decode(ListedRow.self, from: Data(line.utf8))
    }

    /// Removes the selected messages. The file is opened as a message store, which fails while another process uses the
    /// file. `chosen()` has already refused a file that is not a store.
    private func purge() throws {
        let store = try SQLiteMessageStore(at: url, durability: .full)
        let end = DispatchSemaphore(value: 0)
        let outcome = PurgeOutcome()
        Task { [settings] in
            do {
                for (scope, summary) in try await store.scopes() where settings.contains(scope) {
                    let what: String
                    if settings.isRejectedOnly {
                        what = "\(try await Self.removeRejected(of: scope, from: store)) rejected messages"
                    } else {
                        try await store.purge(scope)
                        what =
                            "\(summary.outgoingCount) outgoing and \(summary.incomingCount) incoming messages, "
                            + "rejected messages, packet ids and subscriptions"
                    }
                    outcome.lines.withLock {
                        $0.append("\(Self.name(scope.clientID, scope.broker)): removed \(what)\n")
                    }
                }
            } catch {
                outcome.error.withLock { $0 = error }
            }
            await store.close()
            end.signal()
        }
        end.wait()
        for line in outcome.lines.withLock({ $0 }) { console.write(line) }
        if let error = outcome.error.withLock({ $0 }) { throw error }
    }

    private static func removeRejected(of scope: StoreScope, from store: SQLiteMessageStore) async throws -> Int {
        let messages = try await store.rejected(in: scope, after: nil, limit: .max)
        try await withCheckedThrowingContinuation { continuation in
            store.commit(messages.map { .removeRejected($0.message.id) }, in: scope) { continuation.resume(with: $0) }
        }
        return messages.count
    }
}

/// The result of a purge, for the thread that waits for it.
private final class PurgeOutcome: Sendable {
    let lines = Mutex<[String]>([])
    let error = Mutex<(any Error)?>(nil)
}
