import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The rules of `OfflinePolicy` apply to all waiting messages, in every setup.
@Suite(.timeLimit(.minutes(5))) struct OutgoingRulesTests {
    /// Refuses a connection.
    static let refusal = ConnectionScript.connection([.refuse(.serverUnavailable)])

    @Test func `the default limits are the limits that the delivery contract names`() {
        let (offline, limits) = (OfflinePolicy(), ClientLimits())
        #expect(offline.maximumCount == 10_000 && offline.maximumBytes == 64 << 20)
        #expect(offline.maximumAge == nil && !offline.queuesQoS0)
        #expect(limits.maximumKeptMessages == 10_000 && limits.maximumKeptBytes == 16 << 20)
    }

    /// Publishes messages until the client refuses all further messages, also after some messages were sent.
    static func fill(
        _ world: ScriptedWorld, _ record: PublishRecord, _ form: PublishForm, callers: Int = 1,
        _ shape: PublishRecord.Shape = PublishRecord.Shape(), inFlight: Int = OutgoingSetup.receiveMaximum
    ) async {
        /// Ends the test if the client has no limit. The value differs from the default of `maximumCount`.
        let limit = 10_000
        /// A task receives the error of a refusal later.
        let burst = form == .task ? 150 : limit
        var before: Int
        repeat {
            before = record.acceptedCount - record.ended(.queueFull).count
            await withTaskGroup { group in
                for _ in 0..<callers {
                    group.addTask {
                        for _ in 0..<burst / callers where record.offeredCount < limit {
                            if await record.offer(form, shape) != nil { return }
                        }
                    }
                }
            }
            await world.soon { record.isSettled }
            await world.soon { await world.publishes().count >= inFlight }
        } while record.acceptedCount - record.ended(.queueFull).count > before && record.offeredCount < limit
    }

    /// The number of accepted messages, without messages that the client dropped at once.
    static func accepted(_ record: PublishRecord) -> Int { record.acceptedCount - record.ended(.queueFull).count }

    /// Releases the broker's answers. All waiting messages must succeed, and arrive in order.
    static func finish(_ world: ScriptedWorld, _ record: PublishRecord, _ gate: ScriptGate?, _ form: PublishForm) async
    {
        gate?.release()
        await world.run(for: .seconds(3))
        if form.isAnswered { await world.soon { record.open.isEmpty } }
        #expect(!record.hasRepeatedEnds)
    }

    // MARK: Count

    @Test(arguments: OutgoingSetup.all, PublishForm.allCases)
    func `if maximumCount is 100, exactly 100 messages wait while 20 messages are in flight`(
        _ setup: OutgoingSetup, _ form: PublishForm
    )
        async throws
    {
        try await setup.connected(OfflinePolicy(maximumCount: 100, overflow: .fail)) { world, gate in
            let record = PublishRecord(world, setup)
            await Self.fill(world, record, form)
            #expect(Self.accepted(record) == 120)
            #expect(await world.publishes().count == 20)
            #expect(record.refusalCodes.isSubset(of: [.queueFull]))
            await Self.finish(world, record, gate, form)
            await world.soon { await world.publishes().count >= Self.accepted(record) }
        }
    }

    @Test(arguments: OutgoingSetup.all, PublishForm.allCases)
    func `eight concurrent callers cannot exceed maximumCount`(_ setup: OutgoingSetup, _ form: PublishForm)
        async throws
    {
        try await setup.connected(OfflinePolicy(maximumCount: 100, overflow: .fail)) { world, gate in
            let record = PublishRecord(world, setup)
            await Self.fill(world, record, form, callers: 8)
            #expect(Self.accepted(record) == 120)
            await Self.finish(world, record, gate, form)
        }
    }

    @Test(arguments: OutgoingSetup.all, PublishForm.allCases)
    func `if maximumCount is 100, exactly 100 messages wait without a connection`(
        _ setup: OutgoingSetup, _ form: PublishForm
    ) async throws {
        try await setup.offline(OfflinePolicy(maximumCount: 100, overflow: .fail)) { world in
            let record = PublishRecord(world, setup)
            await Self.fill(world, record, form, callers: 8, inFlight: 0)
            #expect(Self.accepted(record) == 100)
            await Self.finish(world, record, nil, form)
        }
    }

    @Test(arguments: OutgoingSetup.withStore)
    func `if maximumCount is 100, exactly 100 messages wait for a slow store`(_ setup: OutgoingSetup) async throws {
        let store = ControlledStore()
        let policy = OfflinePolicy(maximumCount: 100, overflow: .fail)
        try await setup.connected(policy, store: store) { world, gate in
            store.hold()
            let record = PublishRecord(world, setup)
            await Self.fill(world, record, .completion, inFlight: 0)
            #expect(Self.accepted(record) == 100)
            store.release()
            await world.soon { await world.publishes().count == 20 }
            await Self.fill(world, record, .completion)
            #expect(Self.accepted(record) == 120)
            await Self.finish(world, record, gate, .completion)
        }
    }

    @Test(arguments: OutgoingSetup.all)
    func `messages of QoS 1 and 2, with and without persistence, count toward the same maximumCount`(
        _ setup: OutgoingSetup
    )
        async throws
    {
        try await setup.connected(OfflinePolicy(maximumCount: 100, overflow: .fail)) { world, gate in
            let record = PublishRecord(world, setup)
            let levels: [QoS] = [.one, .two, .oneWithoutPersistenceAndRetry, .oneWithoutPersistenceAndNoRetry]
            for _ in 0..<3 {
                for index in 0..<400 {
                    await record.offer(.completion, PublishRecord.Shape(qos: levels[index % levels.count]))
                }
                await world.soon { await world.publishes().count == 20 }
            }
            #expect(record.acceptedCount == 120)
            await Self.finish(world, record, gate, .completion)
        }
    }

    // MARK: Bytes

    @Test(arguments: OutgoingSetup.all, [true, false])
    func `if maximumBytes is 10,000, at most 10,000 bytes of topics and payloads wait`(
        _ setup: OutgoingSetup, isConnected: Bool
    ) async throws {
        let policy = OfflinePolicy(maximumBytes: 10_000, overflow: .fail)
        let shape = PublishRecord.Shape(byteCount: 99)  // 100 bytes with the topic.
        // The client may count properties or not.
        let waiting = setup.hasProperties ? 50...100 : 100...100
        if isConnected {
            try await setup.connected(policy) { world, gate in
                let record = PublishRecord(world, setup)
                await Self.fill(world, record, .completion, shape)
                #expect(waiting.contains(Self.accepted(record) - 20))
                await Self.finish(world, record, gate, .completion)
            }
        } else {
            try await setup.offline(policy) { world in
                let record = PublishRecord(world, setup)
                await Self.fill(world, record, .completion, shape, inFlight: 0)
                #expect(waiting.contains(Self.accepted(record)))
                await Self.finish(world, record, nil, .completion)
            }
        }
    }

    @Test(
        arguments: OutgoingSetup.all,
        [OfflinePolicy.Overflow.fail, .dropNewest, .dropOldest, .suspend(timeout: .seconds(30))])
    func `a message larger than maximumBytes is refused with queueFull, and no other message is dropped`(
        _ setup: OutgoingSetup, _ overflow: OfflinePolicy.Overflow
    ) async throws {
        try await setup.connected(OfflinePolicy(maximumBytes: 1_000, overflow: overflow)) { world, gate in
            let record = PublishRecord(world, setup)
            // 20 in flight, and some that wait and must stay.
            for _ in 0..<23 { await record.offer(.completion) }
            await world.soon { await world.publishes().count == 20 }
            let refusal = await record.offer(.completion, PublishRecord.Shape(byteCount: 1_100))
            await record.offer(.task, PublishRecord.Shape(byteCount: 1_100))
            await world.soon { record.isSettled }
            let codes = [refusal?.code].compactMap { $0 } + record.ended(.queueFull).map { _ in .queueFull }
            #expect(codes == [.queueFull, .queueFull])
            #expect(record.open == Array(0..<23))
            await Self.finish(world, record, gate, .completion)
            #expect(await world.publishes().compactMap(\.number) == Array(0..<23))
            await record.wait()
        }
    }
}
