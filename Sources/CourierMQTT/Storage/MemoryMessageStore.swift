public import CourierCore
import Dispatch
public import Foundation
import Synchronization

/// A message store in memory. Its rows survive a lost connection and the client, but not the process.
///
/// ```swift
/// let store = MemoryMessageStore()  // One for all clients of the process; they are told apart by their scopes.
/// ```
///
/// A batch takes effect before ``commit(_:in:completion:)`` returns; its completion comes on a queue of the store,
/// without a lock held, in the order of the batches. Subscriptions count as rows, packet ids do not. An `enqueue` or
/// `keep` with an id that is in use replaces the row.
///
/// When a limit is reached, a batch that would add to it fails with `storeFull` and
/// changes nothing; nothing is dropped to make room. A batch that removes as much as it adds is accepted.
public final class MemoryMessageStore: MessageStore {
    /// How many rows all scopes have together unless said otherwise: 100,000.
    public static let defaultMaximumRows = 100_000

    /// How many bytes of payloads, topics and properties all scopes have together unless said otherwise: 64 MiB.
    public static let defaultMaximumBytes = 64 * 1_024 * 1_024

    /// How many rows are looked at under the lock at a time.
    private static let rowsAtATime = 512

    private struct Completion: Sendable {
        let call: @Sendable (Result<Void, CourierError>) -> Void
        let result: Result<Void, CourierError>
    }

    private struct State: Sendable {
        var contents: StoreContents
        var completions: [Completion] = []
        /// Whether the queue is scheduled to call completions.
        var isScheduled = false
    }

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "courier.memory-message-store")
    private let date: @Sendable () -> Date

    /// Makes an empty store.
    ///
    /// - Parameters:
    ///   - maximumRows: How many messages and subscriptions all scopes have together, ``defaultMaximumRows`` by default.
    ///   - maximumBytes: How many bytes of payloads, topics and properties all scopes have together,
    ///     ``defaultMaximumBytes`` by default.
    ///   - date: Says what time it is, for incoming messages that expire; the system's clock by default. It decides only about
    ///     messages that were not stored in the present boot.
    public init(
        maximumRows: Int = MemoryMessageStore.defaultMaximumRows,
        maximumBytes: Int = MemoryMessageStore.defaultMaximumBytes, date: @escaping @Sendable () -> Date = { Date() }
    ) {
        let limit = StoreSize(rows: maximumRows, bytes: maximumBytes)
        state = Mutex(State(contents: StoreContents(limit: limit)))
        self.date = date
    }

    /// Applies changes, all or none; see ``CourierCore/MessageStore``.
    ///
    /// - Parameters:
    ///   - changes: The changes, in order.
    ///   - scope: The scope.
    ///   - completion: Called once, on a queue of the store, after those of earlier batches.
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

    /// Counts the rows of a scope, including expired ones.
    ///
    /// - Parameter scope: Whose rows.
    /// - Returns: Counts and the last id.
    public func summary(of scope: StoreScope) async -> StoreSummary {
        state.withLock { state in
            let rows = state.contents[scope]
            return StoreSummary(
                outgoingCount: rows.outgoing.count, incomingCount: rows.incoming.count,
                payloadBytes: rows.payloadBytes, lastMessageID: rows.lastMessageID, session: rows.session)
        }
    }

    /// A page of outgoing messages, oldest first.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
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

    /// A page of incoming messages that no reader has taken and whose time is not over, oldest first.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - filter: Only messages that match it; `nil` for all.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
    public func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async -> [StoredMessage] {
        await incoming(
            in: scope, matching: filter, after: id, limit: limit, at: StoreTime(date: date(), bootTime: .now))
    }

    /// A page of incoming messages that no reader has taken and whose time is not over at a moment, oldest first.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - filter: Only messages that match it; `nil` for all.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    ///   - time: The present moment.
    /// - Returns: The page. It is empty after the last page.
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

    /// A page of the outgoing messages that the client gave up, in the order of their ids.
    ///
    /// The store keeps 1,000 of them for all scopes, with 16 MiB of payloads, topics and properties. The oldest go first.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
    public func rejected(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async -> [RejectedMessage] {
        state.withLock { $0.contents.rejected(in: scope, after: id, limit: limit) }
    }

    /// The packet ids of QoS 2 messages whose PUBREL has not come.
    ///
    /// - Parameter scope: Whose rows.
    /// - Returns: The ids.
    public func incomingPacketIDs(in scope: StoreScope) async -> Set<UInt16> {
        state.withLock { $0.contents[scope].packetIDs }
    }

    /// The filters that the client wants or wants to be rid of, in the order of their text.
    ///
    /// - Parameter scope: Whose rows.
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

    /// Calls completions until none is left; on the queue, one call at a time.
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
