import CourierCore
import CourierSQLite
import Foundation

/// Carries out a command.
struct StoreTool {
    /// Is given what to show, line by line.
    let write: (String) -> Void

    func perform(_ command: Command) async throws {
        switch command {
        case .list(let file, let selection): try list(file, selection)
        case .count(let file, let selection): try count(file, selection)
        case .export(let file, let selection): try export(file, selection)
        case .purge(let file, let selection): try await purge(file, selection)
        case .help: write(Command.usage)
        case .selfTest: try await SelfTest.run(write)
        }
    }

    private func list(_ file: URL, _ selection: Selection) throws {
        let (inspector, scopes) = try scopes(file, selection)
        let decoder = JSONDecoder()
        for (scope, _) in scopes {
            try inspector.export(scope) { line in
                write(try decoder.decode(ListedRow.self, from: Data(line.utf8)).line)
            }
        }
    }

    private func count(_ file: URL, _ selection: Selection) throws {
        for (scope, summary) in try scopes(file, selection).scopes {
            write(
                "\(quoted(scope.clientID)) at \(quoted(scope.broker)): \(summary.outgoingCount) outgoing, "
                    + "\(summary.incomingCount) incoming, \(summary.payloadBytes) bytes of payload")
        }
    }

    private func export(_ file: URL, _ selection: Selection) throws {
        let (inspector, scopes) = try scopes(file, selection)
        for (scope, _) in scopes { try inspector.export(scope, write) }
    }

    private func purge(_ file: URL, _ selection: Selection) async throws {
        // A store makes the file when there is none, and sets aside what is no store: the inspector does neither.
        _ = try scopes(file, selection)
        let store = try SQLiteMessageStore(at: file, durability: .full)
        do {
            for (scope, summary) in try await store.scopes() where selection.contains(scope) {
                try await store.purge(scope)
                write(
                    "\(quoted(scope.clientID)) at \(quoted(scope.broker)): removed \(summary.outgoingCount) outgoing and "
                        + "\(summary.incomingCount) incoming messages, packet ids and subscriptions")
            }
        } catch {
            await store.close()
            throw error
        }
        await store.close()
    }

    private func scopes(
        _ file: URL, _ selection: Selection
    ) throws -> (inspector: SQLiteStoreInspector, scopes: [(scope: StoreScope, summary: StoreSummary)]) {
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw CommandError.failed("There is no file \(file.path).")
        }
        let inspector = try SQLiteStoreInspector(at: file)
        let all = try inspector.scopes()
        let chosen = all.filter { selection.contains($0.scope) }
        guard !chosen.isEmpty || selection == Selection() else {
            let known = all.map { "\(quoted($0.scope.clientID)) at \(quoted($0.scope.broker))" }.joined(separator: ", ")
            throw CommandError.failed(
                "\(file.path) knows no such client or broker; it knows \(known.isEmpty ? "none" : known).")
        }
        return (inspector, chosen)
    }
}

/// A text from a file on one line and in quotation marks, so that it can not play with the terminal.
func quoted(_ text: String) -> String { "\"" + text.unicodeScalars.map { $0.escaped(asASCII: false) }.joined() + "\"" }
