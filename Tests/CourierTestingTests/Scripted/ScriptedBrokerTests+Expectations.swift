import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

/// Expectations of a script, and its failures.
extension `Scripted broker` {
    @Test func `a failed expectation reports its step and the packet that was received instead`() async throws {
        let script: [ConnectionScript] = [.connection([.accept(), .expect(.publish(to: "a"))])]
        try await Self.withBroker(script) { broker, loop, endpoint in
            let waiting = Task { try await broker.received(.publish) }
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.send(
                .pingReq, .subscribe(Subscribe(packetID: 1, subscriptions: [Subscription("a", qos: .atMostOnce)])))
            let record = await client.end()
            #expect(record.packets == [.connAck(ConnAck()), .pingResp])
            let failure = await #expect(throws: ScriptFailure.self) { try await waiting.value }
            #expect(failure?.description == "connection 1, step 2 (expect PUBLISH (to a)): SUBSCRIBE arrived instead")
            let verdict = await #expect(throws: ScriptFailure.self) { try await broker.verify() }
            #expect(verdict == failure)
            #expect(await broker.failures == [failure].compactMap(\.self))
        }
    }

    @Test func `a script fails if the client closes early, but not if the client closes during a pause step`()
        async throws
    {
        let script: [ConnectionScript] = [
            .connection([.accept(), .pause(.seconds(3_600)), .send(.pingResp)]),
            .connection([.accept(), .hold(ScriptGate()), .expect(.publish)]),
        ]
        try await Self.withBroker(script) { broker, loop, endpoint in
            let first = await ScriptedClient.connect(endpoint(), on: loop)
            _ = await first.packets(1)
            await first.close()
            try await broker.endOfConnection(1)
            #expect(await broker.failures.isEmpty)
            let second = await ScriptedClient.connect(endpoint(), on: loop)
            _ = await second.packets(1)
            await second.close()
            let failure = await #expect(throws: ScriptFailure.self) { try await broker.played() }
            #expect(failure?.description == "connection 2, step 3 (expect PUBLISH): the client closed the connection")
        }
    }

    @Test
    func `a serve step answers all packets before the given packet, and a later step answers the given packet`()
        async throws
    {
        let script: [ConnectionScript] = [
            .connection([.serve(until: .publish(qos: .exactlyOnce)), .send(.pingResp), .answer, .cut(.orderly)])
        ]
        try await Self.withBroker(script) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.publish(1)
            await client.send(.publish(Publish(topic: "t", payload: [], delivery: .exactlyOnce(2, isDuplicate: true))))
            let record = await client.end()
            #expect(
                record.packets == [
                    .connAck(ConnAck()), .pubAck(Acknowledgement(packetID: 1)), .pingResp,
                    .pubRec(Acknowledgement(packetID: 2)),
                ])
            #expect(await broker.connections[0].publishes.map(\.delivery.isDuplicate) == [false, true])
            try await broker.verify()
        }
    }

    @Test func `verify() reports the connection or step that the client has not reached`() async throws {
        try await Self.withBroker([.connection([.accept(), .expect(.publish)]), .connection()]) {
            broker, loop, endpoint in
            let none = await #expect(throws: ScriptFailure.self) { try await broker.verify() }
            #expect(none?.description == "connection 1: the client did not connect")
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            _ = await client.packets(1)
            let half = await #expect(throws: ScriptFailure.self) { try await broker.verify() }
            #expect(half?.description == "connection 1, step 2 (expect PUBLISH): the script did not complete this step")
        }
    }

    @Test func `verify() reports a fault that was applied to fewer answers than its count requires`() async throws {
        let steps: [ScriptStep] = [
            .accept(), .fault(.delay(.subAck, by: .seconds(1))), .fault(.repeated(.pubAck, count: 2)),
        ]
        try await Self.withBroker([.connection(steps)]) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            for used in 0..<2 {
                let failure = await #expect(throws: ScriptFailure.self) { try await broker.verify() }
                #expect(
                    failure?.description
                        == "connection 1, step 3 (send PUBACK 2 times): the fault applied to \(used) of 2 answers")
                await client.publish(UInt16(used + 1))
                try await broker.received(.publish, number: used + 1)
            }
            try await broker.verify()
        }
    }

    @Test func `verify() reports an unused fault of a connection that has ended`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .fault(.drop(.pubAck)), .expect(.publish), .cut(.orderly)])
        ]
        try await Self.withBroker(script) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.publish(1)
            try await broker.endOfConnection(1)
            let failure = await #expect(throws: ScriptFailure.self) { try await broker.verify() }
            #expect(
                failure?.description == "connection 1, step 2 (drop PUBACK): the fault applied to 0 of 1 answers")
        }
    }

    @Test func `a packet that the protocol version cannot encode fails the script`() async throws {
        try await Self.withBroker([.connection([.refuse(.serverBusy)])]) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), .v311, on: loop)
            #expect(await client.end().bytes.isEmpty)
            let failure = await #expect(throws: ScriptFailure.self) { try await broker.received(.publish) }
            #expect(failure?.event.contains("CONNACK cannot be encoded in MQTT 3.1.1") == true)
        }
    }

    @Test func `malformed bytes fail the script and end the connection`() async throws {
        try await Self.withBroker { broker, loop, endpoint in
            let client = await ScriptedClient.open(endpoint(), on: loop)
            await client.sendBytes([0x00, 0x00])
            #expect(await client.end().reason == .closedByPeer)
            #expect(await broker.failures.map(\.event).first?.hasPrefix("the client sent malformed bytes") == true)
        }
    }

    @Test func `more packets than the recording limit end the connection and fail the script`() async throws {
        try await Self.withBroker(packetLimit: 3) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.publish(1, 2, 3)
            #expect(await client.end().reason?.isReset == true)
            #expect(await broker.packets().count == 3)
            #expect(await broker.failures.map(\.event) == ["more packets arrived than the recording limit of 3"])
        }
    }
}
