import CourierCore
import CourierSQLite
import Foundation

/// The action `courier store files`: lists the store files in the default folder. The SDK uses this folder for clients
/// whose app has configured no message store.
struct StoreFiles {
    private let settings: StoreArguments
    private let console: Console

    init(_ settings: StoreArguments, _ console: Console) {
        self.settings = settings
        self.console = console
    }

    func list() throws {
        let root = try StorePlace.root(ProcessInfo.processInfo.environment)
        var isAny = false
        for line in StorePlace.files(in: root).flatMap(lines) {
            isAny = true
            console.write(line + "\n")
        }
        if !isAny { console.tell("No message file was found in \(root.path.quoted(limit: 1_000)).") }
    }

    /// Returns one line for each client and broker with messages in the file.
    private func lines(of file: URL) -> [String] {
        let path = file.path.quoted(limit: 1_000)
        let isOpen = StoreLock.isHeld(file.path + ".lock") ? ", in use" : ""
        do {
            let inspector = try SQLiteStoreInspector(at: file)
            let scopes = try inspector.scopes()
            if scopes.isEmpty, settings.clientID == nil, settings.broker == nil {
                return ["\(path): no messages\(isOpen)"]
            }
            return try scopes.filter { settings.contains($0.scope) }.map { scope, summary in
                "\(path): \(try StoreRun.count(scope, summary, inspector))\(isOpen)"
            }
        } catch {
            return ["\(path): \(error)\(isOpen)"]
        }
    }
}
