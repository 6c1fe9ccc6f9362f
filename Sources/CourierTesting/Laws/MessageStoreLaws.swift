public import CourierCore

/// Checks the contract of `MessageStore`. An app runs these checks on its own store.
///
/// ```swift
/// @Test func `our store passes MessageStoreLaws`() async throws {
///     try await MessageStoreLaws.check { try TapeStore(at: emptyFolder()) }
///     try await MessageStoreLaws.checkLimits { try TapeStore(at: emptyFolder(), maximumBytes: 1 << 20) }
/// }
/// ```
///
/// The checks do not cover behavior across a crash, such as durability.
public enum MessageStoreLaws {
    /// One requirement of the contract.
    public enum Law: String, CaseIterable, Sendable {
        /// A new store holds nothing and has no last message id.
        case beginsEmpty
        /// A stored message is read with all its fields unchanged, whether it is outgoing or incoming.
        case keepsMessages
        /// Messages are read in the order of their ids, even if they were stored in another order.
        case readsInOrderOfIDs
        /// One read returns a page: at most `limit` messages, all with ids above the given id. All pages together
        /// contain each message once.
        case pages
        /// An outgoing and an incoming message with the same id are two different messages.
        case directionsAreSeparate
        /// A message's progress is the last stored value, even if that value is an earlier step of the delivery.
        /// Storing it changes no other message.
        case progressIsKept
        /// The changes of one batch take effect in their order.
        case changesApplyInOrder
        /// Removing or changing a missing row succeeds and changes nothing.
        case missingRowsAreNoError
        /// The last message id is the highest id ever stored, even after removals and `removeAll`.
        case idsGrow
        /// The topic filter selects incoming messages by MQTT's rules, before the limit of a page applies.
        case incomingMatchesFilter
        /// Expired incoming messages are not read and can be removed. Expired outgoing messages remain.
        case expiryConcernsIncoming
        /// A message is read with the boot id and the time since boot that were stored. It expires as
        /// `StoredMessage.isOver(at:)` defines, even if the date changes.
        case agesByBootTime
        /// A message is read with the last stored number of its strikes. A strike is a connection that ended right
        /// after the message was sent. A change of the message's progress does not change the strikes.
        case strikesAreKept
        /// A rejected message is no longer an outgoing message. It is read with its reason until it is removed.
        case rejectedAreKept
        /// A job is a received message that a processor must handle. It is read with its last state until it is
        /// removed. It is not read as an incoming message. The law concerns only stores that keep jobs.
        case jobsAreKept
        /// A store keeps the key of each message that a processor has handled, with a time. The key is read with the
        /// last stored time until it is removed. Each processor has its own keys. The law concerns only stores that
        /// keep jobs.
        case processedKeysAreKept
        /// The packet ids form a set. Changes add packet ids to the set and remove them from it.
        case packetIDsAreASet
        /// The stored session is the last session that was committed, or always `nil` if the store keeps no session.
        /// `removeAll` removes the session.
        case sessionIsKept
        /// Each filter has one entry with the last stored value of that filter. Filters are compared by their bytes.
        case subscriptionsAreByFilter
        /// The summary counts the rows that can be read.
        case summaryCounts
        /// Rows of one scope (client id and broker) cannot be seen, counted or removed in another scope.
        case scopesAreSeparate
        /// Each completion is called exactly once.
        case completesOnce
        /// A completion is called on a thread of the store, never during the call of `commit`.
        case completesOutsideOfTheCall
        /// Batches take effect and complete in the order of their calls.
        case batchesKeepTheirOrder
        /// A read sees every batch that completed before the read was called.
        case readsSeeCompletedBatches
        /// A read never sees a part of a batch.
        case batchesAreAtomic
        /// Concurrent commits from many tasks and in several scopes all take effect.
        case takesConcurrentCommits
        /// If a full store refuses a batch, the batch fails with `storeFull` and changes nothing.
        case refusalChangesNothing
        /// A full store accepts a batch that only removes rows, and then has room again.
        case fullStoreRemoves
        /// A rejected message does not count against the limit of the store.
        case rejectedTakeNoRoom
    }

