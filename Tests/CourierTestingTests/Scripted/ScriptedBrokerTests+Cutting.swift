import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

/// Connections that are cut at an exact byte.
extension `Scripted broker` {
    @Test(arguments: Way.allCases, [CutStyle.orderly, .reset])
    func `the broker cuts the connection after exactly the given number of sent bytes`(way: Way, style: CutStyle)
        async throws
    {
        // 5 bytes of CONNACK and 8 of a PUBLISH.
        let message = Packet.publish(Publish(topic: "topic", payload: Array("payload".utf8)))
        let script: [ConnectionScript] = [
            .connection([.cutAfterSending(byteCount: 13, style), .accept(), .send(message), .send(message)])
        ]
        try await Self.withBroker(script, over: way) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            let record = await client.end()
            let found3 = try await broker.endOfConnection(1)
            #expect(found3.sentByteCount == 13)
            switch (style, way) {
            case (.orderly, _):
                #expect(record.reason == .closedByPeer)
                #expect(record.bytes.count == 13)
            case (.reset, .memory): #expect(record.reason?.isReset == true)  // The reset discards the unread bytes.
            case (.reset, .tcp):
                #expect(record.reason?.isReset == true)
                #expect(record.bytes.count == 13)
            case (.reset, .unix): #expect(record.bytes.count == 13)
            }
            try await broker.verify()
        }
    }

    @Test(arguments: Way.allCases)
    func `a client that reads late receives all bytes that were sent before the cut`(way: Way) async throws {
        let flood = PublishFlood(count: 100, payloadSize: 100_000)
        let script: [ConnectionScript] = [
            .connection([.cutAfterSending(byteCount: 5_000_003, .orderly), .accept(), .flood(flood)])
        ]
        try await Self.withBroker(script, over: way) { broker, loop, endpoint in
            let client = await ScriptedClient.open(endpoint(), on: loop)
            await client.pauseReading()
            await client.send(.connect(Connect(version: .v5, clientID: "late")))
            try await broker.received(.connect)
            await client.resumeReading()
            let record = await client.end()
            #expect(record.bytes.count == 5_000_003)
            #expect(record.packets.count == 50)
        }
    }

    @Test(arguments: [CutStyle.orderly, .reset])
    func `the broker cuts the connection after exactly the given number of received bytes`(style: CutStyle) async throws
    {
        let script: [ConnectionScript] = [.connection([.cutAfterReceiving(byteCount: 30, style)])]
        try await Self.withBroker(script, over: .tcp) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), clientID: "c", on: loop)
            _ = await client.packets(1)
            // CONNECT has 15 bytes, each PUBLISH at QoS 1 has 9: the second is not whole at byte 30.
            await client.publish(1, 2, 3)
            let record = await client.end()
            let seen = try await broker.endOfConnection(1)
            #expect(seen.receivedByteCount == 30)
            #expect(seen.publishes.compactMap(\.delivery.packetID) == [1])
            #expect(record.reason?.isReset == (style == .reset))
        }
    }

    @Test func `the client receives all packets that were sent before a reset, and then the reset`() async throws {
        try await Self.withBroker([.connection([.accept(), .cut(.reset)])], over: .tcp) { _, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            let record = await client.end()
            #expect(record.packets.map(\.connAckCode) == [.success])
            #expect(record.reason?.isReset == true)
        }
    }
}
