public import CourierCore
import Dispatch
public import Foundation
import Synchronization

/// A message store in memory. Its contents remain when a connection or the client ends, and are lost when the process
/// ends.
///
/// ```swift
/// let store = MemoryMessageStore()  // One store for all clients of the process; each client has its own scope.
/// ```
///
/// The changes take effect before ``commit(_:in:completion:)`` returns. Completions are called on a queue of the store,
/// in the order of the commits, while no lock is held. A subscription counts as a row toward the limit of rows, and a
/// packet id does not. An `enqueue` or `keep` with an id that is in use replaces the row with this id.
///
/// If a commit would exceed a limit, it fails with `storeFull` and changes nothing. The store drops no rows to make
/// room. A commit that removes at least as much as it adds is always accepted.
public final class MemoryMessageStore: MessageStore {
    /// The default limit of rows in all scopes together: 100,000.
    public static let defaultMaximumRows = 100_000

    /// The default limit of bytes of payloads, topics and properties in all scopes together: 64 MiB.
    public static let defaultMaximumBytes = 64 * 1_024 * 1_024

    /// The largest number of rows that are read in one locked section.
    private static let rowsAtATime = 512

    /// A completion that waits to be called, and the result for it.
    private struct Completion: Sendable {
        let call: @Sendable (Result<Void, CourierError>) -> Void
        let result: Result<Void, CourierError>
    }

