import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The store changes of deliveries: their order, their durability, and what happens if the store fails.
extension ScriptedOutboxTests {
    @Test func `a failed store change of a delivered message is repeated, and the failure is reported once`()
        async throws
    {
        try await Self.run { world, store in
            await Self.connect(world, store)
            store.fail {
                if case .enqueue = $0 { nil } else { CourierError(.storeFailed, "The disk is on fire.") }
            }
            let outcome = try world.publish("x")
            await world.until { outcome.value?.success != nil }
            await world.run(for: .seconds(3))
            #expect(world.events.count { $0 == "messageStoreFailure" } == 1)
            store.fail(nil)
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
        }
    }

    @Test func `a message is delivered even if another store change in the same commit fails`() async throws {
        let gate = ScriptGate()
        let script = ConnectionScript.connection([.accept(), .fault(.hold(.pubAck, until: gate))])
        try await Self.run([script]) { world, store in
            await Self.connect(world, store)
            let first = try world.publish("first")
            await world.until { store.changes.contains(where: \.isProgress) }
            // The first message is acknowledged while the second message is being committed. The removal of the first
            // message is in the commit of the third message.
            store.hold()
            let second = try world.publish("second")
            await world.until { store.heldCount == 1 }
            gate.release()
            await world.until { first.value?.success != nil }
            let third = try world.publish("third")
            store.fail { if case .removeOutgoing = $0 { CourierError(.storeFailed, "Not this.") } else { nil } }
            store.release()
            await world.until { second.value != nil && third.value != nil }
            #expect(third.value?.success != nil)
            #expect(await world.publishes().map(\.text) == ["first", "second", "third"])
            store.fail(nil)
            await world.run(for: .seconds(1))
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
        }
    }

    @Test func `a QoS 2 packet id is stored before PUBLISH is sent, and PUBREC is stored before PUBREL is sent`()
        async throws
    {
        try await Self.run { world, store in
            await world.connect()
            store.fail { change in
                if case .progress(_, .sent) = change { CourierError(.storeFailed, "Not yet.") } else { nil }
            }
            let outcome = try world.publish("x", qos: .two)
            await world.until { world.events.contains("messageStoreFailure") }
            #expect(await world.publishes().isEmpty)
            store.fail { change in
                if case .progress(_, .received) = change { CourierError(.storeFailed, "Not yet.") } else { nil }
            }
            await world.run(for: .seconds(1))
            await world.until { world.events.count { $0 == "messageStoreFailure" } == 2 }
            #expect(await world.publishes().map(\.text) == ["x"])
            #expect(await world.broker.packets(.pubRel).isEmpty)
            store.fail(nil)
            await world.run(for: .seconds(1))
            await world.until { outcome.value?.success != nil }
        }
    }

    @Test func `a QoS 2 message is sent in a new session only after its new packet id is stored`() async throws {
        let gate = ScriptGate()
        let first = ConnectionScript.connection([.accept(), .hold(gate), .cut(.reset)])
        try await Self.run([first]) { world, store in
            await Self.connect(world, store)
            store.hold()
            let outcome = try world.publish("x", qos: .two)
            await world.until { store.heldCount == 1 }
            store.release(holdingNext: true)
            await world.until { store.heldCount == 1 }  // The commit with the packet id of the first session.
            gate.release()
            await world.run(for: .seconds(2))
            await world.until { await world.broker.packets(.connect).count == 2 }
            await world.settle()
            store.release(holdingNext: true)
            await world.until { store.heldCount == 1 }  // The commit with the packet id of the second session.
            await world.settle()
            #expect(await world.publishes().isEmpty)
            store.release()
            await world.until { outcome.value?.success != nil }
            #expect(await world.publishes().map(\.text) == ["x"])
        }
    }

    @Test(arguments: [QoS.one, .two])
    func `commitRepeatable() stores removals and sent QoS 1 messages, but no sent QoS 2 messages`(qos: QoS)
        async throws
    {
        try await Self.run { world, store in
            await world.connect()
            let outcome = try world.publish("x", qos: qos)
            await world.until { outcome.value?.success != nil }
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            let id = StoredMessage.ID(rawValue: 1)
            let removal = StoreChange.removeOutgoing(id)
            // If the sent state is lost, the message is published again. At QoS 1, the broker may receive it twice.
            // At QoS 2, this is forbidden.
            let sent = StoreChange.progress(id, .sent(packetID: 1))
            #expect(store.changes.contains(sent))
            #expect(store.repeatableChanges == (qos == .one ? [sent, removal] : [removal]))
        }
    }

    @Test func `[MQTT-4.3.3-10] the packet id of a QoS 2 message is stored before PUBREC and deleted before PUBCOMP`()
        async throws
    {
        let delivery = try #require(Delivery(qos: .exactlyOnce, packetID: 3, isDuplicate: false))
        let message = Packet.publish(Publish(topic: "in", payload: [1], delivery: delivery))
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .publish(to: "go")), .send(message), .expect(.pubRec),
            .send(.pubRel(Acknowledgement(packetID: 3))),
            .expect(.pubComp),
        ])
        try await Self.run([script]) { world, store in
            await Self.connect(world, store)
            store.fail { change in
                if case .rememberPacketID = change { CourierError(.storeFailed, "Not yet.") } else { nil }
            }
            try world.publish("", to: "go", qos: .zero)
            await world.until { world.events.contains("messageStoreFailure") }
            #expect(await world.broker.packets(.pubRec).isEmpty)
            store.fail { change in
                if case .forgetPacketID = change { CourierError(.storeFailed, "Not yet.") } else { nil }
            }
            await world.run(for: .seconds(1))
            await world.until { world.events.count { $0 == "messageStoreFailure" } == 2 }
            #expect(await world.broker.packets(.pubRec).count == 1)
            #expect(await world.broker.packets(.pubComp).isEmpty)
            #expect(await store.memory.incomingPacketIDs(in: world.scope) == [3])
            store.fail(nil)
            await world.run(for: .seconds(1))
            await world.until { await !world.broker.packets(.pubComp).isEmpty }
            #expect(await store.memory.incomingPacketIDs(in: world.scope) == [])
        }
    }

    @Test
    func `if a message that was never sent is replaced, commitRepeatable() does not store the removal of the message`()
        async throws
    {
        try await Self.run(Self.refusing) { world, store in
            await world.connect()
            for text in ["a", "b"] {
                try await world.client.enqueue(
                    text, as: PublishRequest(topic: TopicTemplate(exactly: "t"), isLatestOnly: true))
            }
            let replaced = StoreChange.removeOutgoing(StoredMessage.ID(rawValue: 1))
            await world.until { store.changes.contains(replaced) }
            #expect(!store.repeatableChanges.contains(replaced))
        }
    }
}
