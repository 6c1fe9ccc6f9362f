import CourierCore
package import Foundation

/// A store whose messages no client reads now, because the program was renamed or the client id has changed.
package struct LeftBehind: Sendable {
    package let file: URL
    /// The client ids of the messages.
    package let clientIDs: [String]
    /// The number of messages, incoming and outgoing.
    package let messageCount: Int

    /// Reads a file. Returns `nil` if a store has the file open, or if the file has no messages or cannot be read.
    package init?(_ file: URL) {
        guard !StoreLock.isHeld(file.path + ".lock"), let inspector = try? SQLiteStoreInspector(at: file),
            let scopes = try? inspector.scopes()
        else { return nil }
        let holding = scopes.filter { $0.summary.outgoingCount + $0.summary.incomingCount > 0 }
        guard !holding.isEmpty else { return nil }
        self.file = file
        clientIDs = holding.map(\.scope.clientID)
        messageCount = holding.reduce(0) { $0 + $1.summary.outgoingCount + $1.summary.incomingCount }
    }
}
