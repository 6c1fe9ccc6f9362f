import CourierTesting
import CourierTransport
import MQTTCodec
import TestSupport
import Testing

/// The proxy as a byte stream: it changes no bytes, and holds only a limited number of them.
@Suite(.timeLimit(.minutes(2))) struct FaultProxyStreamTests {
    /// Runs `body` with a proxy in front of a server that records bytes. Virtual time makes all effects predictable.
    private static func withServer(
        _ rules: FaultRule..., isReading: Bool = true, lastBytes: [UInt8] = [],
        _ body: (FaultProxy, RawServer, ProxyLog, EventLoop, VirtualClock) async throws -> Void
    ) async throws {
        let clock = VirtualClock()
        let loop = try EventLoop(name: "proxy-test", clock: clock)
        let server = RawServer(on: loop, isReading: isReading, lastBytes: lastBytes)
        let log = ProxyLog()
        let proxy = try FaultProxy.start(
            to: server.connectInMemory(), rules: rules, on: loop, observer: log.observe)
        do {
            try await body(proxy, server, log, loop, clock)
        } catch {
            await proxy.shutdown()
            await loop.shutdown()
            throw error
        }
        await proxy.shutdown()
        await loop.shutdown()
    }

    private static func publish(_ topic: String, byteCount: Int) throws -> [UInt8] {
        let payload = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 % 251) }
        return try encode(.publish(Publish(topic: topic, payload: payload)), .v311, from: .client)
    }

    @Test func `the proxy forwards bytes that are not valid packets unchanged`() async throws {
        try await Self.withServer { proxy, server, log, loop, _ in
            let bytes: [UInt8] = [0x00, 2, 1, 2, 0x36, 1, 9, 0xF0, 0x80, 0x00, 0x20, 0]
            let client = await ScriptedClient.open(proxy.connectInMemory(), on: loop)
            await client.sendBytes(bytes)
            #expect(await server.received(bytes.count) == bytes)
            #expect(log.packets.map(\.type) == [nil, .publish, .auth, .connAck])
            #expect(log.packets.allSatisfy { $0.packet == nil })
        }
    }

    @Test func `a packet above 1 MiB is forwarded in parts, and rules match its topic`() async throws {
        let bytes = try Self.publish("firmware/7", byteCount: 5 << 20)
        let rule = try FaultRule("duplicate PUBLISH to firmware/#")
        try await Self.withServer(rule) { proxy, server, log, loop, _ in
            let client = await ScriptedClient.open(proxy.connectInMemory(), on: loop)
            await client.sendBytes(bytes + [0xC0, 0])
            #expect(await server.received(bytes.count + 2) == bytes + [0xC0, 0])
            #expect(log.packets.map(\.type) == [.publish, .pingReq])
            let large = try #require(log.packets.first)
            #expect(large.topic == "firmware/7" && large.byteCount == bytes.count && large.copyCount == 1)
            #expect(large.bytes.count <= 2 * FaultProxy.heldPacketSize && large.packet == nil)
        }
    }

    @Test func `a packet above 1 MiB can be dropped, and the next packet is forwarded`() async throws {
        let bytes = try Self.publish("firmware/7", byteCount: 3 << 20)
        try await Self.withServer(try FaultRule("drop the first PUBLISH")) { proxy, server, _, loop, _ in
            let client = await ScriptedClient.open(proxy.connectInMemory(), on: loop)
            await client.sendBytes(bytes + [0xC0, 0])
            #expect(await server.received(2) == [0xC0, 0])
        }
    }

    /// More bytes than the proxy may hold: 1 MiB of packets, one read buffer, and the waiting output.
    private static let bound = 4 << 20

    private static func repeated(_ packet: [UInt8], upTo total: Int) -> (bytes: [UInt8], count: Int) {
        let count = total / packet.count
        return (Array([[UInt8]](repeating: packet, count: count).joined()), count)
    }

    @Test func `if the broker does not read, the proxy stops reading the client, and later forwards everything`()
        async throws
    {
        let bytes = Self.repeated(try Self.publish("t", byteCount: 64 << 10), upTo: 8 * Self.bound).bytes
        try await Self.withServer(isReading: false) { proxy, server, _, loop, clock in
            let client = await ScriptedClient.open(proxy.connectInMemory(), on: loop)
            await client.sendBytes(bytes)
            await clock.settle(loop)
            #expect(await client.pendingByteCount >= bytes.count - Self.bound)
            #expect(await server.receivedCount == 0)
            await server.resumeReading()
            #expect(await server.received(bytes.count) == bytes)
        }
    }

    @Test func `while a packet is delayed, at most about 1 MiB of packets waits behind it`() async throws {
        let bytes = Self.repeated(try Self.publish("t", byteCount: 20), upTo: Self.bound).bytes
        let rule = try FaultRule("delay the first PUBLISH by 60 min")
        try await Self.withServer(rule) { proxy, server, _, loop, clock in
            let client = await ScriptedClient.open(proxy.connectInMemory(), on: loop)
            await client.sendBytes(bytes)
            await clock.settle(loop)
            // Each waiting packet counts as 256 bytes more than its size, so fewer bytes wait than 1 MiB.
            #expect(await client.pendingByteCount >= bytes.count - (1 << 20))
            #expect(await server.receivedCount == 0)
            await clock.run(for: .seconds(3_600), on: loop)
            #expect(await server.received(bytes.count) == bytes)
        }
    }

    @Test func `if the client does not read, the proxy stops reading the broker, and later forwards everything`()
        async throws
    {
        try await Self.withServer { proxy, server, log, loop, clock in
            let client = await ScriptedClient.open(proxy.connectInMemory(), on: loop)
            await client.pauseReading()
            await client.sendBytes([0xC0, 0])
            _ = await server.received(2)
            let packet = try encode(
                .publish(Publish(topic: "t", payload: [UInt8](repeating: 7, count: 64 << 10))), .v5, from: .server)
            let (bytes, count) = Self.repeated(packet, upTo: 8 * Self.bound)
            await server.write(bytes)
            await clock.settle(loop)
            #expect(log.packets.count <= Self.bound / packet.count)
            await client.resumeReading()
            #expect(await client.packets(count).count == count)
        }
    }

    @Test func `if the client ends its output, the proxy still delivers the broker's delayed last packet`()
        async throws
    {
        let rule = try FaultRule("delay PINGRESP by 1 s")
        try await Self.withServer(rule, lastBytes: [0xD0, 0]) { proxy, server, log, loop, clock in
            let client = await ScriptedClient.open(proxy.connectInMemory(), on: loop)
            await client.sendBytes([0xC0, 0])
            await client.closeOutput()
            #expect(await server.received(2) == [0xC0, 0])
            await clock.settle(loop)
            #expect(await client.now.packets.isEmpty && log.closeReasons.isEmpty)
            await clock.run(for: .seconds(1), on: loop)
            #expect(await client.end().packets == [.pingResp])
            #expect(log.closeReasons == [.closed(by: .client)])
        }
    }

    @Test func `an incomplete packet at the end of a connection is not forwarded`() async throws {
        try await Self.withServer { proxy, server, log, loop, _ in
            let client = await ScriptedClient.open(proxy.connectInMemory(), on: loop)
            await client.sendBytes([0xC0, 0, 0x30, 9, 0])
            await client.close()
            #expect(await server.end() == [0xC0, 0])
            #expect(await log.endOfConnection() == .closed(by: .client))
        }
    }
}
