import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The result of a publish if the queue has no room.
extension OutgoingRulesTests {
    /// The place where ten messages wait.
    enum WaitingPlace: CaseIterable, Sendable { case fullSession, offline, slowStore }

    /// Runs `body` with 10 messages that wait, the limit of `policy`. `inFlight` says how many messages came before them.
    private static func full(
        _ setup: OutgoingSetup, _ overflow: OfflinePolicy.Overflow, _ place: WaitingPlace,
        _ body: (ScriptedWorld, PublishRecord, _ inFlight: Int, _ release: @Sendable () -> Void) async throws -> Void
    ) async throws {
        let policy = OfflinePolicy(maximumCount: 10, overflow: overflow)
        switch place {
        case .fullSession:
            try await setup.connected(policy) { world, gate in
                let record = PublishRecord(world, setup)
                for _ in 0..<2 {  // No more than 10 wait at any time.
                    for _ in 0..<10 { await record.offer(.completion) }
                    await world.soon { await world.publishes().count == record.offeredCount }
                }
                for _ in 0..<10 { await record.offer(.completion) }
                await world.settle()
                #expect(record.open == Array(0..<30))
                try await body(world, record, 20) { gate.release() }
            }
        case .offline:
            try await setup.offline(policy) { world in
                let record = PublishRecord(world, setup)
                for _ in 0..<10 { await record.offer(.completion) }
                await world.settle()
                #expect(record.open == Array(0..<10))
                try await body(world, record, 0) {}
            }
        case .slowStore:
            let store = ControlledStore()
            try await setup.connected(policy, store: store) { world, gate in
                gate.release()
                store.hold()
                let record = PublishRecord(world, setup)
                for _ in 0..<10 { await record.offer(.completion) }
                await world.soon { store.heldCount > 0 }
                #expect(record.open == Array(0..<10))
                try await body(world, record, 0) { store.release() }
            }
        }
    }

    private static let places: [(OutgoingSetup, WaitingPlace)] = OutgoingSetup.all.flatMap { setup in
        WaitingPlace.allCases.filter { setup.hasStore || $0 != .slowStore }.map { (setup, $0) }
    }

