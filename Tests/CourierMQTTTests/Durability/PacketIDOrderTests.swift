import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Packet ids of received QoS 2 messages are stored and forgotten in the order in which the broker uses them.
@Suite(.timeLimit(.minutes(5))) struct PacketIDOrderTests {
    private static func message(_ text: String) -> ScriptStep {
        .send(
            .publish(
                Publish(topic: "t", payload: Array(text.utf8), delivery: .exactlyOnce(7, isDuplicate: false))))
    }

    /// The store delays the deletion of packet id 7. In the meantime, the broker loses the session, and uses this packet
    /// id for another message.
    @Test(arguments: [true, false])
    func `[MQTT-4.3.3-10] a delayed deletion of an old packet id does not delete the same id of a new message`(
        _ isRead: Bool
    ) async throws {
        let script: [ConnectionScript] = [
            .connection([
                .accept(), .serve(until: .publish(to: "go")), Self.message("first"), .expect(.pubRec),
                .send(.pubRel(Acknowledgement(packetID: 7))), .serve(until: .publish(to: "cut")), .cut(.orderly),
            ]),
            .connection([
                .accept(), .serve(until: .publish(to: "go")), Self.message("second"), .expect(.pubRec), .stall,
            ]),
        ]
        let store = ControlledStore()
        try await ScriptedWorld.run(script) {
            $0.messageStore = store
            $0.messagePersistenceTTLSeconds = 1_000
            if isRead { $0.topics = ["t": .two] }
        } _: { world in
            let sink = isRead ? world.client.messagePublisher(topic: "t").sink { (_: String) in } : nil
            store.fail { $0 == .forgetPacketID(7) ? CourierError(.storeFailed, "Not yet.") : nil }
            await world.connect()
            await world.until { store.changes.contains(.forgetAllPacketIDs) }
            try world.publish("", to: "go", qos: .zero)
            await world.until { world.events.contains("messageStoreFailure") }
            try world.publish("", to: "cut", qos: .zero)
            await world.until { world.events.contains("connectionLost") }
            await world.run(for: .seconds(1))
            await world.until { await world.broker.connections.count == 2 }
            await world.until { world.client.connectionState == .connected }
            try world.publish("", to: "go", qos: .zero)
            await world.settle()
            store.fail(nil)
            await world.run(for: .seconds(2))
            await world.until { await world.broker.packets(.pubRec).count == 2 }
            await world.until { store.changes.contains(.forgetPacketID(7)) }
            await world.settle()
            // The packet id is stored, so a new process recognizes the second message when the broker repeats it.
            #expect(await store.memory.incomingPacketIDs(in: world.scope) == [7])
            sink?.cancel()
        }
    }
}
