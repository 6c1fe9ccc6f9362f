import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import Testing

@Suite struct `Scripted broker` {
    /// How a client comes to the broker.
    enum Way: CaseIterable, Sendable { case tcp, unix, memory }

    /// Runs `body` with a broker and a client's loop; by a virtual clock both share one.
    private static func withBroker(
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

    // MARK: Well-behaved

    @Test(arguments: Way.allCases, [ProtocolVersion.v311, .v5])
    func `without a script it is well-behaved`(way: Way, version: ProtocolVersion) async throws {
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

    @Test func `everything that came is recorded with its connection and time`() async throws {
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

    // MARK: The handshake

    @Test(arguments: [ProtocolVersion.v311, .v5])
    func `it refuses with a code, and accepts the next connection`(version: ProtocolVersion) async throws {
        try await Self.withBroker([.connection([.refuse(.notAuthorized)]), .connection()]) { broker, loop, endpoint in
            let refused = await ScriptedClient.connect(endpoint(), version, on: loop)
            #expect(await refused.end().packets.map(\.connAckCode) == [.notAuthorized])
            let accepted = await ScriptedClient.connect(endpoint(), version, on: loop)
            #expect(await accepted.packets(1).map(\.connAckCode) == [.success])
            try await broker.played()
            try await broker.verify()
        }
    }

    @Test func `it lies about the session, and names another server`() async throws {
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
    func `it closes without a CONNACK`(way: Way) async throws {
        try await Self.withBroker([.connection([.closeWithoutAnswer()])], over: way) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            let record = await client.end()
            #expect(record.bytes.isEmpty && record.reason == .closedByPeer)
            try await broker.verify()
        }
    }

    @Test func `it accepts the connection and says nothing`() async throws {
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

    // MARK: Cutting

    @Test(arguments: Way.allCases, [CutStyle.orderly, .reset])
    func `it cuts after exactly so many bytes sent`(way: Way, style: CutStyle) async throws {
        // 5 bytes of CONNACK and 8 of a PUBLISH.
        let message = Packet.publish(Publish(topic: "topic", payload: Array("payload".utf8)))
        let script: [ConnectionScript] = [
            .connection([.cutAfterSending(byteCount: 13, style), .accept(), .send(message), .send(message)])
        ]
        try await Self.withBroker(script, over: way) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            let record = await client.end()
            let found3 = try await broker.endOfConnection(1)
            #expect(found3.sentByteCount == 13)
            switch (style, way) {
            case (.orderly, _):
                #expect(record.reason == .closedByPeer)
                #expect(record.bytes.count == 13)
            case (.reset, .memory): #expect(record.reason?.isReset == true)  // Which takes what was not read.
            case (.reset, .tcp):
                #expect(record.reason?.isReset == true)
                #expect(record.bytes.count == 13)
            case (.reset, .unix): #expect(record.bytes.count == 13)
            }
            try await broker.verify()
        }
    }

    @Test(arguments: Way.allCases)
    func `a cut in the middle of much leaves a late reader all that was sent before`(way: Way) async throws {
        let flood = PublishFlood(count: 100, payloadSize: 100_000)
        let script: [ConnectionScript] = [
            .connection([.cutAfterSending(byteCount: 5_000_003, .orderly), .accept(), .flood(flood)])
        ]
        try await Self.withBroker(script, over: way) { broker, loop, endpoint in
            let client = await ScriptedClient.open(endpoint(), on: loop)
            await client.pauseReading()
            await client.send(.connect(Connect(version: .v5, clientID: "late")))
            try await broker.received(.connect)
            await client.resumeReading()
            let record = await client.end()
            #expect(record.bytes.count == 5_000_003)
            #expect(record.packets.count == 50)
        }
    }

    @Test(arguments: [CutStyle.orderly, .reset])
    func `it cuts after exactly so many bytes received`(style: CutStyle) async throws {
        let script: [ConnectionScript] = [.connection([.cutAfterReceiving(byteCount: 30, style)])]
        try await Self.withBroker(script, over: .tcp) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), clientID: "c", on: loop)
            _ = await client.packets(1)
            // CONNECT has 15 bytes, each PUBLISH at QoS 1 has 9: the second is not whole at byte 30.
            await client.publish(1, 2, 3)
            let record = await client.end()
            let seen = try await broker.endOfConnection(1)
            #expect(seen.receivedByteCount == 30)
            #expect(seen.publishes.compactMap(\.delivery.packetID) == [1])
            #expect(record.reason?.isReset == (style == .reset))
        }
    }

