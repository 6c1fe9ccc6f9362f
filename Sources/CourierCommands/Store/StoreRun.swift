import CommandArguments
import CourierCore
import CourierSQLite
import Foundation

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
        case .parked: try ParkedRun(settings, url, console).perform(inspector, scopes)
        }
    }

    /// Returns the numbers of messages of one client and broker, as one line.
    static func count(
        _ scope: StoreScope, _ summary: StoreSummary, _ inspector: SQLiteStoreInspector
    ) throws -> String {
        let rejectedCount = try inspector.rejectedCount(of: scope)
        let jobCounts = try inspector.jobCounts(of: scope)
        return "\(name(scope.clientID, scope.broker)): \(summary.outgoingCount) outgoing, "
            + "\(summary.incomingCount) incoming, \(summary.payloadBytes) bytes of payload"
            + (rejectedCount > 0 ? ", \(rejectedCount) rejected" : "")
            + (jobCounts.waiting > 0 ? ", \(jobCounts.waiting) waiting for a processor" : "")
            + (jobCounts.parked > 0 ? ", \(jobCounts.parked) parked" : "")
    }

    typealias Scopes = [(scope: StoreScope, summary: StoreSummary)]

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

    static func row(_ line: String) throws -> ListedRow {
        try JSONDecoder().decode(ListedRow.self, from: Data(line.utf8))
    }

    /// Removes the selected messages. `chosen()` has already refused a file that is not a store.
    private func purge() throws {
        try StoreEdit.perform(on: url, console) { [settings] store, report in
            for (scope, summary) in try await store.scopes() where settings.contains(scope) {
                let what: String
                if settings.isRejectedOnly {
                    what = "\(try await Self.removeRejected(of: scope, from: store)) rejected messages"
                } else {
                    try await store.purge(scope)
                    what =
                        "\(summary.outgoingCount) outgoing and \(summary.incomingCount) incoming messages, "
                        + "rejected messages, jobs, packet ids and subscriptions"
                }
                report("\(Self.name(scope.clientID, scope.broker)): removed \(what)")
            }
        }
    }

    private static func removeRejected(of scope: StoreScope, from store: SQLiteMessageStore) async throws -> Int {
        let messages = try await store.rejected(in: scope, after: nil, limit: .max)
        try await StoreEdit.commit(messages.map { .removeRejected($0.message.id) }, in: scope, to: store)
        return messages.count
    }
}
