import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// QoS 1 and QoS 2 messages to a broker that loses, repeats and reorders its acknowledgements.
@Suite(.timeLimit(.minutes(5))) struct ScriptedDeliveryTests {
    private static let present = ScriptStep.accept(isSessionPresent: true)

    @Test func `after a reconnect, a message without a PUBACK is sent with DUP and the same packet id`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .serve(until: .publish), .cut(.reset)]), .connection([Self.present]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let outcome = try world.publish("x")
            await world.run(for: .seconds(1))
            let publishes = await world.publishes()
            #expect(publishes.map(\.text) == ["x", "x"])
            #expect(publishes.map(\.delivery.isDuplicate) == [false, true])
            #expect(publishes[0].delivery.packetID == publishes[1].delivery.packetID)
            #expect(outcome.value?.success?.reasonCode == .success)
            #expect(world.events.count { $0 == "messageSend" } == 1)
            #expect(world.events.count { $0 == "messageSendSuccess" } == 1)
        }
    }

    @Test func `a PUBACK for a QoS 2 message completes the message, and deliveryDowngraded is reported once`()
        async throws
    {
        let script = ConnectionScript.connection([
            .accept(), .expect(.publish), .send(.pubAck(Acknowledgement(packetID: 1))),
            .expect(.publish), .send(.pubAck(Acknowledgement(packetID: 1))),
        ])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            for text in ["x", "y"] {
                let outcome = try world.publish(text, qos: .two)
                await world.until { outcome.value?.success != nil }
            }
            #expect(world.events.count { $0 == "deliveryDowngraded" } == 1)
            #expect(world.events.count { $0 == "messageSendSuccess" } == 2)
            #expect(world.client.connectionState == .connected)
        }
    }

    /// The script of docs/guides/testing.md for a client that subscribes.
    @Test func `a subscribed client sends an unacknowledged message again without a new SUBSCRIBE`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .serve(until: .publish(to: "orders/7")), .cut(.reset)]),
            .connection([.accept(isSessionPresent: true), .serve(until: .publish(isDuplicate: true)), .answer]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            try await world.client.subscribe(to: "orders/+/state")
            let order = try world.publish("one", to: "orders/7")
            await world.run(for: .seconds(2))
            await world.until { order.value != nil }
            #expect(order.value?.success?.reasonCode == .success)
            #expect(await world.broker.packets(.subscribe).map(\.connection) == [1])
            try await world.broker.verify()
        }
    }

    @Test func `without a session, an unacknowledged message is published again without DUP`() async throws {
        let script = ConnectionScript.connection([.accept(), .serve(until: .publish), .cut(.reset)])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let outcome = try world.publish("x")
            await world.run(for: .seconds(1))
            #expect(await world.publishes().map(\.delivery.isDuplicate) == [false, false])
            #expect(outcome.value?.success?.reasonCode == .success)
        }
    }

    @Test(arguments: [SessionLossPolicy.fail, .drop])
    func `without a session, an unacknowledged message fails if lossPolicy is fail or drop`(_ policy: SessionLossPolicy)
        async throws
    {
        let script = ConnectionScript.connection([.accept(), .serve(until: .publish), .cut(.reset)])
        try await ScriptedWorld.run([script]) {
            $0.session.lossPolicy = policy
        } _: { world in
            await world.connect()
            let outcome = try world.publish("x")
            await world.run(for: .seconds(1))
            #expect(await world.publishes().count == 1)
            #expect(outcome.value?.failure?.code == .connectionLost)
        }
    }

    @Test func `after a reconnect, in-flight messages are sent again in order, before new messages`() async throws {
        let script: [ConnectionScript] = [
            .connection([
                .accept(), .fault(.drop(.pubAck, count: .max)), .fault(.drop(.pubRec, count: .max)),
                .serve(until: .publish(to: "cut")), .cut(.orderly),
            ]),
            .connection([Self.present]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let outcomes = try (0..<20).map { try world.publish("\($0)", qos: $0 % 2 == 0 ? .one : .two) }
            try world.publish("", to: "cut", qos: .zero)
            await world.settle()
            let late = try world.publish("late")
            await world.run(for: .seconds(1))
            #expect(await world.publishes(on: 2).map(\.text) == (0..<20).map { "\($0)" } + ["late"])
            #expect(await world.publishes(on: 2).dropLast().allSatisfy { $0.delivery.isDuplicate })
            #expect((outcomes + [late]).allSatisfy { $0.value?.success != nil })
        }
    }

    // MARK: QoS 2

    @Test func `after a reconnect, only PUBREL is sent if PUBREC was received before`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .fault(.drop(.pubComp)), .serve(until: .publish(to: "cut")), .cut(.reset)]),
            .connection([Self.present]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let outcome = try world.publish("x", qos: .two)
            await world.settle()
            #expect(await world.broker.packets(.pubRel, on: 1).count == 1)
            try world.publish("", to: "cut", qos: .zero)
            await world.run(for: .seconds(1))
            #expect(await world.publishes(on: 2).isEmpty)
            #expect(await world.broker.packets(.pubRel, on: 2).count == 1)
            #expect(outcome.value?.success != nil)
        }
    }

    @Test func `after a reconnect, a QoS 2 message is sent again if no PUBREC was received`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .fault(.drop(.pubRec)), .serve(until: .publish(to: "cut")), .cut(.reset)]),
            .connection([Self.present]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let outcome = try world.publish("x", qos: .two)
            try world.publish("", to: "cut", qos: .zero)
            await world.run(for: .seconds(1))
            #expect(await world.publishes(on: 2).map(\.delivery.isDuplicate) == [true])
            #expect(outcome.value?.success != nil)
        }
    }

    @Test func `a QoS 2 message fails with connectionLost if the session is lost after its PUBREC`() async throws {
        let script = ConnectionScript.connection([
            .accept(), .fault(.drop(.pubComp)), .serve(until: .publish(to: "cut")), .cut(.reset),
        ])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let outcome = try world.publish("x", qos: .two)
            await world.settle()
            try world.publish("", to: "cut", qos: .zero)
            await world.run(for: .seconds(1))
            #expect(outcome.value?.failure?.code == .connectionLost)
            #expect(await world.publishes(on: 2).isEmpty)
        }
    }

    // MARK: Unexpected acknowledgements

    @Test(arguments: [QoS.one, .two]) func `repeated acknowledgements complete a message once`(_ qos: QoS) async throws
    {
        let script = ConnectionScript.connection([
            .accept(), .fault(.repeated(.pubAck, times: 3, count: .max)), .fault(.repeated(.pubRec, count: .max)),
            .fault(.repeated(.pubComp, count: .max)),
        ])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            for number in 0..<10 {
                let outcome = try world.publish("\(number)", qos: qos)
                await world.settle()
                #expect(outcome.value?.success != nil)
            }
            #expect(await world.broker.connections.count == 1)
            #expect(await world.publishes().count == 10)
            #expect(world.events.count { $0 == "messageSendSuccess" } == 10)
        }
    }

    @Test func `acknowledgements with an unknown packet id are ignored`() async throws {
        let script = ConnectionScript.connection([
            .accept(), .send(.pubAck(Acknowledgement(packetID: 77))), .send(.pubComp(Acknowledgement(packetID: 78))),
            .send(.pubRec(Acknowledgement(packetID: 79))), .send(.pingResp),
        ])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let outcome = try world.publish("x")
            await world.settle()
            #expect(outcome.value?.success != nil)
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test(arguments: [QoS.one, .two]) func `acknowledgements in reverse order complete the messages in reverse order`(
        _ qos: QoS
    ) async throws {
        let script = ConnectionScript.connection([
            .accept(), .fault(.reverse(.pubAck, groupsOf: 5)), .fault(.reverse(.pubRec, groupsOf: 5)),
        ])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let ended = Series<Int>()
            for number in 0..<5 {
                try world.client.publish(text: "\(number)", to: "t", qos: qos) { result in
                    if case .success = result { ended.append(number) }
                }
            }
            await world.settle()
            #expect(ended.values == [4, 3, 2, 1, 0])
        }
    }

    @Test func `a message that the broker refuses fails, and the next message succeeds`() async throws {
        let refusal = Acknowledgement(
            packetID: 1, reasonCode: .quotaExceeded, properties: [.reasonString("come back tomorrow")])
        let script = ConnectionScript.connection([.accept(), .fault(.replace(.pubAck, with: .pubAck(refusal)))])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let refused = try world.publish("x")
            let taken = try world.publish("y")
            await world.settle()
            #expect(refused.value?.failure?.code == .publishRefused)
            #expect(refused.value?.failure?.message.contains("come back tomorrow") == true)
            #expect(taken.value?.success != nil)
        }
    }

    @Test func `the client respects the broker's receive maximum and sends all messages in order`() async throws {
        let gate = ScriptGate()
        let script = ConnectionScript.connection([
            .accept(properties: [.receiveMaximum(3)]), .fault(.hold(.pubAck, until: gate)),
        ])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let outcomes = try (0..<50).map { try world.publish("\($0)") }
            await world.settle()
            #expect(await world.publishes().count == 3)
            gate.release()
            await world.settle()
            #expect(await world.publishes().map(\.text) == (0..<50).map { "\($0)" })
            #expect(outcomes.allSatisfy { $0.value?.success != nil })
        }
    }

    @Test func `a QoS 2 message fails and is not sent if the broker's maximum QoS is 1`() async throws {
        let script = ConnectionScript.connection([.accept(properties: [.maximumQoS(.atLeastOnce)])])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let outcome = try world.publish("x", qos: .two)
            await world.settle()
            #expect(outcome.value?.failure?.code == .publishRefused)
            #expect(await world.publishes().isEmpty)
            #expect(world.client.connectionState == .connected)
        }
    }

    // MARK: What this client promises

    @Test func `a message with oneWithoutPersistenceAndNoRetry fails on a connection loss and is not sent again`()
        async throws
    {
        let script: [ConnectionScript] = [
            .connection([.accept(), .serve(until: .publish), .cut(.reset)]), .connection([Self.present]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let outcome = try world.publish("x", qos: .oneWithoutPersistenceAndNoRetry)
            await world.settle()
            #expect(outcome.value?.failure?.code == .connectionLost)
            await world.run(for: .seconds(10))
            #expect(await world.publishes().count == 1)
        }
    }

    @Test func `publish() throws CancellationError if its task is cancelled, and the message is still delivered`()
        async throws
    {
        let gate = ScriptGate()
        let script = ConnectionScript.connection([.accept(), .fault(.hold(.pubAck, until: gate))])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let task = Task { [client = world.client] in try await client.publish("x", to: "t") }
            await world.until { await world.publishes().count == 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(world.client.waitingCount == 0)
            gate.release()
            await world.settle()
            #expect(world.events.last == "messageSendSuccess")
        }
    }

    @Test func `1000 messages arrive in order although the connection breaks repeatedly`() async throws {
        var script: [ConnectionScript] = (1...40).map { number in
            .connection([
                .accept(isSessionPresent: number > 1), .cutAfterReceiving(byteCount: 60 + 97 * number, .reset),
            ])
        }
        script.append(.connection([Self.present]))
        try await ScriptedWorld.run(script, isScriptChecked: false) {
            $0.limits.maximumInFlight = 16
        } _: { world in
            await world.connect()
            let outcomes = try (0..<1_000).map { try world.publish("\($0)", qos: $0 % 2 == 0 ? .one : .two) }
            await world.run(for: .seconds(2_000))
            #expect(outcomes.allSatisfy { $0.value?.success != nil })
            var seen = Set<String>()
            let first = await world.publishes().map(\.text).filter { seen.insert($0).inserted }
            #expect(first == (0..<1_000).map { "\($0)" })
            #expect(await world.broker.connections.count > 10)
        }
    }
}