    /// Checks all laws except those about limits, each on a new store.
    ///
    /// - Parameters:
    ///   - makeStore: Makes a store that is new and empty.
    ///   - laws: The laws to check; all by default.
    ///   - patience: The real time limit of each law, 2 minutes by default. After this time, the law counts as broken.
    /// - Throws: ``LawViolation`` for the first law that is broken.
    public static func check(
        _ makeStore: @escaping @Sendable () async throws -> any MessageStore,
        laws: [Law] = Law.allCases.filter { !$0.concernsLimits }, patience: Duration = .seconds(120)
    ) async throws {
        for law in laws {
            try await LawRun.run(law.rawValue, patience: patience) {
                let probe = StoreProbe(try await makeStore())
                try await law.check(probe)
                try require(probe.surplus.count == 0, "the store called a completion more than once")
            }
        }
    }

    /// Checks the laws about limits, each on a new store.
    ///
    /// - Parameters:
    ///   - makeStore: Makes a store that is new, empty and so small that it cannot hold 2,000 messages of 1 KiB.
    ///   - patience: The real time limit of each law, 2 minutes by default. After this time, the law counts as broken.
    /// - Throws: ``LawViolation`` for the first law that is broken.
    public static func checkLimits(
        _ makeStore: @escaping @Sendable () async throws -> any MessageStore, patience: Duration = .seconds(120)
    ) async throws {
        try await check(makeStore, laws: Law.allCases.filter(\.concernsLimits), patience: patience)
    }
}

extension MessageStoreLaws.Law {
    /// Whether the law needs a store with a small limit.
    public var concernsLimits: Bool {
        [.refusalChangesNothing, .fullStoreRemoves, .rejectedTakeNoRoom].contains(self)
    }

    fileprivate func check(_ probe: StoreProbe) async throws {
        switch self {
        case .beginsEmpty: try await StoreContentLaws.beginsEmpty(probe)
        case .keepsMessages: try await StoreContentLaws.keepsMessages(probe)
        case .readsInOrderOfIDs: try await StoreContentLaws.readsInOrderOfIDs(probe)
        case .pages: try await StoreContentLaws.pages(probe)
        case .directionsAreSeparate: try await StoreContentLaws.directionsAreSeparate(probe)
        case .progressIsKept: try await StoreContentLaws.progressIsKept(probe)
        case .changesApplyInOrder: try await StoreContentLaws.changesApplyInOrder(probe)
        case .missingRowsAreNoError: try await StoreContentLaws.missingRowsAreNoError(probe)
        case .idsGrow: try await StoreContentLaws.idsGrow(probe)
        case .incomingMatchesFilter: try await StoreContentLaws.incomingMatchesFilter(probe)
        case .expiryConcernsIncoming: try await StoreContentLaws.expiryConcernsIncoming(probe)
        case .agesByBootTime: try await StoreAgeLaws.agesByBootTime(probe)
        case .strikesAreKept: try await StoreRejectionLaws.strikesAreKept(probe)
        case .rejectedAreKept: try await StoreRejectionLaws.rejectedAreKept(probe)
        case .jobsAreKept: try await StoreJobLaws.jobsAreKept(probe)
        case .processedKeysAreKept: try await StoreJobLaws.processedKeysAreKept(probe)
        case .packetIDsAreASet: try await StoreContentLaws.packetIDsAreASet(probe)
        case .sessionIsKept: try await StoreContentLaws.sessionIsKept(probe)
        case .subscriptionsAreByFilter: try await StoreContentLaws.subscriptionsAreByFilter(probe)
        case .summaryCounts: try await StoreContentLaws.summaryCounts(probe)
        case .scopesAreSeparate: try await StoreContentLaws.scopesAreSeparate(probe)
        case .completesOnce: try await StoreCommitLaws.completesOnce(probe)
        case .completesOutsideOfTheCall: try await StoreCommitLaws.completesOutsideOfTheCall(probe)
        case .batchesKeepTheirOrder: try await StoreCommitLaws.batchesKeepTheirOrder(probe)
        case .readsSeeCompletedBatches: try await StoreCommitLaws.readsSeeCompletedBatches(probe)
        case .batchesAreAtomic: try await StoreCommitLaws.batchesAreAtomic(probe)
        case .takesConcurrentCommits: try await StoreCommitLaws.takesConcurrentCommits(probe)
        case .refusalChangesNothing: try await StoreLimitLaws.refusalChangesNothing(probe)
        case .fullStoreRemoves: try await StoreLimitLaws.fullStoreRemoves(probe)
        case .rejectedTakeNoRoom: try await StoreLimitLaws.rejectedTakeNoRoom(probe)
        }
    }
}
