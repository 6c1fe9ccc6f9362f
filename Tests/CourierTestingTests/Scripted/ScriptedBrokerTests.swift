import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import Testing

@Suite struct `Scripted broker` {
    /// The transport between client and broker.
    enum Way: CaseIterable, Sendable { case tcp, unix, memory }

    /// Runs `body` with a broker and an event loop for clients. With a virtual clock, the broker uses the same loop.
    static func withBroker(
        _ script: [ConnectionScript] = [], afterwards: [ScriptStep] = [], over way: Way = .memory,
        clock: VirtualClock? = nil, packetLimit: Int = ScriptedBroker.defaultPacketLimit,
        _ body: (ScriptedBroker, EventLoop, @Sendable () -> TransportEndpoint) async throws -> Void
    ) async throws {
        let loop = try EventLoop(name: "script-test", clock: clock ?? RealLoopClock())
        let path = FileManager.default.temporaryDirectory.appending(path: "scripted-\(UUID().uuidString.prefix(13))")
            .path()
        let broker = try ScriptedBroker.start(
            script, afterwards: afterwards, at: way == .unix ? .unix(path: path) : .tcp(),
            on: clock == nil ? nil : loop, packetLimit: packetLimit)
        do {
            try await body(broker, loop) { way == .memory ? broker.connectInMemory() : broker.endpoint }
        } catch {
            await broker.shutdown()
            await loop.shutdown()
            throw error
        }
        await broker.shutdown()
        await loop.shutdown()
    }

    // MARK: Without a script

    @Test(arguments: Way.allCases, [ProtocolVersion.v311, .v5])
    func `a broker without a script answers each packet as the protocol requires`(way: Way, version: ProtocolVersion)
        async throws
    {
        try await Self.withBroker(over: way) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), version, on: loop)
            await client.send(
                .subscribe(Subscribe(packetID: 1, subscriptions: [Subscription("a", qos: .exactlyOnce)])),
                .unsubscribe(Unsubscribe(packetID: 2, filters: ["a"])),
                .publish(Publish(topic: "a", payload: [], delivery: .atLeastOnce(3, isDuplicate: false))),
                .publish(Publish(topic: "a", payload: [], delivery: .exactlyOnce(4, isDuplicate: false))),
                .pubRel(Acknowledgement(packetID: 4)), .pingReq)
            let answers = await client.packets(7)
            let removed: [PacketReasonCode] = version == .v5 ? [.success] : []
            #expect(
                answers == [
                    .connAck(ConnAck()), .subAck(SubAck(packetID: 1, reasonCodes: [.grantedQoS2])),
                    .unsubAck(UnsubAck(packetID: 2, reasonCodes: removed)), .pubAck(Acknowledgement(packetID: 3)),
                    .pubRec(Acknowledgement(packetID: 4)), .pubComp(Acknowledgement(packetID: 4)), .pingResp,
                ])
            await client.send(.disconnect(Disconnect()))
            #expect(await client.end().reason == .closedByPeer)
            try await broker.verify()
        }
    }

    @Test func `received packets are recorded with their connection and time`() async throws {
        let clock = VirtualClock()
        try await Self.withBroker(clock: clock) { broker, loop, endpoint in
            let first = await ScriptedClient.connect(endpoint(), clientID: "one", on: loop)
            try await broker.received(.connect)
            await clock.run(for: .seconds(5), on: loop)
            let second = await ScriptedClient.connect(endpoint(), .v311, clientID: "two", on: loop)
            await second.publish(7)
            await first.publish(8, 9)
            let third = try await broker.received(.publish, number: 3)
            #expect(third.connection == 1)
            #expect(third.receivedAt == clock.now)
            let found1 = try await broker.received(.publish, on: 2)
            #expect(found1.packet.publish?.delivery.packetID == 7)
            let connections = await broker.connections
            #expect(connections.map(\.number) == [1, 2])
            #expect(connections.map(\.connect?.clientID) == ["one", "two"])
            #expect(connections.map(\.connect?.version) == [.v5, .v311])
            #expect(connections.map { clock.start.duration(to: $0.openedAt) } == [.zero, .seconds(5)])
            #expect(connections[0].publishes.compactMap(\.delivery.packetID) == [8, 9])
            #expect(connections[0].receivedByteCount > 0 && connections[0].sentByteCount > 0)
            #expect(await broker.packets(.connect).count == 2)
            await first.close()
            let found2 = try await broker.endOfConnection(1)
            #expect(found2.closeReason == .closedByPeer)
        }
    }
}
