import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Messages and subscriptions that an earlier process stored.
extension ScriptedOutboxTests {
    @Test
    func `[MQTT-4.4.0-1] sent messages of an earlier process are resent first, with their packet ids`()
        async throws
    {
        try await Self.run([.connection([Self.present])]) { world, store in
            try await store.memory.fill(
                [
                    .enqueue(Self.message(1, "sent")), .enqueue(Self.message(2, "received", .two)),
                    .enqueue(Self.message(3, "sent twice", .two)), .enqueue(Self.message(4, "queued")),
                    .progress(StoredMessage.ID(rawValue: 1), .sent(packetID: 7)),
                    .progress(StoredMessage.ID(rawValue: 2), .received(packetID: 9)),
                    .progress(StoredMessage.ID(rawValue: 3), .sent(packetID: 5)),
                ], world.scope)
            await world.connect()
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            let publishes = await world.publishes()
            #expect(publishes.map(\.text) == ["sent", "sent twice", "queued"])
            #expect(publishes.map(\.delivery.isDuplicate) == [true, true, false])
            #expect(publishes.prefix(2).map { $0.delivery.packetID?.rawValue } == [7, 5])
            let released = await world.broker.packets(.pubRel).map(\.packet)
            #expect(released.contains(.pubRel(Acknowledgement(packetID: 9))))
            try await world.client.enqueue("new", to: "t")
            #expect(
                store.changes.contains { change in
                    if case .enqueue(let message) = change { message.id.rawValue == 5 } else { false }
                })
        }
    }

    @Test func `[MQTT-4.3.3-6] the packet id of a refused message is freed after the store has removed the message`()
        async throws
    {
        let script = ConnectionScript.connection([
            .accept(isSessionPresent: true, properties: [.retainAvailable(false)])
        ])
        try await Self.run([script]) { world, store in
            let id = StoredMessage.ID(rawValue: 1)
            let message = StoredMessage(
                id: id, topic: "t", payload: [1], qos: .two, isRetained: true, storedAt: Date())
            try await store.memory.fill([.enqueue(message), .progress(id, .sent(packetID: 7))], world.scope)
            store.fail { $0 == .removeOutgoing(id) ? CourierError(.storeFailed, "Not yet.") : nil }
            await world.connect()
            await world.until { world.events.contains("messageStoreFailure") }
            await world.settle()
            #expect(await world.broker.packets(.pubRel).isEmpty)
            store.fail(nil)
            await world.run(for: .seconds(1))
            await world.until { await !world.broker.packets(.pubRel).isEmpty }
            #expect(await world.publishes().isEmpty)
            #expect(!store.repeatableChanges.contains(.removeOutgoing(id)))
        }
    }

    @Test func `a message that an earlier process sent is resent only once, even if the store is read in pages`()
        async throws
    {
        let gate = ScriptGate()
        let script = ConnectionScript.connection([Self.present, .fault(.hold(.pubAck, until: gate))])
        try await Self.run([script]) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            try await store.memory.fill(
                [
                    .enqueue(Self.message(1, "first")), .enqueue(Self.message(2, "sent")),
                    .enqueue(Self.message(3, "last")), .enqueue(Self.message(4, "same packet id")),
                    .progress(StoredMessage.ID(rawValue: 2), .sent(packetID: 7)),
                    .progress(StoredMessage.ID(rawValue: 4), .sent(packetID: 7)),
                ], world.scope)
            await world.connect()
            await world.until { await world.publishes().count >= 4 }
            await world.settle()
            #expect(await world.publishes().map(\.text) == ["sent", "first", "last", "same packet id"])
            gate.release()
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().count == 4)
        }
    }

    /// If a client was connected to another broker and returns, its new messages are stored after rows that count as
    /// queued.
    @Test func `[MQTT-4.4.0-1] messages that an earlier process sent are resent first, even from a later store page`()
        async throws
    {
        try await Self.run([.connection([Self.present])]) { world, store in
            let last: UInt64 = 1_700
            let rows = (1...last).map { id in
                StoreChange.enqueue(Self.message(id, "\(id)", id == last ? .two : .one))
            }
            try await store.memory.fill(
                rows + [
                    .progress(StoredMessage.ID(rawValue: 601), .sent(packetID: 7)),
                    .progress(StoredMessage.ID(rawValue: 602), .sent(packetID: 7)),
                    .progress(StoredMessage.ID(rawValue: last), .received(packetID: 9)),
                ], world.scope)
            await world.connect()
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            let publishes = await world.publishes()
            // The broker has already received the last message. The packet id of message 602 belongs to another row.
            #expect(publishes.map(\.text) == ["601"] + (1..<last).filter { $0 != 601 }.map { "\($0)" })
            #expect(publishes.filter(\.delivery.isDuplicate).map(\.text) == ["601"])
            #expect(publishes.first?.delivery.packetID?.rawValue == 7)
            let released = await world.broker.packets(.pubRel).map(\.packet)
            #expect(released.contains(.pubRel(Acknowledgement(packetID: 9))))
        }
    }

    @Test func `a message that an earlier process sent is published as new if the broker has no session`() async throws
    {
        try await Self.run { world, store in
            try await store.memory.fill(
                [
                    .enqueue(Self.message(1, "sent")),
                    .progress(StoredMessage.ID(rawValue: 1), .sent(packetID: 7)),
                ], world.scope)
            await world.connect()
            await world.until { await world.publishes().map(\.text) == ["sent"] }
            #expect(await world.publishes().map(\.delivery.isDuplicate) == [false])
        }
    }

    @Test func `stored subscriptions and pending unsubscribes of an earlier process are sent to the broker`()
        async throws
    {
        try await Self.run([.connection([Self.present])]) { world, store in
            try await store.memory.fill(
                [
                    .want(StoredSubscription(try TopicFilter("kept"), .subscribed(.two))),
                    .want(StoredSubscription(try TopicFilter("gone"), .unsubscribing)),
                    .want(StoredSubscription(try TopicFilter("unwanted"), .subscribed(.one))),
                ], world.scope)
            world.client.unsubscribe("unwanted")
            await world.connect()
            await world.until { await world.broker.packets(.unsubscribe).count == 1 }
            let subscribed = await world.broker.packets(.subscribe).compactMap(\.packet.subscribe)
            #expect(subscribed.flatMap(\.subscriptions).map(\.filter) == ["kept"])
            let unsubscribed = await world.broker.packets(.unsubscribe).compactMap(\.packet.unsubscribe)
            #expect(Set(unsubscribed.flatMap(\.filters)) == ["gone", "unwanted"])
            await world.until {
                await store.memory.subscriptions(in: world.scope).map(\.filter.string) == ["kept"]
            }
        }
    }

    @Test func `unsubscribe() before connect() is stored, even if the broker refuses the connection`() async throws {
        try await Self.run(Self.refusing) { world, store in
            let filter = try TopicFilter("unwanted")
            try await store.memory.fill([.want(StoredSubscription(filter, .subscribed(.one)))], world.scope)
            world.client.unsubscribe("unwanted")
            await world.connect()
            await world.until { world.events.contains("connectionFailure") }
            #expect(await world.broker.packets(.unsubscribe).isEmpty)
            let stored = await store.memory.subscriptions(in: world.scope)
            #expect(stored == [StoredSubscription(filter, .unsubscribing)])
            // The broker has no session, so it has no subscription.
            await world.run(for: .seconds(1))
            await world.until { await store.memory.subscriptions(in: world.scope).isEmpty }
        }
    }

    @Test func `a message that disappears from the store fails with storeDamaged, and the store is searched only once`()
        async throws
    {
        try await Self.run(Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            await world.connect()
            var outcomes: [Box<Result<PublishReceipt, CourierError>>] = []
            for index in 0..<3 {
                outcomes.append(try world.publish("\(index)"))
                await world.until { await store.memory.summary(of: world.scope).outgoingCount == index + 1 }
            }
            // The row is missing, as after the recovery of a damaged file.
            try await store.memory.fill([.removeOutgoing(StoredMessage.ID(rawValue: 3))], world.scope)
            await world.run(for: .seconds(1))
            await world.until { [last = outcomes[2]] in last.value != nil }
            #expect(outcomes[2].value?.failure?.code == .storeDamaged)
            #expect(outcomes[1].value?.success != nil)
            let count = store.outgoingReadCount
            for _ in 0..<20 { await world.settle() }
            #expect(store.outgoingReadCount == count)
            try world.publish("later")
            await world.until { await world.publishes().map(\.text) == ["0", "1", "later"] }
        }
    }
}
