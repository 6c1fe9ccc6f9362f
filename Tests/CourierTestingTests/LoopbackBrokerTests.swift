import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

/// A loopback broker on an event loop that is shared with other users.
@Suite(.timeLimit(.minutes(1))) struct LoopbackBrokerTests {
    @Test func `the virtual clock of the event loop decides when a delayed will is published`() async throws {
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

    @Test func `shutdown() closes the broker's connections and does not stop the given event loop`() async throws {
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

    @Test func `shutdown() also ends connections that are still closing, and the event loop can run a new broker`()
        async throws
    {
        let clock = VirtualClock()
        let loop = try EventLoop(name: "shared", clock: clock)
        let broker = try LoopbackBroker.start(loop: loop)
        let client = await ScriptedClient.connect(broker.connectInMemory(), on: loop)
        #expect(await client.packets(1).count == 1)
        await client.pauseReading()  // The client does not notice the end, and does not close.
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
