import CourierTesting
import CourierTransport
import MQTTCodec
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `Fault proxy` {
    private func expect(
        _ counts: ProxyCounts, _ connections: Int, _ fromClients: Int, _ fromBroker: Int, _ faults: Int,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            [counts.connections, counts.packetsFromClients, counts.packetsFromBroker, counts.faults]
                == [connections, fromClients, fromBroker, faults], sourceLocation: location)
    }

    // MARK: Faults

    @Test(arguments: [ProtocolVersion.v31, .v311, .v5])
    func `a rule that drops the third PUBACK drops no other packet`(version: ProtocolVersion) async throws {
        try await ProxyStage.run(["drop the third PUBACK"]) { stage in
            let client = await stage.client(version)
            await client.publish(1, 2, 3, 4)
            #expect(await client.packets(4).compactMap(\.acknowledgedID?.rawValue) == [1, 2, 4])
            #expect(stage.packets.filter { $0.copyCount == 0 }.map(\.type) == [.pubAck])
            #expect(stage.packets.allSatisfy { $0.version == version })
            expect(stage.proxy.counts, 1, 5, 4, 1)
        }
    }

    @Test func `a delayed packet arrives after its delay, and packets behind it keep their order`() async throws {
        let clock = VirtualClock()
        try await ProxyStage.run(["delay PUBLISH to t by 2 s"], clock: clock) { stage in
            let client = await stage.client()
            await client.publish(1)
            await client.send(.pingReq)
            await clock.run(for: .milliseconds(1_999), on: stage.loop)
            #expect(await stage.broker.packets().map(\.packet.type) == [.connect])
            #expect(await client.now.packets.map(\.type) == [.connAck])
            await clock.run(for: .milliseconds(1), on: stage.loop)
            #expect(await stage.broker.packets().map(\.packet.type) == [.connect, .publish, .pingReq])
            #expect(await client.now.packets.map(\.type) == [.connAck, .pubAck, .pingResp])
            let delayed = try #require(stage.packets.first { $0.type == .publish })
            #expect(clock.start.duration(to: delayed.time) == .seconds(2))
            #expect(delayed.topic == "t" && delayed.faults.count == 1)
        }
    }

    @Test func `if the client closes while its packet is delayed, the broker's connection ends after the delay`()
        async throws
    {
        let clock = VirtualClock()
        try await ProxyStage.run(["delay DISCONNECT by 1 s"], clock: clock) { stage in
            let client = await stage.client()
            await client.send(.disconnect(Disconnect()))
            await client.close()
            await clock.run(for: .milliseconds(999), on: stage.loop)
            #expect(stage.endings.isEmpty)
            await clock.run(for: .milliseconds(1), on: stage.loop)
            let record = try await stage.broker.endOfConnection(1)
            #expect(record.packets.map(\.packet.type) == [.connect, .disconnect])
            #expect(record.closeReason == .closedByPeer || record.closeReason == .closedByOwner)
            #expect(stage.endings == [.closed(by: .client)])
        }
    }

    @Test func `a rule that cuts after 3 packets forwards the third packet and then ends both connections`()
        async throws
    {
        let rule = try FaultRule("cut after 3 packets")
        try await ProxyStage.run([rule.description]) { stage in
            let client = await stage.client()
            await client.publish(1)
            let record = await client.end()
            #expect(record.reason == .closedByPeer)
            let ended = try await stage.broker.endOfConnection(1)
            #expect(ended.packets.map(\.packet.type) == [.connect, .publish])
            #expect(stage.endings == [.cut(by: rule)])
            let second = await stage.client()
            await second.publish(1)
            #expect(await second.packets(2).map(\.type) == [.connAck, .pubAck])
        }
    }

    @Test func `a rule that resets at PUBLISH resets both connections and does not forward the PUBLISH`() async throws {
        try await ProxyStage.run(["reset at PUBLISH"]) { stage in
            let client = await stage.client()
            #expect(await client.packets(1).map(\.type) == [.connAck])
            await client.publish(1)
            #expect(await client.end().reason?.isReset == true)
            let ended = try await stage.broker.endOfConnection(1)
            #expect(ended.closeReason?.isReset == true)
            #expect(ended.packets.map(\.packet.type) == [.connect])
        }
    }

    @Test func `a duplicated packet is received twice, and a corrupted packet has another last byte`() async throws {
        try await ProxyStage.run(["duplicate the first PUBACK", "corrupt the second PUBACK"]) { stage in
            let client = await stage.client()
            await client.publish(1, 2)
            #expect(await client.packets(4).compactMap(\.acknowledgedID?.rawValue) == [1, 1, 2 ^ 0xFF])
            #expect(stage.packets.last?.bytes == [0x40, 2, 0, 2 ^ 0xFF])
            expect(stage.proxy.counts, 1, 3, 4, 2)
        }
    }

    @Test func `rules that are added or removed while a client is connected apply to its next packets`() async throws {
        try await ProxyStage.run { stage in
            let client = await stage.client()
            await client.publish(1)
            #expect(await client.packets(2).count == 2)
            stage.proxy.add(try FaultRule("drop PUBACK"))
            await client.publish(2)
            await client.send(.pingReq)
            #expect(await client.packets(3).last == .pingResp)
            stage.proxy.removeRules()
            await client.publish(3)
            #expect(await client.packets(4).last?.acknowledgedID?.rawValue == 3)
        }
    }

    // MARK: Bytes

    // `FaultProxyStreamTests` shows the other direction. A `ScriptedBroker` ends the connection at the first bad packet.
    @Test func `packets of the broker that violate the specification are forwarded unchanged`() async throws {
        let invalid: [UInt8] = [0x00, 1, 5, 0x9F, 2, 0, 1, 0x30, 3, 0, 9, 0xFF]
        try await ProxyStage.run([], [.connection([.accept(), .sendBytes(invalid), .cut(.orderly)])]) { stage in
            let client = await stage.client()
            #expect(Array(await client.end().bytes.suffix(invalid.count)) == invalid)
            let types = stage.packets.filter { $0.sender == .server }.map(\.type)
            #expect(types == [.connAck, nil, .subAck, .publish])
            #expect(stage.packets.suffix(3).allSatisfy { $0.packet == nil })
        }
    }

    @Test(arguments: [Endpoint.client, .server])
    func `a packet with a malformed length ends both connections, and the proxy reports it`(sender: Endpoint)
        async throws
    {
        let malformed: [UInt8] = [0x30, 0xFF, 0xFF, 0xFF, 0xFF, 1]
        let script: [ScriptStep] = sender == .server ? [.accept(), .sendBytes(malformed)] : []
        try await ProxyStage.run([], [.connection(script)]) { stage in
            let client = await stage.client()
            _ = await client.packets(1)
            if sender == .client { await client.sendBytes(malformed) }
            #expect(await client.end().reason == .closedByPeer)
            #expect(await client.now.packets.map(\.type) == [.connAck])
            try await stage.broker.endOfConnection(1)
            #expect(stage.endings == [.malformedLength(from: sender)])
        }
    }

    @Test func `a packet above 1 MiB is forwarded in parts, and rules can match its topic`() async throws {
        let payload = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await ProxyStage.run(["drop PUBLISH to secret", "duplicate PUBLISH to large"]) { stage in
            let client = await stage.client()
            for topic in ["secret", "large"] {
                await client.send(
                    .publish(Publish(topic: topic, payload: payload, delivery: .atLeastOnce(7, isDuplicate: false))))
            }
            #expect(await client.packets(2).map(\.type) == [.connAck, .pubAck])
            let publishes = await stage.broker.packets(.publish).compactMap(\.packet.publish)
            #expect(publishes.map(\.topic) == ["large"])
            #expect(publishes.first?.payload == payload)
            let large = stage.packets.filter { $0.type == .publish }
            #expect(large.map(\.copyCount) == [0, 1])
            #expect(large.allSatisfy { $0.byteCount > payload.count && $0.bytes.count < 2 * FaultProxy.heldPacketSize })
        }
    }

    // MARK: A side that does not read

    /// The most bytes that a proxied direction holds: the queue, the held packet, the buffers of both channels.
    private static let heldLimit = 4 << 20

    @Test(arguments: [[], ["delay PUBLISH by 1 min"], ["duplicate PUBLISH"]])
    func `if the client stops reading, the proxy stops reading the broker, and later forwards every message`(
        rules: [String]
    )
        async throws
    {
        let clock = VirtualClock()
        let flood = PublishFlood(count: 20_000, payloadSize: 1_000)
        let gate = ScriptGate()
        let script: [ScriptStep] = [.accept(), .hold(gate), .flood(flood)]
        try await ProxyStage.run(rules, [.connection(script)], clock: clock) { stage in
            let client = await stage.client()
            _ = await client.packets(1)
            await client.pauseReading()
            gate.release()
            await clock.run(for: .seconds(120), on: stage.loop)
            let sent = try await stage.broker.connection(1).sentByteCount
            #expect(sent > 100_000 && sent < Self.heldLimit, "\(sent)")
            await client.resumeReading()
            let count = rules == ["duplicate PUBLISH"] ? 40_000 : 20_000
            while await client.now.packets.count < count + 1 { await clock.run(for: .seconds(60), on: stage.loop) }
            #expect(await client.now.packets.count == count + 1)
        }
    }

    @Test func `if the broker stops reading, the proxy stops reading the client, and later forwards every byte`()
        async throws
    {
        let clock = VirtualClock()
        let gate = ScriptGate()
        let script: [ScriptStep] = [.accept(), .stopReading, .hold(gate), .resumeReading]
        try await ProxyStage.run([], [.connection(script)], clock: clock) { stage in
            let client = await stage.client()
            await clock.settle(stage.loop)
            let payload = [UInt8](repeating: 1, count: 10_000)
            for _ in 0..<2_000 { await client.send(.publish(Publish(topic: "t", payload: payload))) }
            await clock.settle(stage.loop)
            #expect(await client.pendingByteCount > 20_000_000 - Self.heldLimit)
            gate.release()
            try await stage.broker.received(.publish, number: 2_000)
            #expect(stage.proxy.counts.packetsFromClients == 2_001)
        }
    }

    @Test func `if a delayed packet blocks many small packets, the proxy stops reading at a memory limit`() async throws
    {
        let clock = VirtualClock()
        try await ProxyStage.run(["delay PUBLISH by 1 min"], clock: clock) { stage in
            let client = await stage.client()
            await client.publish(1)
            await client.sendBytes((0..<90_000).flatMap { _ in [0xC0, 0] as [UInt8] })
            await clock.settle(stage.loop)
            #expect(await client.pendingByteCount > 0)
            await clock.run(for: .seconds(60), on: stage.loop)
            #expect(await stage.broker.packets(.pingReq).count == 90_000)
            #expect(stage.proxy.counts.packetsFromClients == 90_002)
        }
    }

    // MARK: The end

    @Test func `if the broker cannot be reached, the proxy ends the client's connection and reports the failure`()
        async throws
    {
        let loop = try EventLoop(name: "proxy-test")
        let events = Series<ProxyEvent>()
        let port = try LocalPort.free()
        let proxy = try FaultProxy.start(to: .tcp(host: "127.0.0.1", port: port)) { events.append($0) }
        let client = await ScriptedClient.connect(proxy.endpoint, on: loop)
        #expect(await client.end().reason != nil)
        await proxy.shutdown()
        await loop.shutdown()
        guard case .closed(1, .brokerUnreachable(let error))? = events.values.last else {
            Issue.record("\(events.values)")
            return
        }
        #expect(error.code == .connectionRefused)
        #expect("\(ProxyCloseReason.brokerUnreachable(error))".hasPrefix("the broker cannot be reached: "))
    }

    @Test func `shutdown() of the proxy ends all connections and reports each end`() async throws {
        try await ProxyStage.run { stage in
            let clients = [await stage.client(.v5, "a"), await stage.client(.v311, "b")]
            for client in clients { _ = await client.packets(1) }
            await stage.proxy.shutdown()
            for client in clients { #expect(await client.end().reason != nil) }
            #expect(stage.endings == [.shutDown, .shutDown])
            #expect(stage.proxy.counts.connections == 2)
        }
    }

    @Test func `if the broker closes, the client receives the broker's last packet before its connection ends`()
        async throws
    {
        let script: [ScriptStep] = [.accept(), .disconnect(.serverShuttingDown)]
        try await ProxyStage.run([], [.connection(script)]) { stage in
            let client = await stage.client()
            let record = await client.end()
            #expect(record.packets.map(\.type) == [.connAck, .disconnect])
            #expect(record.reason == .closedByPeer)
            try await stage.broker.endOfConnection(1)
        }
    }
}
