/// Stores messages, packet ids and subscriptions that must survive the end of a connection, the broker or the process.
/// The client needs the store to deliver messages of QoS 1 and 2 reliably.
///
/// Rules for implementations:
/// - **Callers.** Any thread may call the methods, including the thread of an event loop. Calls for several scopes may
///   run at the same time. No method blocks: the store works on its own thread or queue.
/// - **Batches.** A ``commit(_:in:completion:)`` is atomic: after a crash, either all of its changes are stored or
///   none. Batches take effect in the order of their calls, and their completions are called in that order. While the
///   store writes one batch, it may collect waiting batches and write them together (group commit). So a message is
///   stored only when the completion is called, and not yet when the method returns.
/// - **Order.** Messages are read in the order of their ids. A read returns the changes of every batch that was
///   completed before the read was called.
/// - **Paging.** Reads return at most `limit` rows with ids above a given id. So the client can read a store of a
///   million rows with little memory.
/// - **Errors.** An error is a ``CourierError`` with `storeFull` (limit or disk), `storeFailed`, `storeDamaged` or
///   `storeInUse`. A failed batch changes nothing, and earlier commits remain. After a failure, the store still tries
///   to write later batches. The store never drops a change without an error.
/// - **Time.** A message has expired if ``StoredMessage/isOver(at:)`` returns `true`. A store must not compare only
///   dates, because the system's date may be changed.
/// - **Limits.** The store documents its limits of rows and bytes and their defaults. A batch that only removes rows is
///   accepted even if the store is full.
public protocol MessageStore: Sendable {
    /// Applies all changes or none.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order in which they take effect.
    ///   - scope: The client id and broker that the rows belong to.
    ///   - completion: Called once, on a thread of the store, when the changes are as durable as the store promises, or
    ///     when the commit has failed. The completion must not block and must not wait for the store.
    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    )

    /// Applies changes that a power failure may undo, such as the removal of an acknowledged message. If such changes
    /// are lost, the client only repeats a packet or a message.
    ///
    /// The changes survive the end of the process, like the changes of ``commit(_:in:completion:)``. They survive a
    /// power failure only after a later call of ``commit(_:in:completion:)`` has completed. Calls of both methods take
    /// effect in the order of the calls.
    ///
    /// The default implementation calls ``commit(_:in:completion:)``.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order in which they take effect.
    ///   - scope: The client id and broker that the rows belong to.
    ///   - completion: The same as for ``commit(_:in:completion:)``.
    func commitRepeatable(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    )

    /// Returns the number and size of the scope's messages, without reading them.
    ///
    /// - Parameter scope: The client id and broker that the rows belong to.
    /// - Returns: The number of messages, the number of payload bytes, the last message id, and the session that the
    ///   packet ids belong to.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func summary(of scope: StoreScope) async throws -> StoreSummary

    /// Returns a page of outgoing messages, oldest first.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func outgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing]

    /// Returns a page of the outgoing messages that were sent and are not finally acknowledged, oldest first. The
    /// progress of these messages is not ``StoredOutgoing/Progress/queued``. The ids of queued messages may be smaller
    /// or larger than the ids of sent messages.
    ///
    /// A client calls this method once for each session, before the session's first connection. The default
    /// implementation searches the pages of ``outgoing(in:after:limit:)``, so it reads all messages. If a store can
    /// find the sent messages faster, it should implement this method.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func sentOutgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing]

    /// Returns a page of the outgoing messages that the client rejected (stopped sending), in the order of their ids;
    /// see ``StoreChange/reject(_:reason:at:)``.
    ///
    /// The default implementation returns an empty page, for a store that keeps no rejected messages.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func rejected(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [RejectedMessage]

    /// Returns a page of incoming messages that no reader has taken and that have not expired, oldest first.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - filter: The filter that the messages must match; `nil` for all messages.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage]

    /// Returns a page of incoming messages that no reader has taken and that have not expired at the given time, oldest
    /// first. The client always calls this method, and never ``incoming(in:matching:after:limit:)``.
    ///
    /// The default implementation calls ``incoming(in:matching:after:limit:)``, which uses the store's own clock.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - filter: The filter that the messages must match; `nil` for all messages.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    ///   - time: The current time.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int, at time: StoreTime
    ) async throws -> [StoredMessage]

    /// Whether the store keeps jobs, which are the messages that a ``MessageProcessor`` must handle. `false` by default.
    /// A client with a store that keeps no jobs cannot process messages.
    var keepsJobs: Bool { get }

    /// Returns a page of jobs, in the order of their ids. The default implementation returns an empty page.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of jobs.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func jobs(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredJob]

    /// Returns the job with this id; `nil` if there is none. The default implementation reads one job with
    /// ``jobs(in:after:limit:)``.
    ///
    /// - Parameters:
    ///   - id: The id of the job's message.
    ///   - scope: The client id and broker that the rows belong to.
    /// - Returns: The job.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func job(_ id: StoredMessage.ID, in scope: StoreScope) async throws -> StoredJob?

    /// Returns the keys of handled messages of a processor, in any order. The default implementation returns none.
    ///
    /// - Parameters:
    ///   - processor: The name of the processor.
    ///   - scope: The client id and broker that the rows belong to.
    /// - Returns: The keys. If there are more keys than the processor's limit, the client removes keys.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func processedKeys(of processor: String, in scope: StoreScope) async throws -> [ProcessedKey]

    /// Returns the packet ids of received QoS 2 messages whose PUBREL has not arrived; at most 65,535.
    ///
    /// - Parameter scope: The client id and broker that the rows belong to.
    /// - Returns: The ids.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16>

    /// Returns the filters that the client wants to subscribe to or to unsubscribe from.
    ///
    /// - Parameter scope: The client id and broker that the rows belong to.
    /// - Returns: One entry for each filter.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription]
}

