import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Stored messages that were sent. In the store, more than one page of queued messages precedes them.
@Suite(.timeLimit(.minutes(5))) struct SentRowsTests {
    /// More than one page of the store.
    private static let count = StoredSession.pageSize + 1

    private static func connect(_ world: ScriptedWorld, _ connection: Int) async {
        await world.connect()
        await world.until { await world.publishes(on: connection).count == count }
    }

    private static func disconnect(_ world: ScriptedWorld) async {
        world.client.disconnect()
        await world.run(for: .seconds(6))
    }

    /// The rows of a client that was connected to broker A, then to B, and again to A. The client has more messages in
    /// flight than a page has, and has sent one more message at the end.
    private static func rowsOfTraveler() async throws -> [StoredOutgoing] {
        let gate = ScriptGate()
        let script = [false, true, true].map { isPresent in
            ConnectionScript.connection([.accept(isSessionPresent: isPresent), .fault(.hold(.pubAck, until: gate))])
        }
        let other = StoreScopeTests.options(host: "other.invalid")
        let answers: [ScriptedProvider.Answer] = [.options(), .options(other), .options()]
        var rows: [StoredOutgoing] = []
        try await StoreScopeTests.run(script, answers) {
            $0.session.storeScope = nil
        } _: { world, store in
            await world.connect()
            for number in 1...count { try world.publish("\(number)") }
            await connect(world, 1)
            await disconnect(world)
            await connect(world, 2)
            await disconnect(world)
            await connect(world, 3)
            try world.publish("last")
            let scope = StoreScope(StoreScopeTests.options())
            await world.until {
                rows = await store.memory.outgoing(in: scope, after: nil, limit: count + 2)
                return rows.last?.progress != .queued && rows.count == count + 1
            }
            gate.release()
        }
        return rows
    }

    @Test func `[MQTT-4.4.0-1] after a connection to another broker, the next process resends unconfirmed messages`()
        async throws
    {
        let rows = try await Self.rowsOfTraveler()
        #expect(rows.dropLast().allSatisfy { $0.progress == .queued })
        let id = try #require(rows.last?.progress.packetID)
        let store = ControlledStore()
        try await ScriptedOutboxTests.run([.connection([ScriptedOutboxTests.present])], store) { world, store in
            let changes = rows.flatMap { row in
                [StoreChange.enqueue(row.message), .progress(row.message.id, row.progress)]
            }
            try await store.memory.fill(changes, world.scope)
            await world.connect()
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            let publishes = await world.publishes()
            #expect(publishes.map(\.text) == ["last"] + (1...Self.count).map { "\($0)" })
            #expect(publishes.first?.delivery == .atLeastOnce(PacketID(rawValue: id) ?? 1, isDuplicate: true))
        }
    }
}
