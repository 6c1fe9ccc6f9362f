import CourierTesting
import MQTTCodec
import Testing

/// Answers that are held, delayed, changed or dropped.
extension `Scripted broker` {
    @Test func `acknowledgements that a ScriptGate holds back are sent when the gate is released`() async throws {
        let gate = ScriptGate()
        let script: [ConnectionScript] = [.connection([.accept(), .fault(.hold(.pubAck, until: gate, count: 2))])]
        try await Self.withBroker(script) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.publish(1, 2, 3)
            #expect(await client.packets(2).map(\.acknowledgedID) == [nil, 3])
            gate.release()
            #expect(await client.packets(4).map(\.acknowledgedID) == [nil, 3, 1, 2])
            await client.publish(4)
            #expect(await client.packets(5).last?.acknowledgedID == 4)
        }
    }

    @Test func `a ScriptGate that is already released does not hold back acknowledgements`() async throws {
        let gate = ScriptGate()
        gate.release()
        #expect(gate.isReleased)
        let script: [ConnectionScript] = [
            .connection([.hold(gate), .accept(), .fault(.hold(.pubAck, until: gate))])
        ]
        try await Self.withBroker(script) { _, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.publish(1, 2)
            #expect(await client.packets(3).map(\.acknowledgedID) == [nil, 1, 2])
        }
    }

    @Test(arguments: Way.allCases)
    func `the delay of an answer is measured in virtual time`(way: Way) async throws {
        let clock = VirtualClock()
        let script: [ConnectionScript] = [.connection([.accept(), .fault(.delay(.pubAck, by: .seconds(5)))])]
        try await Self.withBroker(script, over: way, clock: clock) { _, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.publish(1)
            await clock.run(for: .seconds(2), on: loop)
            await client.publish(2)
            await clock.run(for: .milliseconds(2_999), on: loop)
            #expect(await client.now.packets.count == 1)
            await clock.run(for: .milliseconds(1), on: loop)
            #expect(await client.now.packets.compactMap(\.acknowledgedID) == [1])
            #expect(await clock.advanceToNextTimer(of: loop) == .seconds(2))
            #expect(await client.now.packets.compactMap(\.acknowledgedID) == [1, 2])
        }
    }

    @Test(arguments: [
        (AnswerFault.drop(.pubAck), [2, 3, 4] as [PacketID]),
        (.drop(.pubAck, count: 3), [4]),
        (.repeated(.pubAck), [1, 1, 2, 3, 4]),
        (.repeated(.pubAck, times: 3, count: 2), [1, 1, 1, 2, 2, 2, 3, 4]),
        (.reverse(.pubAck), [2, 1, 4, 3]),
        (.reverse(.pubAck, groupsOf: 3, count: 3), [3, 2, 1, 4]),
        (.replace(.pubAck, with: .pubAck(Acknowledgement(packetID: 999)), count: 2), [999, 999, 3, 4]),
    ])
    func `an answer fault drops, repeats, reverses or replaces the acknowledgements of the broker`(
        fault: AnswerFault, expected: [PacketID]
    ) async throws {
        try await Self.withBroker([.connection([.accept(), .fault(fault)])]) { _, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.publish(1, 2, 3, 4)
            // The answer to the last packet shows that no other follows.
            await client.send(.pingReq)
            let record = await client.wait { $0.packets.last == .pingResp }
            #expect(record.packets.compactMap(\.acknowledgedID) == expected)
        }
    }

    // MARK: Time and reading

    @Test func `packets that are received during a pause are answered after the pause`() async throws {
        let clock = VirtualClock()
        let script: [ConnectionScript] = [.connection([.accept(), .pause(.seconds(10))])]
        try await Self.withBroker(script, clock: clock) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.publish(1, 2)
            try await broker.received(.publish, number: 2)
            #expect(await client.now.packets.count == 1)
            await clock.run(for: .seconds(10), on: loop)
            #expect(await client.now.packets.map(\.acknowledgedID) == [nil, 1, 2])
        }
    }

    @Test func `a broker that stopped reading receives the client's bytes after it resumes reading`() async throws {
        let gate = ScriptGate()
        let script: [ConnectionScript] = [
            .connection([.accept(), .stopReading, .hold(gate), .resumeReading])
        ]
        try await Self.withBroker(script) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            _ = await client.packets(1)
            await client.send(.publish(Publish(topic: "big", payload: [UInt8](repeating: 7, count: 1 << 20))))
            #expect(await broker.packets(.publish).isEmpty)
            gate.release()
            let found4 = try await broker.received(.publish)
            #expect(found4.packet.publish?.payload.count == 1 << 20)
        }
    }
}
