import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// When stored messages expire, and which message expiry interval the broker gets.
extension ScriptedOutboxTests {
    private static func message(
        _ id: UInt64, _ text: String, expiry: Duration? = nil, storedAt: Date = Date(), expiresAt: Date?
    ) -> StoredMessage {
        StoredMessage(
            id: StoredMessage.ID(rawValue: id), topic: "t", payload: Array(text.utf8), qos: .one,
            properties: MessageProperties(messageExpiry: expiry), storedAt: storedAt, expiresAt: expiresAt)
    }

    @Test func `[MQTT-3.3.2-5] offline maximumAge is not sent as the message expiry interval`()
        async throws
    {
        try await Self.run {
            $0.offline.maximumAge = .seconds(3_600)
        } _: { world, store in
            await world.connect()
            let outcome = try world.publish("x")
            await world.until { outcome.value?.success != nil }
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.properties.messageExpiryInterval) == [nil])
        }
    }

    @Test func `a stored message is sent with the remaining time of its message expiry interval`() async throws {
        try await Self.run { world, store in
            let rows = [
                Self.message(1, "own", expiry: .seconds(600), storedAt: Date() - 300, expiresAt: Date() + 100),
                // After this message was stored, the clock was set back.
                Self.message(2, "future", expiry: .seconds(600), storedAt: Date() + 900, expiresAt: Date() + 1_500),
                Self.message(3, "plain", expiresAt: Date() + 100),
            ]
            try await store.memory.fill(rows.map { .enqueue($0) }, world.scope)
            await world.connect()
            await world.until { await world.publishes().count == 3 }
            let intervals = await world.publishes().map(\.properties.messageExpiryInterval)
            try #require(intervals.count == 3)
            // The wall clock runs during the test.
            #expect((240...300).contains(intervals[0] ?? 0))
            #expect(intervals[1] == 600)
            #expect(intervals[2] == nil)
        }
    }

    @Test func `a stored message that expired before the connection fails with messageExpired and is not sent`()
        async throws
    {
        try await Self.run { world, store in
            try await store.memory.fill(
                [
                    .enqueue(Self.message(1, "over", expiresAt: Date() - 1)),
                    .enqueue(Self.message(2, "in time", expiresAt: nil)),
                ], world.scope)
            await world.connect()
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["in time"])
            #expect(world.errors(of: "messageSendFailure").map(\.code) == [.messageExpired])
        }
    }

    @Test func `a message that waits for a slow store fails with messageExpired when it expires`() async throws {
        try await Self.run { world, store in
            await Self.connect(world, store)
            store.hold()
            let first = try world.publish("first")
            await world.until { store.heldCount == 1 }
            let late = Box<Result<PublishReceipt, CourierError>>()
            try world.client.publish(
                bytes: [1], to: "t", qos: .one, retain: false,
                properties: MessageProperties(messageExpiry: .seconds(5)), completion: { late.value = $0 })
            await world.run(for: .seconds(6))
            #expect(late.value?.failure?.code == .messageExpired)
            store.release()
            await world.until { first.value?.success != nil }
            #expect(await world.publishes().map(\.text) == ["first"])
            #expect(store.changes.count { $0.isEnqueue } == 1)
        }
    }

    // MARK: On disk only

    /// A broker that refuses every attempt, so that there is never a connection.
    private static let closed = Array(
        repeating: ConnectionScript.connection([.refuse(.serverUnavailable)]), count: 100)

    @Test func `messages that are only on disk fail with messageExpired even without a connection`() async throws {
        try await Self.run(Self.closed) {
            $0.offline = OfflinePolicy(maximumAge: .seconds(5))
            $0.storedMessagesInMemory = 2
        } _: { world, store in
            await world.connect()
            var outcomes: [Box<Result<PublishReceipt, CourierError>>] = []
            for index in 0..<10 {
                outcomes.append(try world.publish("\(index)"))
                await world.until { await store.memory.summary(of: world.scope).outgoingCount == index + 1 }
            }
            await world.until { [outcomes] in
                await world.run(for: .seconds(1))
                return outcomes.allSatisfy { $0.value != nil }
            }
            #expect(outcomes.allSatisfy { $0.value?.failure?.code == .messageExpired })
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            let count = store.outgoingReadCount
            await world.run(for: .seconds(10))
            #expect(store.outgoingReadCount == count)
            #expect(await world.publishes().isEmpty)
        }
    }

    @Test func `expired messages on all pages of the store are removed and reported, even without a connection`()
        async throws
    {
        try await Self.run(Self.closed) { world, store in
            let rowCount = StoredSession.pageSize * 2 + 1
            let rows = (1...rowCount).map { Self.message(UInt64($0), "\($0)", expiresAt: Date() - 1) }
            try await store.memory.fill(rows.map { .enqueue($0) }, world.scope)
            await world.connect()
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(world.errors(of: "messageSendFailure").count == rowCount)
            let count = store.outgoingReadCount
            await world.run(for: .seconds(10))
            #expect(store.outgoingReadCount == count)
        }
    }

    /// One page of expired messages, and more than one page.
    @Test(arguments: [2, StoredSession.pageSize + 1])
    func `messages that are only on disk expire even while an unexpired message waits in memory`(count: Int)
        async throws
    {
        try await Self.run {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await Self.connect(world, store)
            world.client.disconnect()
            await world.until { world.client.connectionState == .disconnected }
            try await world.client.enqueue("for ever", to: "t")
            let outcomes = Series<Result<PublishReceipt, CourierError>>()
            for index in 0..<count {
                try world.client.publish(
                    bytes: [1], to: "t", qos: .one, retain: false,
                    properties: MessageProperties(messageExpiry: .seconds(60)), completion: { outcomes.append($0) })
                await world.until { await store.memory.summary(of: world.scope).outgoingCount == index + 2 }
            }
            await world.until {
                await world.run(for: .seconds(20))
                return outcomes.values.count == count
            }
            #expect(outcomes.values.allSatisfy { $0.failure?.code == .messageExpired })
            let reads = store.outgoingReadCount
            await world.run(for: .seconds(60))
            #expect(store.outgoingReadCount == reads)
            #expect(world.client.parts.publishing.queue.waitingCount == 1)
        }
    }

    @Test func `a message that is only on disk expires, even if the message stored before it was replaced`()
        async throws
    {
        try await Self.run {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await Self.connect(world, store)
            world.client.disconnect()
            await world.until { world.client.connectionState == .disconnected }
            let latest = PublishRequest(topic: TopicTemplate(exactly: "latest"), isLatestOnly: true)
            try await world.client.enqueue("for ever", to: "t")
            try await world.client.enqueue("old", as: latest)
            let outcome = Box<Result<PublishReceipt, CourierError>>()
            try world.client.publish(
                bytes: [1], to: "t", qos: .one, retain: false,
                properties: MessageProperties(messageExpiry: .seconds(60)), completion: { outcome.value = $0 })
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 3 }
            try await world.client.enqueue("new", as: latest)
            await world.until {
                await world.run(for: .seconds(20))
                return outcome.value != nil
            }
            #expect(outcome.value?.failure?.code == .messageExpired)
        }
    }
}
