import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// The numbers of `client.metrics`.
@Suite(.timeLimit(.minutes(5))) struct ClientMetricsCountTests {
    @Test(arguments: OutgoingSetup.all)
    func `the client's metrics count acknowledgements and failures, and measure acknowledgement times`(
        _ setup: OutgoingSetup
    ) async throws {
        try await setup.connected(OfflinePolicy(maximumAge: .seconds(60))) { world, gate in
            let client = world.client
            for number in 0..<OutgoingSetup.receiveMaximum + 2 {
                try await client.enqueue("\(number)", to: "t", properties: setup.properties())
            }
            let withdrawn = try await client.enqueue("x", to: "t", properties: setup.properties())
            #expect(try await withdrawn.withdraw())
            await world.soon { await world.publishes().count == OutgoingSetup.receiveMaximum }
            await world.run(for: .seconds(1))
            gate.release()
            await world.soon { client.metrics.acknowledgedCount == OutgoingSetup.receiveMaximum + 2 }
            try client.publish(text: "0", to: "t", qos: .zero)
            let metrics = client.metrics
            #expect(metrics.acceptedCount == OutgoingSetup.receiveMaximum + 4)
            #expect(metrics.failedCount == 1)
            #expect(metrics.inFlightCount == 0)
            #expect(metrics.acknowledgementTimes.count == UInt64(OutgoingSetup.receiveMaximum + 2))
            #expect(
                metrics.acknowledgementTimes.quantile(0.5) == DurationHistogram.upperBounds.first { $0 > .seconds(1) })
            #expect(metrics.connectionCount == 1 && metrics.reconnectCount == 0)
        }
    }

    @Test func `the measured time until an acknowledgement does not include the time without a connection`()
        async throws
    {
        try await OutgoingSetup(isListening: false, hasStore: false, hasProperties: false).offline(OfflinePolicy()) {
            world in
            try await world.client.enqueue("a", to: "t")
            await world.run(for: .seconds(5))
            await world.soon { world.client.metrics.acknowledgedCount == 1 }
            #expect(world.client.metrics.acknowledgementTimes.count == 1)
            #expect(world.client.metrics.acknowledgementTimes.sum < .seconds(1))
        }
    }

    @Test func `a message that the broker refuses counts as a failure in the client's metrics`() async throws {
        let refusal = Acknowledgement(packetID: 1, reasonCode: .quotaExceeded)
        let script = ConnectionScript.connection([.accept(), .fault(.replace(.pubAck, with: .pubAck(refusal)))])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            await #expect(throws: CourierError.self) { try await world.client.publish("a", to: "t") }
            #expect(world.client.metrics.failedCount == 1)
            #expect(world.client.metrics.acknowledgedCount == 0)
        }
    }

    @Test func `the client's metrics count connections, messages and bytes, also after a reconnect`() async throws {
        let broker = try await RealBroker()
        let test = try TestClient(.local(broker.port, id: "counted"))
        let client = test.client
        try await test.connect()
        try await client.subscribe(to: "m/#", qos: .two)
        for number in 0..<10 { try await client.publish("\(number)", to: "m/\(number)", qos: number < 5 ? .one : .two) }
        await client.disconnectAndWait()
        try await test.connect()
        let metrics = client.metrics
        #expect(metrics.acceptedCount == 10 && metrics.acknowledgedCount == 10 && metrics.failedCount == 0)
        #expect(metrics.receivedCount == 10)
        #expect(metrics.connectionCount == 2 && metrics.reconnectCount == 1)
        #expect(metrics.sentByteCount > 100 && metrics.receivedByteCount > 100)
        #expect(metrics.acknowledgementTimes.count == 10)
        try await test.end()
        await broker.stop()
    }
}
