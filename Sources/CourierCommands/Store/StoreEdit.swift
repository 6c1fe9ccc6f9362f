import CourierCore
import CourierSQLite
import Foundation
import Synchronization

/// Changes a store file for a command that blocks its thread until the changes are done.
enum StoreEdit {
    /// The lines to print, and the error that ended the changes.
    private final class Outcome: Sendable {
        let lines = Mutex<[String]>([])
        let error = Mutex<(any Error)?>(nil)
    }

    /// Opens the file as a message store, and calls `body` with the store and with a function that reports a line.
    /// Prints the lines when the store is closed. Blocks the calling thread.
    ///
    /// - Throws: The error of `body`. `storeInUse` if another process uses the file.
    static func perform(
        on url: URL, _ console: Console,
        _ body: @escaping @Sendable (SQLiteMessageStore, (String) -> Void) async throws -> Void
    ) throws {
        let store = try SQLiteMessageStore(at: url, durability: .full)
        let end = DispatchSemaphore(value: 0)
        let outcome = Outcome()
        Task {
            do {
                try await body(store) { line in outcome.lines.withLock { $0.append(line) } }
            } catch {
                outcome.error.withLock { $0 = error }
            }
            await store.close()
            end.signal()
        }
        end.wait()
        for line in outcome.lines.withLock({ $0 }) { console.write(line + "\n") }
        if let error = outcome.error.withLock({ $0 }) { throw error }
    }

    static func commit(
        _ changes: [StoreChange], in scope: StoreScope, to store: SQLiteMessageStore
    ) async throws {
        try await withCheckedThrowingContinuation { continuation in
            store.commit(changes, in: scope) { continuation.resume(with: $0) }
        }
    }
}
