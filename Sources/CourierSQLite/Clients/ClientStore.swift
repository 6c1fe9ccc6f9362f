package import CourierCore
package import Foundation
import Synchronization

/// The message store of one client, in the file that belongs to its client id; see ``StorePlace``.
///
/// A process opens each file once, for one client at a time. When the app has released a client, the next client with
/// the same id can open the file at once. The next client begins to read and store after the former client has stored
/// its last changes.
package final class ClientStore: MessageStore {
    /// The longest time that a new client blocks its thread while another client uses the file: 0.5 s.
    ///
    /// The app may have just released the other client, while an event handler of that client still runs and retains
    /// the client. The wait gives the handler time to return.
    private static let hesitation = DispatchTimeInterval.milliseconds(500)

    /// A file that this process has opened.
    private struct OpenFile {
        let store: SQLiteMessageStore
        /// The client that uses the file; `nil` if the app has released it.
        var owner: ClientEnd?
        /// The clients that have not ended completely. For example, a client has not ended while the app still has to
        /// acknowledge one of its messages.
        var holders: [ClientEnd]
    }

    private static let files = Mutex<[String: OpenFile]>([:])

    private let path: String
    private let clientID: String
    private let store: SQLiteMessageStore
    private let formers: FormerClients
    private let end = ClientEnd()

    /// Opens the file of a client.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - clientID: The client id, for errors.
    ///   - onRecovery: Called when a damaged file was replaced, as in `SQLiteMessageStore`.
    /// - Throws: `storeInUse` if another client uses the file; another error if the file cannot be opened.
    package init(
        at url: URL, of clientID: String, onRecovery: @escaping @Sendable (StoreRecovery) -> Void
    ) throws(CourierError) {
        path = try DatabaseFiles(.messageStore, at: url).path
        self.clientID = clientID
        var taken = Self.take(path, for: end)
        if case .ofAnother(let owner) = taken, owner.isLetGo(within: Self.hesitation) {
            taken = Self.take(path, for: end)
        }
        switch taken {
        case .ofAnother: throw Self.inUse(path, clientID)
        case .file(let store, let formers): (self.store, self.formers) = (store, FormerClients(formers))
        case .closed:
            do throws(CourierError) {
                store = try SQLiteMessageStore(at: url, onRecovery: onRecovery)
            } catch {
                throw error.code == .storeInUse ? Self.inUse(path, clientID) : error
            }
            formers = FormerClients([])
            let file = OpenFile(store: store, owner: end, holders: [end])
            Self.files.withLock { $0[path] = file }
        }
    }

    /// The state of a file that a client wants to open.
    private enum Taken {
        /// The file is open and has no owner. `formers` are the clients that used the file before.
        case file(SQLiteMessageStore, formers: [ClientEnd])
        case ofAnother(ClientEnd)
        /// This process has not opened the file.
        case closed
    }

    private static func take(_ path: String, for end: ClientEnd) -> Taken {
        files.withLock { files in
            guard let file = files[path] else { return .closed }
            if let owner = file.owner { return .ofAnother(owner) }
            files[path]?.owner = end
            files[path]?.holders.append(end)
            return .file(file.store, formers: file.holders)
        }
    }

    private static func inUse(_ path: String, _ clientID: String) -> CourierError {
        CourierError(
            .storeInUse,
            "The messages of the client id \(clientID.quoted()) are in use by another client, "
                + "of this process or of another process (\(path)). "
                + "End that client first, or give this client another client id.")
    }

    private var stillStoring: CourierError {
        CourierError(
            .storeInUse,
            "The former client with the client id \(clientID.quoted()) has ended, but it still writes to \(path). "
                + "The new client tries again. Check the disk if this message repeats.")
    }

    /// Called when the app has released the client. From now on, the next client can use the file.
    package func release() {
        Self.files.withLock { files in
            if files[path]?.owner === end { files[path]?.owner = nil }
        }
        end.letGo()
    }

    /// Called when the client has ended and stored its last changes. From now on, the next client does not wait for
    /// this client. The file stays open as long as a part of this client exists, such as a message that the app has not
    /// acknowledged.
    package func finish() {
        release()
        end.finish()
    }

    deinit {
        finish()
        Self.files.withLock { files in
            files[path]?.holders.removeAll { $0 === end }
            guard let file = files[path], file.holders.isEmpty else { return }
            files[path] = nil
            // Call this while the lock is held, so that the next caller that opens the file waits until the file is
            // closed.
            store.closeInBackground()
        }
    }

    // MARK: MessageStore

    package func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        formers.whenFinished { [self] in
            guard $0 else { return completion(.failure(stillStoring)) }
            store.commit(changes, in: scope, completion: completion)
        }
    }

    package func commitRepeatable(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        formers.whenFinished { [self] in
            guard $0 else { return completion(.failure(stillStoring)) }
            store.commitRepeatable(changes, in: scope, completion: completion)
        }
    }

    /// Returns the counts of a scope, after all former clients (which used the file before) have ended. A client calls
    /// this method before it reads rows.
    package func summary(of scope: StoreScope) async throws -> StoreSummary {
        guard await formers.haveFinished() else { throw stillStoring }
        return try await store.summary(of: scope)
    }

    package func outgoing(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredOutgoing] {
        try await store.outgoing(in: scope, after: id, limit: limit)
    }

    package func sentOutgoing(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredOutgoing] {
        try await store.sentOutgoing(in: scope, after: id, limit: limit)
    }

    package func rejected(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [RejectedMessage] {
        try await store.rejected(in: scope, after: id, limit: limit)
    }

    package func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage] {
        try await store.incoming(in: scope, matching: filter, after: id, limit: limit)
    }

    package func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int, at time: StoreTime
    ) async throws -> [StoredMessage] {
        try await store.incoming(in: scope, matching: filter, after: id, limit: limit, at: time)
    }

    package var keepsJobs: Bool { true }

    package func jobs(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredJob] {
        try await store.jobs(in: scope, after: id, limit: limit)
    }

    package func processedKeys(of processor: String, in scope: StoreScope) async throws -> [ProcessedKey] {
        try await store.processedKeys(of: processor, in: scope)
    }

    package func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16> {
        try await store.incomingPacketIDs(in: scope)
    }

    package func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription] {
        try await store.subscriptions(in: scope)
    }
}