    @Test(arguments: places)
    func `with dropOldest, the longest waiting messages fail with queueFull if the queue is full`(
        _ setup: OutgoingSetup, _ place: WaitingPlace
    ) async throws {
        try await Self.full(setup, .dropOldest, place) { world, record, inFlight, release in
            for _ in 0..<7 { await record.offer(.completion) }
            await world.soon { record.ended(.queueFull).count >= 7 }
            let end = inFlight + 17
            // The queue may skip a message whose commit has begun.
            #expect(record.open.count == inFlight + 10)
            #expect(record.open.suffix(7) == Array(inFlight + 10..<end)[...])
            if place != .slowStore { #expect(record.ended(.queueFull) == Array(inFlight..<inFlight + 7)) }
            let open = record.open
            release()
            await Self.finish(world, record, nil, .completion)
            #expect(record.ended(nil) == open)
            #expect(await world.publishes().compactMap(\.number) == open)
        }
    }

    @Test(arguments: OutgoingSetup.all, [OfflinePolicy.Overflow.dropOldest, .dropNewest, .fail])
    func `the queueFull error names the offline limits, and also offline.overflow if this option dropped the message`(
        _ setup: OutgoingSetup, _ overflow: OfflinePolicy.Overflow
    ) async throws {
        try await setup.offline(OfflinePolicy(maximumCount: 1, overflow: overflow)) { world in
            var errors: [CourierError] = []
            var outcomes: [Box<Result<PublishReceipt, CourierError>>] = []
            for text in ["1", "2"] {
                do { outcomes.append(try world.publish(text)) } catch {
                    errors += [error as? CourierError].compactMap { $0 }
                }
            }
            await world.soon { !errors.isEmpty || outcomes.contains { $0.value?.failure != nil } }
            errors += outcomes.compactMap { $0.value?.failure }
            #expect(errors.map(\.code) == [.queueFull])
            let names = ["`offline.maximumCount`", "`offline.maximumBytes`"]
            for name in overflow == .fail ? names : names + ["`offline.overflow`"] {
                #expect(errors.first?.message.contains(name) == true, "\(errors)")
            }
        }
    }

    @Test(arguments: places)
    func `with dropNewest, new messages fail with queueFull if the queue is full`(
        _ setup: OutgoingSetup, _ place: WaitingPlace
    ) async throws {
        try await Self.full(setup, .dropNewest, place) { world, record, inFlight, release in
            for _ in 0..<7 { await record.offer(.completion) }
            await world.soon { record.ended(.queueFull).count >= 7 }
            #expect(record.refusedCount == 0)
            #expect(record.open == Array(0..<inFlight + 10))
            #expect(record.ended(.queueFull) == Array(inFlight + 10..<inFlight + 17))
            release()
            await Self.finish(world, record, nil, .completion)
            #expect(await world.publishes().compactMap(\.number) == Array(0..<inFlight + 10))
        }
    }

    @Test(arguments: places)
    func `with overflow = suspend, calls on a full queue fail at once without await, and at the timeout with await`(
        _ setup: OutgoingSetup, _ place: WaitingPlace
    ) async throws {
        // The client connects again after a second.
        let patience = Duration.milliseconds(900)
        try await Self.full(setup, .suspend(timeout: patience), place) { world, record, inFlight, release in
            #expect(await record.offer(.completion)?.code == .queueFull)
            await record.offer(.task)
            // `soon` would let time pass while the task starts to wait.
            await world.until { record.isSettled }
            await world.run(for: patience - .milliseconds(1))
            #expect(record.ended(.queueFull).isEmpty)
            await world.run(for: .milliseconds(1))
            await world.soon { record.ended(.queueFull) == [inFlight + 11] }
            // If room becomes free in time, a waiting caller is accepted.
            await record.offer(.task)
            await world.until { record.isSettled }
            release()
            await Self.finish(world, record, nil, .completion)
            await record.wait()
            #expect(record.ended(nil) == Array(0..<inFlight + 10) + [inFlight + 12])
        }
    }

    // MARK: Messages that no limit ends

    /// The broker takes 20 messages, acknowledges none, and has lost the session when the client connects again.
    private static func losingSession(
        _ setup: OutgoingSetup, _ policy: OfflinePolicy,
        _ body: (ScriptedWorld, PublishRecord, _ cut: ScriptGate, _ go: ScriptGate) async throws -> Void
    ) async throws {
        let (cut, go) = (ScriptGate(), ScriptGate())
        let script: [ConnectionScript] = [
            .connection([OutgoingSetup.accept(), .hold(cut), .cut(.reset)]),
            .connection([OutgoingSetup.accept(receiveMaximum: 5), .hold(go)]),
        ]
        try await setup.run(script, policy) { world in
            await world.connect()
            await world.soon { world.client.connectionState == .connected }
            let record = PublishRecord(world, setup)
            for _ in 0..<2 {
                for _ in 0..<10 { await record.offer(.completion) }
                await world.soon { await world.publishes().count == record.offeredCount }
            }
            try await body(world, record, cut, go)
        }
    }

    @Test(arguments: OutgoingSetup.all, [OfflinePolicy.Overflow.fail, .dropNewest, .dropOldest])
    func `messages that wait again after a lost session do not count toward maximumCount and are not dropped`(
        _ setup: OutgoingSetup, _ overflow: OfflinePolicy.Overflow
    ) async throws {
        let policy = OfflinePolicy(maximumCount: 10, overflow: overflow)
        try await Self.losingSession(setup, policy) { world, record, cut, go in
            cut.release()
            await world.run(for: .seconds(2))
            await world.soon { await world.publishes(on: 2).count == 5 }
            #expect(record.open == Array(0..<20))
            // The 15 messages that wait to be sent again do not count toward the limit of 10.
            for _ in 0..<10 { await record.offer(.completion) }
            await world.settle()
            #expect(record.open == Array(0..<30))
            for _ in 0..<5 { await record.offer(.completion) }
            await world.soon { record.refusedCount + record.ended(.queueFull).count >= 5 }
            // Messages that were already sent are never dropped. Message 20 is the oldest message that may be
            // dropped.
            let open = overflow == .dropOldest ? Array(0..<20) + Array(25..<35) : Array(0..<30)
            #expect(record.open.filter { $0 < 35 } == open)
            go.release()
            await Self.finish(world, record, nil, .completion)
            #expect(record.ended(nil) == open)
            let sent = await world.publishes(on: 2)
            #expect(sent.compactMap(\.number) == open)
            #expect(sent.allSatisfy { !$0.isRepeated })
        }
    }

    @Test(arguments: OutgoingSetup.all)
    func `without a connection, messages in flight do not count toward maximumCount`(_ setup: OutgoingSetup)
        async throws
    {
        let policy = OfflinePolicy(maximumCount: 10, overflow: .fail)
        try await Self.losingSession(setup, policy) { world, record, cut, go in
            cut.release()
            await world.run(for: .milliseconds(500))
            for _ in 0..<11 { await record.offer(.completion) }
            #expect(record.refusedCount == 1)
            #expect(record.open == Array(0..<30))
            go.release()
            await Self.finish(world, record, nil, .completion)
            #expect(await world.publishes(on: 2).compactMap(\.number) == Array(0..<30))
        }
    }

    @Test(arguments: OutgoingSetup.withStore, [OfflinePolicy.Overflow.fail, .dropNewest, .dropOldest])
    func `stored messages of an earlier process count toward maximumCount and are not dropped`(
        _ setup: OutgoingSetup, _ overflow: OfflinePolicy.Overflow
    ) async throws {
        let store = ControlledStore()
        let gate = ScriptGate()
        let script = ConnectionScript.connection([OutgoingSetup.accept(), .hold(gate)])
        let policy = OfflinePolicy(maximumCount: 10, overflow: overflow)
        try await setup.run([script], policy, store) { world in
            let rows = (0..<50).map { StoreChange.enqueue(ScriptedOutboxTests.message(UInt64($0 + 1), "row \($0)")) }
            try await store.memory.fill(rows, world.scope)
            await world.connect()
            await world.soon { await world.publishes().count == 20 }
            let record = PublishRecord(world, setup)
            // Thirty stored messages wait.
            let refusal = await record.offer(.completion)
            await world.soon { record.refusedCount + record.ended(.queueFull).count == 1 }
            #expect(overflow == .fail ? refusal?.code == .queueFull : record.ended(.queueFull) == [0])
            gate.release()
            await world.run(for: .seconds(1))
            await world.soon { await world.publishes().count >= 50 }
            #expect(await world.publishes().map(\.text) == (0..<50).map { "row \($0)" })
            await world.soon { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            await record.offer(.completion)
            await world.soon { record.ended(nil) == [1] }
        }
    }
}
