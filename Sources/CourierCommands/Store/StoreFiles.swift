import CourierCore
import CourierSQLite
import Foundation

/// `courier store files`: the files of clients whose app has named no message store.
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
        if !isAny { console.tell("There is none in \(root.path.quoted(limit: 1_000)).") }
    }

    /// A line for each client whose messages the file has.
    private func lines(of file: URL) -> [String] {
        let path = file.path.quoted(limit: 1_000)
        let isOpen = StoreLock.isHeld(file.path + ".lock") ? ", in use" : ""
        do {
            let inspector = try SQLiteStoreInspector(at: file)
            let scopes = try inspector.scopes()
            if scopes.isEmpty, settings.clientID == nil, settings.broker == nil { return ["\(path): nothing\(isOpen)"] }
            return try scopes.filter { settings.contains($0.scope) }.map { scope, summary in
                "\(path): \(try StoreRun.count(scope, summary, inspector))\(isOpen)"
            }
        } catch {
            return ["\(path): \(error)\(isOpen)"]
        }
    }
}