extension MessageStore {
    /// Calls ``commit(_:in:completion:)``, for a store that has no faster way to store changes that may be lost.
    ///
    /// - Parameters:
    ///   - changes: The changes, in the order in which they take effect.
    ///   - scope: The client id and broker that the rows belong to.
    ///   - completion: Called once, when the changes are stored or have failed.
    public func commitRepeatable(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        commit(changes, in: scope, completion: completion)
    }

    /// Returns `false`, so that a store that keeps no jobs need not implement this property.
    public var keepsJobs: Bool { false }

    /// Returns no jobs.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page.
    ///   - limit: The maximum number of jobs.
    /// - Returns: An empty page.
    /// - Throws: Nothing. Another implementation may throw.
    public func jobs(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredJob] { [] }

    /// Reads a page of one job, and returns the job if it has this id.
    ///
    /// - Parameters:
    ///   - id: The id of the job's message.
    ///   - scope: The client id and broker that the rows belong to.
    /// - Returns: The job; `nil` if there is none.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    public func job(_ id: StoredMessage.ID, in scope: StoreScope) async throws -> StoredJob? {
        let before = id.rawValue == 0 ? nil : StoredMessage.ID(rawValue: id.rawValue - 1)
        let found = try await jobs(in: scope, after: before, limit: 1).first
        return found?.message.id == id ? found : nil
    }

    /// Returns no keys.
    ///
    /// - Parameters:
    ///   - processor: The name of the processor.
    ///   - scope: The client id and broker that the rows belong to.
    /// - Returns: No keys.
    /// - Throws: Nothing. Another implementation may throw.
    public func processedKeys(of processor: String, in scope: StoreScope) async throws -> [ProcessedKey] { [] }

    /// Returns no messages, because a store need not keep rejected messages.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page.
    ///   - limit: The maximum number of messages.
    /// - Returns: An empty page.
    /// - Throws: Nothing. Another implementation may throw.
    public func rejected(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [RejectedMessage] { [] }

    /// Returns the messages that have not expired by the store's own clock, and ignores `time`.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - filter: The filter that the messages must match; `nil` for all messages.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    ///   - time: The current time.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    public func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int, at time: StoreTime
    ) async throws -> [StoredMessage] {
        try await incoming(in: scope, matching: filter, after: id, limit: limit)
    }

    /// Reads the outgoing messages in pages of 500, and returns the messages that were sent.
    ///
    /// - Parameters:
    ///   - scope: The client id and broker that the rows belong to.
    ///   - id: The last id of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of messages.
    /// - Returns: The page; empty if no more messages follow.
    /// - Throws: A ``CourierError`` if the store cannot be read.
    public func sentOutgoing(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredOutgoing] {
        let pageSize = 500
        var (sent, last): ([StoredOutgoing], StoredMessage.ID?) = ([], id)
        while sent.count < limit {
            let page = try await outgoing(in: scope, after: last, limit: pageSize)
            sent += page.filter { $0.progress != .queued }
            guard page.count == pageSize else { break }
            last = page.last?.message.id
        }
        return Array(sent.prefix(max(limit, 0)))
    }
}
