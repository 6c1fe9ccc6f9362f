/// Keeps what must not be lost when a connection, the broker or the process goes: the memory behind QoS 1 and 2.
///
/// Contract.
/// - **Who calls.** Any thread, also an event loop; several scopes at the same time. No method blocks: work is done
///   on a thread or queue of the store.
/// - **Batches.** One ``commit(_:in:completion:)`` is atomic: after a crash all of it is there or nothing. Batches
///   take effect in the order of their calls, and completions come in that order. Batches that wait while one is
///   written may be made durable together (group commit), which is why the completion, not the return, says that a
///   message is safe.
/// - **Order.** Messages are read in the order of their ids. A read sees every batch whose completion came before
///   the read was called.
/// - **Paging.** Reads give at most `limit` rows above an id, so that a store of a million rows is resumed with
///   flat memory.
/// - **Errors.** A ``CourierError`` with `storeFull` (limit or disk), `storeFailed`, `storeDamaged` or
///   `storeInUse`. A batch that fails has changed nothing, what was committed before stays, and later batches are
///   tried anew. Nothing is dropped silently.
/// - **Time.** A message is over when ``StoredMessage/isOver(at:)`` says so. The date alone does not tell it, because the
///   system's clock may be set.
/// - **Limits.** The store names its limits of rows and bytes and their defaults. A batch that only removes is
///   accepted even when it is full.
public protocol MessageStore: Sendable {
    /// Applies changes, all or none.
    ///
    /// - Parameters:
    ///   - changes: The changes, in order.
    ///   - scope: Whose rows.
    ///   - completion: Called once, on a thread of the store, when the changes are as durable as the store promises
    ///     or have failed. It must not block and must not wait for the store.
    func commit(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    )

    /// Applies changes whose loss would cost no more than a repetition, such as that a message was acknowledged: they
    /// survive the process as those of ``commit(_:in:completion:)`` do, and a power cut from the next such commit on.
    /// The order of both stays that of their calls.
    ///
    /// The default is ``commit(_:in:completion:)``.
    ///
    /// - Parameters:
    ///   - changes: The changes, in order.
    ///   - scope: Whose rows.
    ///   - completion: As that of ``commit(_:in:completion:)``.
    func commitRepeatable(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    )

    /// What the scope holds, without reading its messages.
    ///
    /// - Parameter scope: Whose rows.
    /// - Returns: Counts and the last id.
    /// - Throws: A ``CourierError`` when the store cannot be read.
    func summary(of scope: StoreScope) async throws -> StoreSummary

    /// A page of outgoing messages, oldest first.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A ``CourierError`` when the store cannot be read.
    func outgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing]

    /// A page of the outgoing messages that were sent and have not ended, oldest first: those whose progress is not
    /// ``StoredOutgoing/Progress/queued``. They may be anywhere among the others.
    ///
    /// A client asks once for each session, before its first connection. The default looks for them in the pages of
    /// ``outgoing(in:after:limit:)``, which reads all messages. A store that can find them faster should.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A ``CourierError`` when the store cannot be read.
    func sentOutgoing(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [StoredOutgoing]

    /// A page of the outgoing messages that the client gave up, in the order of their ids; see
    /// ``StoreChange/reject(_:reason:at:)``.
    ///
    /// The default is an empty page, for a store that keeps none.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A ``CourierError`` when the store cannot be read.
    func rejected(in scope: StoreScope, after id: StoredMessage.ID?, limit: Int) async throws -> [RejectedMessage]

    /// A page of incoming messages that no reader has taken and whose time is not over, oldest first.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - filter: Only messages that match it; `nil` for all.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A ``CourierError`` when the store cannot be read.
    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [StoredMessage]

    /// A page of incoming messages that no reader has taken and whose time is not over at a moment that the caller names,
    /// oldest first. The client calls this one.
    ///
    /// The default is ``incoming(in:matching:after:limit:)``, which goes by the store's own clock.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - filter: Only messages that match it; `nil` for all.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    ///   - time: The present moment.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A ``CourierError`` when the store cannot be read.
    func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int, at time: StoreTime
    ) async throws -> [StoredMessage]

    /// The packet ids of QoS 2 messages whose PUBREL has not come; at most 65,535.
    ///
    /// - Parameter scope: Whose rows.
    /// - Returns: The ids.
    /// - Throws: A ``CourierError`` when the store cannot be read.
    func incomingPacketIDs(in scope: StoreScope) async throws -> Set<UInt16>

    /// The filters that the client wants or wants to be rid of.
    ///
    /// - Parameter scope: Whose rows.
    /// - Returns: One entry for each filter.
    /// - Throws: A ``CourierError`` when the store cannot be read.
    func subscriptions(in scope: StoreScope) async throws -> [StoredSubscription]
}

extension MessageStore {
    /// Commits, for a store that makes no difference.
    ///
    /// - Parameters:
    ///   - changes: The changes, in order.
    ///   - scope: Whose rows.
    ///   - completion: Called once, when the changes are stored or have failed.
    public func commitRepeatable(
        _ changes: [StoreChange], in scope: StoreScope,
        completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) {
        commit(changes, in: scope, completion: completion)
    }

    /// No messages, because a store need not keep rejected messages.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - id: The last id of the page before.
    ///   - limit: At most this many.
    /// - Returns: An empty page.
    /// - Throws: Nothing; a store of its own may.
    public func rejected(
        in scope: StoreScope, after id: StoredMessage.ID?, limit: Int
    ) async throws -> [RejectedMessage] { [] }

    /// Reads by the store's own clock.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - filter: Only messages that match it; `nil` for all.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    ///   - time: The present moment.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A ``CourierError`` when the store cannot be read.
    public func incoming(
        in scope: StoreScope, matching filter: TopicFilter?, after id: StoredMessage.ID?, limit: Int, at time: StoreTime
    ) async throws -> [StoredMessage] {
        try await incoming(in: scope, matching: filter, after: id, limit: limit)
    }

    /// Looks for sent messages in the pages of all outgoing ones, of 500 messages each.
    ///
    /// - Parameters:
    ///   - scope: Whose rows.
    ///   - id: The last id of the page before; `nil` for the first page.
    ///   - limit: At most this many.
    /// - Returns: The page. It is empty after the last page.
    /// - Throws: A ``CourierError`` when the store cannot be read.
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