    @Test func `a cut by reset is a reset, after what was sent`() async throws {
        try await Self.withBroker([.connection([.accept(), .cut(.reset)])], over: .tcp) { _, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            let record = await client.end()
            #expect(record.packets.map(\.connAckCode) == [.success])
            #expect(record.reason?.isReset == true)
        }
    }

    // MARK: Faults of answers

    @Test func `an answer is held back until the test says so`() async throws {
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

    @Test func `a gate that was released before holds nothing back`() async throws {
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
    func `an answer is delayed by virtual time`(way: Way) async throws {
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
    func `answers are dropped, repeated, reversed and replaced`(fault: AnswerFault, expected: [PacketID]) async throws {
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

    @Test func `in a pause nothing is answered, and afterwards everything`() async throws {
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

    @Test func `who reads no more leaves the client's bytes with it`() async throws {
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

    // MARK: Sending

    @Test func `bytes are sent as they are`() async throws {
        let script: [ConnectionScript] = [.connection([.accept(), .sendBytes([0xF0, 0xFF, 0xFF]), .cut(.orderly)])]
        try await Self.withBroker(script) { _, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), .v311, on: loop)
            #expect(await client.end().bytes == [0x20, 2, 0, 0, 0xF0, 0xFF, 0xFF])
        }
    }

    @Test(arguments: [PacketQoS.atMostOnce, .atLeastOnce, .exactlyOnce])
    func `a flood is complete, in order, and within the receive maximum`(qos: PacketQoS) async throws {
        let count = 2_000
        let script: [ConnectionScript] = [.connection([.accept(), .flood(PublishFlood(count: count, qos: qos))])]
        try await Self.withBroker(script) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), properties: [.receiveMaximum(10)], on: loop)
            if qos != .atMostOnce {
                var received = 0
                while received < count {
                    let packets = await client.packets(1 + received + 10)
                    let fresh = packets.compactMap(\.publish).dropFirst(received)
                    #expect(fresh.count <= 10)
                    // A failure ends an exchange of QoS 2 at once.
                    for id in fresh.compactMap(\.delivery.packetID) {
                        await client.send(
                            qos == .atLeastOnce
                                ? .pubAck(Acknowledgement(packetID: id))
                                : .pubRec(Acknowledgement(packetID: id, reasonCode: .quotaExceeded)))
                    }
                    received += fresh.count
                    if fresh.isEmpty { break }
                }
            }
            let publishes = await client.packets(count + 1).compactMap(\.publish)
            #expect(publishes.count == count)
            #expect(publishes.enumerated().allSatisfy { $1.payload.suffix(64).prefix(8).last == UInt8($0 & 0xFF) })
            try await broker.played()
        }
    }

    @Test func `a flood breaks the receive maximum if it is to`() async throws {
        let flood = PublishFlood(count: 100, payloadSize: 0, qos: .atLeastOnce, exceedsReceiveMaximum: true)
        try await Self.withBroker([.connection([.accept(), .flood(flood)])]) { _, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), properties: [.receiveMaximum(3)], on: loop)
            let ids = await client.packets(101).compactMap(\.publish?.delivery.packetID)
            #expect(Set(ids).count == 100)
        }
    }

    @Test func `a flood does not outrun a client that does not read`() async throws {
        let flood = PublishFlood(count: 20_000, payloadSize: 1_000)
        try await Self.withBroker([.connection([.accept(), .flood(flood)])]) { broker, loop, endpoint in
            let client = await ScriptedClient.open(endpoint(), on: loop)
            await client.pauseReading()
            await client.send(.connect(Connect(version: .v5, clientID: "slow")))
            try await broker.received(.connect)
            let sent = await broker.connections[0].sentByteCount
            #expect(sent < 1 << 20)
            await client.resumeReading()
            #expect(await client.packets(20_001).count == 20_001)
        }
    }

    // MARK: Expectations

    @Test func `an expectation that is not met names its step and what came instead`() async throws {
        let script: [ConnectionScript] = [.connection([.accept(), .expect(.publish(to: "a"))])]
        try await Self.withBroker(script) { broker, loop, endpoint in
            let waiting = Task { try await broker.received(.publish) }
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.send(
                .pingReq, .subscribe(Subscribe(packetID: 1, subscriptions: [Subscription("a", qos: .atMostOnce)])))
            let record = await client.end()
            #expect(record.packets == [.connAck(ConnAck()), .pingResp])
            let failure = await #expect(throws: ScriptFailure.self) { try await waiting.value }
            #expect(failure?.description == "connection 1, step 2 (expect PUBLISH (to a)): SUBSCRIBE came instead")
            let verdict = await #expect(throws: ScriptFailure.self) { try await broker.verify() }
            #expect(verdict == failure)
            #expect(await broker.failures == [failure].compactMap(\.self))
        }
    }

    @Test func `a client that leaves early fails the script, and one that leaves in a pause does not`() async throws {
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

    @Test func `serving goes on until the packet that is waited for, which can then be answered`() async throws {
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

    @Test func `verifying says which script has not been played`() async throws {
        try await Self.withBroker([.connection([.accept(), .expect(.publish)]), .connection()]) {
            broker, loop, endpoint in
            let none = await #expect(throws: ScriptFailure.self) { try await broker.verify() }
            #expect(none?.description == "connection 1: the client did not connect")
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            _ = await client.packets(1)
            let half = await #expect(throws: ScriptFailure.self) { try await broker.verify() }
            #expect(half?.description == "connection 1, step 2 (expect PUBLISH): the script has not come further")
        }
    }

    @Test func `what a version can not say is a failure of the script`() async throws {
        try await Self.withBroker([.connection([.refuse(.serverBusy)])]) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), .v311, on: loop)
            #expect(await client.end().bytes.isEmpty)
            let failure = await #expect(throws: ScriptFailure.self) { try await broker.received(.publish) }
            #expect(failure?.event.contains("CONNACK can not be written in MQTT 3.1.1") == true)
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

    @Test func `more packets than are recorded end the connection and fail the script`() async throws {
        try await Self.withBroker(packetLimit: 3) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.publish(1, 2, 3)
            #expect(await client.end().reason?.isReset == true)
            #expect(await broker.packets().count == 3)
            #expect(await broker.failures.map(\.event) == ["more packets came than the 3 that are recorded at most"])
        }
    }

    // MARK: Waiting

    @Test func `whoever waits is told when the broker is shut down`() async throws {
        let broker = try ScriptedBroker.start()
        let waiting = Task { try await broker.received(.publish(to: "a")) }
        let connection = Task { try await broker.connection(2) }
        await broker.shutdown()
        let failure = await #expect(throws: ScriptFailure.self) { try await waiting.value }
        #expect(failure?.description == "the broker was shut down before PUBLISH (to a) came")
        await #expect(throws: ScriptFailure.self) { try await connection.value }
        await #expect(throws: ScriptFailure.self) { try await broker.endOfConnection(1) }
        #expect(await broker.connections.isEmpty)
    }

    @Test func `waiting can be cancelled, also before it began`() async throws {
        try await Self.withBroker { broker, _, _ in
            let waiting = Task { try await broker.received(.publish) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test func `a broker on a given loop lets it live`() async throws {
        let clock = VirtualClock()
        let loop = try EventLoop(name: "shared", clock: clock)
        let broker = try ScriptedBroker.start(on: loop)
        let client = await ScriptedClient.connect(broker.endpoint, on: loop)
        _ = await client.packets(1)
        await broker.shutdown()
        #expect(await client.end().reason != nil)
        let again = try ScriptedBroker.start(on: loop)
        _ = await ScriptedClient.connect(again.connectInMemory(), on: loop).packets(1)
        await again.shutdown()
        await loop.shutdown()
    }

    @Test func `connections behind the script follow the rule for them`() async throws {
        try await Self.withBroker([.connection()], afterwards: [.closeWithoutAnswer()]) { broker, loop, endpoint in
            #expect(await ScriptedClient.connect(endpoint(), on: loop).packets(1).count == 1)
            for _ in 0..<3 {
                #expect(await ScriptedClient.connect(endpoint(), on: loop).end().packets.isEmpty)
            }
            #expect(await broker.connections.count == 4)
        }
    }
}

extension ChannelCloseReason {
    /// Whether the peer broke the connection.
    var isReset: Bool {
        if case .failed(let error) = self { error.code == .reset || error.code == .brokenPipe } else { false }
    }
}
