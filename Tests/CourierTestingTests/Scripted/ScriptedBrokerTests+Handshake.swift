import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

/// Answers of a scripted broker to CONNECT.
extension `Scripted broker` {
    @Test(arguments: [ProtocolVersion.v311, .v5])
    func `a script refuses a connection with a reason code and accepts the next connection`(version: ProtocolVersion)
        async throws
    {
        try await Self.withBroker([.connection([.refuse(.notAuthorized)]), .connection()]) { broker, loop, endpoint in
            let refused = await ScriptedClient.connect(endpoint(), version, on: loop)
            #expect(await refused.end().packets.map(\.connAckCode) == [.notAuthorized])
            let accepted = await ScriptedClient.connect(endpoint(), version, on: loop)
            #expect(await accepted.packets(1).map(\.connAckCode) == [.success])
            try await broker.played()
            try await broker.verify()
        }
    }

    @Test func `a script can send session present in CONNACK and redirect the client to another server`() async throws {
        let script: [ConnectionScript] = [
            .connection([
                .accept(isSessionPresent: true), .disconnect(.useAnotherServer, serverReference: "other:1883"),
            ])
        ]
        try await Self.withBroker(script) { _, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            let record = await client.end()
            let goodbye = Disconnect(reasonCode: .useAnotherServer, properties: [.serverReference("other:1883")])
            #expect(record.packets == [.connAck(ConnAck(isSessionPresent: true)), .disconnect(goodbye)])
            #expect(record.reason == .closedByPeer)
        }
    }

    @Test(arguments: Way.allCases)
    func `a script can close the connection without a CONNACK`(way: Way) async throws {
        try await Self.withBroker([.connection([.closeWithoutAnswer()])], over: way) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            let record = await client.end()
            #expect(record.bytes.isEmpty && record.reason == .closedByPeer)
            try await broker.verify()
        }
    }

    @Test func `a stall step accepts the connection and sends no bytes`() async throws {
        let clock = VirtualClock()
        try await Self.withBroker([.connection([.stall])], clock: clock) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.send(.pingReq)
            try await broker.received(.pingReq)
            await clock.run(for: .seconds(3_600), on: loop)
            #expect(await client.now.bytes.isEmpty)
            await client.close()
            try await broker.endOfConnection(1)
            try await broker.verify()
        }
    }
}
