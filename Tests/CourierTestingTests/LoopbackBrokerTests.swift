import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

/// A loopback broker on a loop that somebody else has as well.
@Suite(.timeLimit(.minutes(1))) struct LoopbackBrokerTests {
    @Test func `a will comes when its delay is over by the clock of the given loop`() async throws {
        let clock = VirtualClock()
        let loop = try EventLoop(name: "shared", clock: clock)
        let broker = try LoopbackBroker.start(loop: loop)
        let reader = await ScriptedClient.connect(broker.connectInMemory(), clientID: "reader", on: loop)
        let subscription = Subscription("wills", qos: .atMostOnce)
        await reader.send(.subscribe(Subscribe(packetID: 1, subscriptions: [subscription])))
        #expect(await reader.packets(2).count == 2)

        let leaver = await ScriptedClient.open(broker.connectInMemory(), on: loop)
        let will = Connect.Will(topic: "wills", payload: [1], properties: [.willDelayInterval(60)])
        await leaver.send(
            .connect(
                Connect(version: .v5, clientID: "leaver", will: will, properties: [.sessionExpiryInterval(.max)])))
        #expect(await leaver.packets(1).first?.connAckCode == .success)
        await leaver.close()
        await clock.settle(loop)
        await clock.run(for: .seconds(59), on: loop)
        #expect(await reader.now.packets.count == 2)
        await clock.run(for: .seconds(1), on: loop)
        #expect(await reader.now.packets.last?.publish?.topic == "wills")
        await broker.shutdown()
        await loop.shutdown()
    }

    @Test func `a broker on a given loop ends its connections and lets the loop live`() async throws {
        let clock = VirtualClock()
        let loop = try EventLoop(name: "shared", clock: clock)
        let broker = try LoopbackBroker.start(loop: loop)
        let client = await ScriptedClient.connect(broker.connectInMemory(), on: loop)
        #expect(await client.packets(1).count == 1)
        await broker.shutdown()
        #expect(await client.end().reason != nil)
        #expect(await clock.settle(loop) == nil, "no timer is left")
        let late = await ScriptedClient.connect(broker.connectInMemory(), on: loop)
        #expect(await late.end().packets.isEmpty)

        await loop.shutdown()
    }

    @Test func `it also ends those that it was closing already, and a given loop takes another broker`() async throws {
        let clock = VirtualClock()
        let loop = try EventLoop(name: "shared", clock: clock)
        let broker = try LoopbackBroker.start(loop: loop)
        let client = await ScriptedClient.connect(broker.connectInMemory(), on: loop)
        #expect(await client.packets(1).count == 1)
        await client.pauseReading()  // It sees no end, and does not close.
        broker.disconnect("client")
        #expect(await clock.settle(loop) != nil, "the broker has to wait for it in this test")
        await broker.shutdown()
        #expect(await clock.settle(loop) == nil, "no timer is left")

        let again = try LoopbackBroker.start(loop: loop)
        #expect(await ScriptedClient.connect(again.endpoint, on: loop).packets(1).count == 1)
        await again.shutdown()
        await loop.shutdown()
    }
}
