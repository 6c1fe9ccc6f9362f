public import CourierCore

/// The contract of `MessageStore` as checks that an app runs on its own store.
///
/// ```swift
/// @Test func `our store keeps the laws`() async throws {
///     try await MessageStoreLaws.check { try TapeStore(at: emptyFolder()) }
///     try await MessageStoreLaws.checkLimits { try TapeStore(at: emptyFolder(), maximumBytes: 1 << 20) }
/// }
/// ```
///
/// What can be seen only across a crash, such as durability, is not among them.
public enum MessageStoreLaws {
    /// One promise of the contract.
    public enum Law: String, CaseIterable, Sendable {
        /// A new store holds nothing and has no last message id.
        case beginsEmpty
        /// A message is read with all its fields as it was stored, in either direction.
        case keepsMessages
        /// Messages are read in the order of their ids, however they were stored.
        case readsInOrderOfIDs
        /// A page holds at most `limit` messages, all above the id; the pages together are everything once.
        case pages
        /// The same id in the two directions names two messages.
        case directionsAreSeparate
        /// A message's progress is the last that was stored, also backwards, and touches no other message.
        case progressIsKept
        /// The changes of one batch take effect in their order.
        case changesApplyInOrder
        /// Removing or changing what is not there succeeds and changes nothing.
        case missingRowsAreNoError
        /// The last message id is the highest ever stored, also behind removals and `removeAll`.
        case idsGrow
        /// Incoming messages are chosen by the topic filter as MQTT matches, before pages are made.
        case incomingMatchesFilter
        /// Incoming messages whose time is over are not read and can be removed; outgoing ones stay.
        case expiryConcernsIncoming
        /// Messages keep the boot and the time since the boot, and expire as `StoredMessage.isOver(at:)` says, whatever the date
        /// does.
        case agesByBootTime
        /// The strikes of a message are the last that were stored, and its progress does not change them.
        case strikesAreKept
        /// A rejected message leaves the outgoing ones, and is read with its reason until it is removed.
        case rejectedAreKept
        /// Packet ids are a set that grows and shrinks by the changes.
        case packetIDsAreASet
        /// The session is the last that was stored, or always `nil`, and goes with `removeAll`.
        case sessionIsKept
        /// Each filter has one entry, with what was wanted last; filters are told apart by their bytes.
        case subscriptionsAreByFilter
        /// The summary counts what can be read.
        case summaryCounts
        /// Rows of one scope are not seen, counted or removed by another.
        case scopesAreSeparate
        /// Each completion is called, and once.
        case completesOnce
        /// A completion is called on a thread of the store, never inside `commit`.
        case completesOutsideOfTheCall
        /// Batches take effect, and complete, in the order of their calls.
        case batchesKeepTheirOrder
        /// A read sees every batch whose completion came before it was called.
        case readsSeeCompletedBatches
        /// A read never sees a part of a batch.
        case batchesAreAtomic
        /// Commits from many tasks and in several scopes at the same time all take effect.
        case takesConcurrentCommits
        /// A batch that a full store refuses fails with `storeFull` and has changed nothing.
        case refusalChangesNothing
        /// A full store accepts a batch that only removes, and then has room again.
        case fullStoreRemoves
        /// A rejected message makes room for a new one.
        case rejectedTakeNoRoom
    }

    /// Checks all laws but those about limits, each on a new store.
    ///
    /// - Parameters:
    ///   - makeStore: Makes a store that is new and empty.
    ///   - laws: Which laws; all by default.
    ///   - patience: How much real time each law has in all, 2 minutes by default; then it counts as broken.
    /// - Throws: ``LawViolation`` for the first law that is broken.
    public static func check(
        _ makeStore: @escaping @Sendable () async throws -> any MessageStore,
        laws: [Law] = Law.allCases.filter { !$0.concernsLimits }, patience: Duration = .seconds(120)
    ) async throws {
        for law in laws {
            try await LawRun.run(law.rawValue, patience: patience) {
                let probe = StoreProbe(try await makeStore())
                try await law.check(probe)
                try require(probe.surplus.count == 0, "a completion was called again")
            }
        }
    }

    /// Checks the laws about limits, each on a new store.
    ///
    /// - Parameters:
    ///   - makeStore: Makes a store that is new, empty and small: it has room for less than 2,000 messages of 1 KiB.
    ///   - patience: How much real time each law has in all, 2 minutes by default; then it counts as broken.
    /// - Throws: ``LawViolation`` for the first law that is broken.
    public static func checkLimits(
        _ makeStore: @escaping @Sendable () async throws -> any MessageStore, patience: Duration = .seconds(120)
    ) async throws {
        try await check(makeStore, laws: Law.allCases.filter(\.concernsLimits), patience: patience)
    }
}

extension MessageStoreLaws.Law {
    /// Whether a store with a small limit is needed.
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
