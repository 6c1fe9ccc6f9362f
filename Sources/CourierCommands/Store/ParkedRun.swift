import CommandArguments
import CourierCore
import CourierSQLite
import Foundation

/// One run of `courier store parked` on a store file: shows, exports, retries or removes parked messages.
struct ParkedRun {
    /// The number of jobs that are read at a time. The number is small, because messages may be large.
    private static let pageSize = 100

    private let settings: StoreArguments
    private let url: URL
    private let console: Console

    init(_ settings: StoreArguments, _ url: URL, _ console: Console) {
        self.settings = settings
        self.url = url
        self.console = console
    }

    func perform(_ inspector: SQLiteStoreInspector, _ scopes: StoreRun.Scopes) throws {
        let names = scopes.map(\.scope)
        switch settings.parkedAction {
        case .list: try export(inspector, names) { try StoreRun.row($0).line }
        case .export: try export(inspector, names) { $0 }
        case .show:
            let scope = try scope(inspector, names)
            try inspector.visitJobs(of: scope) { if settings.contains($0) { show($0, in: scope) } }
        case .retry, .remove:
            if settings.messageID != nil { _ = try scope(inspector, names) }
            try change(isRetry: settings.parkedAction == .retry)
        case nil: break
        }
    }

    private func export(
        _ inspector: SQLiteStoreInspector, _ scopes: [StoreScope], _ text: (String) throws -> String
    ) throws {
        for scope in scopes {
            try inspector.exportJobs(scope, where: settings.contains) { line in
                if !console.isOutputClosed { console.write(try text(line) + "\n") }
            }
        }
    }

    /// Returns the client id and the broker of the message whose id the command line names. Message ids are unique only
    /// within one client id and broker.
    private func scope(_ inspector: SQLiteStoreInspector, _ scopes: [StoreScope]) throws -> StoreScope {
        var found: [StoreScope] = []
        for scope in scopes {
            try inspector.visitJobs(of: scope) { if settings.contains($0) { found.append(scope) } }
        }
        let id = settings.messageID?.rawValue ?? 0
        guard let scope = found.first else {
            throw ArgumentError(
                "\(url.path) has no parked message with the id \(id).",
                hint: "'courier store parked list' shows the ids.")
        }
        guard found.count == 1 else {
            let names = found.map { StoreRun.name($0.clientID, $0.broker) }.joined(separator: ", ")
            throw ArgumentError(
                "\(found.count) parked messages have the id \(id).",
                hint: "Select one of these messages with -i and --broker: \(names).")
        }
        return scope
    }

    private func show(_ job: StoredJob, in scope: StoreScope) {
        guard case .parked(let date) = job.state.stage else { return }
        let (message, state) = (job.message, job.state)
        // Invalid UTF-8 cannot be shown as text.
        let text = String(validating: message.payload, as: UTF8.self)?.quoted(limit: 10_000)
        let bytes = "\(message.payload.count) bytes in Base64: \(Data(message.payload).base64EncodedString())"
        let lines = [
            ("id", "\(message.id.rawValue)"), ("client", scope.clientID.quoted(limit: 200)),
            ("broker", scope.broker.quoted(limit: 200)), ("processor", state.processor.quoted(limit: 200)),
            ("topic", message.topic.quoted(limit: 1_000)), ("QoS", "\(message.qos.rawValue)"),
            ("received", message.storedAt.formatted(.iso8601)), ("parked", date.formatted(.iso8601)),
            ("failed attempts", "\(state.attempts)"), ("reason", (state.lastError ?? "").quoted(limit: 1_000)),
            ("payload", text ?? bytes),
        ]
        for (name, value) in lines { console.write("\(name): \(value)\n") }
    }

    /// Retries or removes the selected messages. `StoreRun` has already refused a file that is not a store.
    private func change(isRetry: Bool) throws {
        try StoreEdit.perform(on: url, console) { [settings, console] store, report in
            var isAny = false
            for (scope, _) in try await store.scopes() where settings.contains(scope) {
                let count = try await Self.change(settings, isRetry: isRetry, scope, store)
                guard count > 0 else { continue }
                isAny = true
                let messages = count == 1 ? "1 parked message" : "\(count) parked messages"
                report(
                    "\(StoreRun.name(scope.clientID, scope.broker)): \(isRetry ? "will retry" : "removed") \(messages)")
            }
            if !isAny { console.tell("No parked message is selected. Nothing was changed.") }
        }
    }

    /// Retries or removes the selected messages of one client and broker. Returns the number of messages.
    private static func change(
        _ settings: StoreArguments, isRetry: Bool, _ scope: StoreScope, _ store: SQLiteMessageStore
    ) async throws -> Int {
        var (count, last): (Int, StoredMessage.ID?) = (0, nil)
        while true {
            let page = try await store.jobs(in: scope, after: last, limit: pageSize)
            let chosen = page.filter(settings.contains)
            let time = StoreTime.now
            let changes = chosen.map { job in
                isRetry
                    ? StoreChange.updateJob(job.message.id, job.state.retried(at: time)) : .removeJob(job.message.id)
            }
            if !changes.isEmpty { try await StoreEdit.commit(changes, in: scope, to: store) }
            count += chosen.count
            guard page.count == pageSize else { return count }
            last = page.last?.message.id
        }
    }
}
