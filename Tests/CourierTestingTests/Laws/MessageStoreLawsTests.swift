import CourierTesting
import Testing

@Suite struct `Laws of a message store` {
    @Test func `a correct message store passes all checks of MessageStoreLaws`() async throws {
        try await MessageStoreLaws.check { FaultyStore() }
        try await MessageStoreLaws.checkLimits { FaultyStore(limit: 7) }
    }

    /// The law that each fault breaks. The switch is exhaustive, so that each fault has a law.
    private static func law(brokenBy fault: FaultyStore.Fault) -> MessageStoreLaws.Law {
        switch fault {
        case .beginsWithAnID: .beginsEmpty
        case .losesProperties: .keepsMessages
        case .readsNewestFirst: .readsInOrderOfIDs
        case .repeatsLastOfPage, .ignoresLimit: .pages
        case .mixesDirections: .directionsAreSeparate
        case .neverGoesBack: .progressIsKept
        case .appliesInReverse: .changesApplyInOrder
        case .failsForMissing, .revivesRemoved: .missingRowsAreNoError
        case .forgetsLastID, .countsIDsOfRows: .idsGrow
        case .ignoresFilter, .filtersPages: .incomingMatchesFilter
        case .showsExpired, .keepsExpired, .expiresOutgoing: .expiryConcernsIncoming
        case .agesByDate, .forgetsBootTime: .agesByBootTime
        case .forgetsStrikes, .dropsStrikesOnProgress: .strikesAreKept
        case .sendsRejected, .forgetsRejected: .rejectedAreKept
        case .keepsJobState, .forgetsJobs: .jobsAreKept
        case .mixesKeys: .processedKeysAreKept
        case .countsRejected: .rejectedTakeNoRoom
        case .neverForgetsPacketIDs: .packetIDsAreASet
        case .keepsEveryIntent, .folds: .subscriptionsAreByFilter
        case .countsOneDirection: .summaryCounts
        case .keepsFirstSession, .keepsSessionOfRemoved: .sessionIsKept
        case .ignoresBroker, .joinsNames, .removesEverywhere: .scopesAreSeparate
        case .completesTwice, .completesNever: .completesOnce
        case .completesInside: .completesOutsideOfTheCall
        case .completesInReverse: .batchesKeepTheirOrder
        case .appliesLate: .readsSeeCompletedBatches
        case .splitsBatches: .batchesAreAtomic
        case .dropsWhenBusy: .takesConcurrentCommits
        case .keepsPartOfRefused, .countsRefusedIDs, .refusesVaguely: .refusalChangesNothing
        case .refusesRemovals, .neverHasRoomAgain: .fullStoreRemoves
        }
    }

    @Test(arguments: FaultyStore.Fault.allCases)
    func `for each faulty message store, MessageStoreLaws reports a violation of the expected law`(
        fault: FaultyStore.Fault
    )
        async throws
    {
        let law = Self.law(brokenBy: fault)
        let isSeenByWaiting = fault == .completesNever
        let patience = isSeenByWaiting ? Duration.milliseconds(100) : .seconds(120)
        let violation = await #expect(throws: LawViolation.self) {
            try await MessageStoreLaws.check(
                { FaultyStore(fault, limit: law.concernsLimits ? 7 : .max) }, laws: [law], patience: patience)
        }
        #expect(violation?.law == law.rawValue)
        #expect(violation?.finding.contains("did not happen within") == isSeenByWaiting)
    }

    @Test func `for each message store law, at least one faulty store violates the law`() {
        #expect(Set(FaultyStore.Fault.allCases.map(Self.law)) == Set(MessageStoreLaws.Law.allCases))
    }

    @Test func `the description of a violation names the violated law and the observed behavior`() async throws {
        let violation = await #expect(throws: LawViolation.self) {
            try await MessageStoreLaws.check { FaultyStore(.ignoresLimit) }
        }
        #expect(violation?.description == "pages: a page has 25 outgoing messages, but the limit is 1")
    }

    @Test func `checkLimits() of MessageStoreLaws reports a violation if a store is never full`() async throws {
        let violation = await #expect(throws: LawViolation.self) {
            try await MessageStoreLaws.checkLimits { FaultyStore() }
        }
        #expect(violation?.finding.contains("smaller limit") == true)
    }
}
