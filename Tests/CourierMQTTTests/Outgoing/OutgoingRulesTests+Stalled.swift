import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// A broker that stops reading.
extension OutgoingRulesTests {
    /// The maximum number of bytes in the stream and in the client's write buffer, in addition to the waiting
    /// messages.
    private static let bufferedBytes = 512 << 10
    private static let payloadBytes = 16 << 10

    private static func stalled(
        _ setup: OutgoingSetup, _ policy: OfflinePolicy,
        _ body: (ScriptedWorld, PublishRecord) async throws -> Void
    ) async throws {
        let script = ConnectionScript.connection([.accept(), .stopReading, .pause(.seconds(20)), .resumeReading])
        try await setup.run([script], policy) { world in
            await world.connect()
            await world.soon { world.client.connectionState == .connected }
            try await body(world, PublishRecord(world, setup))
        }
    }

    /// Publishes messages until the client refuses all further messages and the loop cannot write any more.
    private static func fill(_ world: ScriptedWorld, _ record: PublishRecord, _ qos: QoS) async {
        var before: Int
        repeat {
            before = record.acceptedCount
            while record.offeredCount < 2_000 {
                let shape = PublishRecord.Shape(qos: qos, byteCount: payloadBytes)
                if await record.offer(.completion, shape) != nil { break }
            }
            await world.run(for: .milliseconds(10))
        } while record.acceptedCount > before && record.offeredCount < 2_000
    }

    @Test(arguments: OutgoingSetup.all, [QoS.zero, .one, .oneWithoutPersistenceAndRetry])
    func `if maximumCount is 100, only 100 messages wait behind a stalled socket`(_ setup: OutgoingSetup, _ qos: QoS)
        async throws
    {
        try await Self.stalled(setup, OfflinePolicy(maximumCount: 100, overflow: .fail)) { world, record in
            await Self.fill(world, record, qos)
            #expect(record.refusedCount > 0)
            #expect(record.acceptedCount >= 100)
            #expect(record.acceptedCount <= 100 + Self.bufferedBytes / Self.payloadBytes)
            #expect(record.refusalCodes == [.queueFull])
            await world.run(for: .seconds(30))
            #expect(await world.publishes().count == record.acceptedCount)
            await world.soon { record.open.isEmpty }
            #expect(!record.hasRepeatedEnds)
        }
    }

    @Test(arguments: OutgoingSetup.all, [QoS.zero, .one])
    func `if maximumBytes is 1 MiB, only 1 MiB of messages waits behind a stalled socket`(
        _ setup: OutgoingSetup, _ qos: QoS
    ) async throws {
        try await Self.stalled(setup, OfflinePolicy(maximumBytes: 1 << 20, overflow: .fail)) { world, record in
            await Self.fill(world, record, qos)
            #expect(record.refusedCount > 0)
            #expect(record.acceptedCount * Self.payloadBytes <= (1 << 20) + Self.bufferedBytes)
            await world.run(for: .seconds(30))
            #expect(await world.publishes().count == record.acceptedCount)
            await world.soon { record.open.isEmpty }
        }
    }
}
