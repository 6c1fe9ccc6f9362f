import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

/// Packets that a scripted broker sends on its own.
extension `Scripted broker` {
    @Test func `a sendBytes step sends raw bytes unchanged`() async throws {
        let script: [ConnectionScript] = [.connection([.accept(), .sendBytes([0xF0, 0xFF, 0xFF]), .cut(.orderly)])]
        try await Self.withBroker(script) { _, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), .v311, on: loop)
            #expect(await client.end().bytes == [0x20, 2, 0, 0, 0xF0, 0xFF, 0xFF])
        }
    }

    @Test(arguments: [PacketQoS.atMostOnce, .atLeastOnce, .exactlyOnce])
    func `a flood step sends all messages in order and within the client's receive maximum`(qos: PacketQoS) async throws
    {
        let count = 2_000
        let script: [ConnectionScript] = [.connection([.accept(), .flood(PublishFlood(count: count, qos: qos))])]
        try await Self.withBroker(script) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), properties: [.receiveMaximum(10)], on: loop)
            if qos != .atMostOnce {
                var received = 0
                while received < count {
                    let packets = await client.packets(1 + received + 10)
                    let fresh = packets.compactMap(\.publish).dropFirst(received)
                    #expect(fresh.count <= 10)
                    // An error code in PUBREC ends a QoS 2 exchange immediately.
                    for id in fresh.compactMap(\.delivery.packetID) {
                        await client.send(
                            qos == .atLeastOnce
                                ? .pubAck(Acknowledgement(packetID: id))
                                : .pubRec(Acknowledgement(packetID: id, reasonCode: .quotaExceeded)))
                    }
                    received += fresh.count
                    if fresh.isEmpty { break }
                }
            }
            let publishes = await client.packets(count + 1).compactMap(\.publish)
            #expect(publishes.count == count)
            #expect(publishes.enumerated().allSatisfy { $1.payload.suffix(64).prefix(8).last == UInt8($0 & 0xFF) })
            try await broker.played()
        }
    }

    @Test func `a flood step exceeds the client's receive maximum if exceedsReceiveMaximum is true`() async throws {
        let flood = PublishFlood(count: 100, payloadSize: 0, qos: .atLeastOnce, exceedsReceiveMaximum: true)
        try await Self.withBroker([.connection([.accept(), .flood(flood)])]) { _, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), properties: [.receiveMaximum(3)], on: loop)
            let ids = await client.packets(101).compactMap(\.publish?.delivery.packetID)
            #expect(Set(ids).count == 100)
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: Way.allCases)
    func `a flood step with an unlimited count ends when the connection ends`(way: Way) async throws {
        let flood = PublishFlood(count: .max)
        try await Self.withBroker([.connection([.accept(), .flood(flood)])], over: way) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            _ = await client.packets(100)
            await client.close()
            // The broker's loop reports the end only if the flood does not occupy the loop.
            let end = try await broker.endOfConnection(1)
            #expect(end.sentByteCount > 0)
        }
    }

    @Test func `a flood step pauses while the client does not read`() async throws {
        let flood = PublishFlood(count: 20_000, payloadSize: 1_000)
        try await Self.withBroker([.connection([.accept(), .flood(flood)])]) { broker, loop, endpoint in
            let client = await ScriptedClient.open(endpoint(), on: loop)
            await client.pauseReading()
            await client.send(.connect(Connect(version: .v5, clientID: "slow")))
            try await broker.received(.connect)
            let sent = await broker.connections[0].sentByteCount
            #expect(sent < 1 << 20)
            await client.resumeReading()
            #expect(await client.packets(20_001).count == 20_001)
        }
    }
}