    private struct State: Sendable {
        var contents: StoreContents
        var completions: [Completion] = []
        /// True if a block on the queue is scheduled to call completions.
        var isScheduled = false
    }

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "courier.memory-message-store")
    private let date: @Sendable () -> Date

    /// Makes an empty store.
    ///
    /// - Parameters:
    ///   - maximumRows: The limit of messages and subscriptions in all scopes together, ``defaultMaximumRows`` by
    ///     default.
    ///   - maximumBytes: The limit of bytes of payloads, topics and properties in all scopes together,
    ///     ``defaultMaximumBytes`` by default.
    ///   - date: Returns the current date; the system's clock by default. The store uses the date for the age of
    ///     incoming messages that were stored before the last boot of the system.
    public init(
        maximumRows: Int = MemoryMessageStore.defaultMaximumRows,
        maximumBytes: Int = MemoryMessageStore.defaultMaximumBytes, date: @escaping @Sendable () -> Date = { Date() }
    ) {
        let limit = StoreSize(rows: maximumRows, bytes: maximumBytes)
        state = Mutex(State(contents: StoreContents(limit: limit)))
        self.date = date
    }

    /// Applies all changes, or none if they do not fit; see ``CourierCore/MessageStore``.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order in which they are applied.
    ///   - scope: The scope of the rows.
    ///   - completion: Called once, on a queue of the store, after the completions of earlier batches.
    public func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        let mustSchedule = state.withLock { state in
            let result: Result<Void, CourierError>
            do throws(CourierError) {
                try state.contents.apply(changes, in: scope)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            state.completions.append(Completion(call: completion, result: result))
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.async { self.complete() } }
    }

    /// Counts the rows of a scope, including expired rows.
    ///
    /// - Parameter scope: The scope of the rows.
    /// - Returns: The counts, the last message id and the session.
    public func summary(of scope: StoreScope) async -> StoreSummary {
        state.withLock { state in
            let rows = state.contents[scope]
            return StoreSummary(
                outgoingCount: rows.outgoing.count, incomingCount: rows.incoming.count,
                payloadBytes: rows.payloadBytes, lastMessageID: rows.lastMessageID, session: rows.session)
        }
    }

    /// Returns a page of outgoing messages, oldest first.
    ///
    /// - Parameters:
    ///   - scope: The scope of the rows.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The largest number of messages in the page.
    /// - Returns: The page; empty if no more messages follow.
    public func outgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async -> [StoredOutgoing] {
        var page: [StoredOutgoing] = []
        var last = id
        while page.count < limit {
            let count = min(limit - page.count, Self.rowsAtATime)
            let (rows, end) = chunk(scope, { $0.outgoing }, after: last, count)
            page += rows
            guard let end else { break }
            last = end
        }
        return page
    }

    /// Returns a page of incoming messages that no reader has taken and that have not expired, oldest first.
    ///
    /// - Parameters:
    ///   - scope: The scope of the rows.
    ///   - filter: Only messages that match this filter are returned; `nil` for all messages.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The largest number of messages in the page.
    /// - Returns: The page; empty if no more messages follow.
    public func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async -> [StoredMessage] {
        await incoming(
            in: scope, matching: filter, after: id, limit: limit, at: StoreTime(date: date(), bootTime: .now))
    }

    /// Returns a page of incoming messages that no reader has taken and that have not expired at `time`, oldest first.
    ///
    /// - Parameters:
    ///   - scope: The scope of the rows.
    ///   - filter: Only messages that match this filter are returned; `nil` for all messages.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The largest number of messages in the page.
    ///   - time: The present time.
    /// - Returns: The page; empty if no more messages follow.
    public func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int, at time: StoreTime
    ) async -> [StoredMessage] {
        var page: [StoredMessage] = []
        var last = id
        while page.count < limit {
            let (rows, end) = chunk(scope, { $0.incoming }, after: last, Self.rowsAtATime)
            for row in rows where page.count < limit && !row.isOver(at: time) && row.matches(filter) {
                page.append(row)
            }
            guard let end else { break }
            last = end
        }
        return page
    }

    /// Returns a page of rejected outgoing messages, in the order of their ids.
    ///
    /// The store keeps at most 1,000 rejected messages of all scopes, with at most 16 MiB of payloads, topics and
    /// properties. The store removes the oldest messages first.
    ///
    /// - Parameters:
    ///   - scope: The scope of the rows.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The largest number of messages in the page.
    /// - Returns: The page; empty if no more messages follow.
    public func rejected(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async -> [RejectedMessage] {
        state.withLock { $0.contents.rejected(in: scope, after: id, limit: limit) }
    }

    /// `true`.
    public var keepsJobs: Bool { true }

    /// Returns a page of jobs, in the order of their ids.
    ///
    /// - Parameters:
    ///   - scope: The scope of the rows.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The largest number of jobs in the page.
    /// - Returns: The page. It is empty after the last page.
    public func jobs(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async -> [StoredJob] {
        var page: [StoredJob] = []
        var last = id
        while page.count < limit {
            let (rows, end) = chunk(scope, { $0.jobs }, after: last, min(limit - page.count, Self.rowsAtATime))
            page += rows
            guard let end else { break }
            last = end
        }
        return page
    }

    /// Returns the keys of handled messages of a processor.
    ///
    /// - Parameters:
    ///   - processor: The name of the processor.
    ///   - scope: The scope of the rows.
    /// - Returns: The keys.
    public func processedKeys(of processor: String, in scope: StoreScope) async -> [ProcessedKey] {
        state.withLock { $0.contents[scope].processedKeys[processor].map { Array($0.values) } ?? [] }
    }

    /// Returns the packet ids of received QoS 2 messages whose PUBREL has not arrived.
    ///
    /// - Parameter scope: The scope of the rows.
    /// - Returns: The packet ids.
    public func incomingPacketIDs(in scope: StoreScope) async -> Set<UInt16> {
        state.withLock { $0.contents[scope].packetIDs }
    }

    /// Returns the filters that the client wants to subscribe to or unsubscribe from, in the order of their text.
    ///
    /// - Parameter scope: The scope of the rows.
    /// - Returns: One entry for each filter.
    public func subscriptions(in scope: StoreScope) async -> [StoredSubscription] {
        let wanted = state.withLock { $0.contents[scope].subscriptions }
        return wanted.map { StoredSubscription($0.key, $0.value) }.sorted { $0.filter.string < $1.filter.string }
    }

    private func chunk<Row>(
        _ scope: StoreScope, _ rows: (StoreContents.Scope) -> MessageRows<Row>, after id: StoredMessage.ID?,
        _ count: Int
    ) -> ([Row], StoredMessage.ID?) {
        state.withLock { state in
            var found: [Row] = []
            let end = rows(state.contents[scope]).visit(after: id, limit: count) { found.append($0) }
            return (found, end)
        }
    }

    /// Calls the waiting completions until none is left. Runs on the store's queue, one call at a time.
    private func complete() {
        while true {
            let ready = state.withLock { state in
                let ready = state.completions
                state.completions = []
                if ready.isEmpty { state.isScheduled = false }
                return ready
            }
            if ready.isEmpty { return }
            for completion in ready { completion.call(completion.result) }
        }
    }
}
