import CourierCore
import CourierTransport
import MQTTCodec
import TestSupport
import Testing

@testable import CourierTesting

@Suite struct `Replay of a recording` {
    private static let start = ContinuousClock.now

    /// A player for a recording, with its own time.
    private struct Play {
        var player: ReplayPlayer
        var now = start

        init(_ traffic: RecordedTraffic) { player = ReplayPlayer(traffic, now: start) }

        /// All advances that are possible now; the last is `wait` or `finished`.
        mutating func advance() -> [ReplayPlayer.Advance] {
            var all: [ReplayPlayer.Advance] = []
            while true {
                let next = player.advance(now: now)
                all.append(next)
                if next == .wait || next == .finished { return all }
            }
        }

        mutating func receive(_ packets: Packet...) -> [ReplayPlayer.Advance] {
            for packet in packets { #expect(player.received(packet) == .taken) }
            return advance()
        }

        mutating func pass(_ duration: Duration) -> [ReplayPlayer.Advance] {
            now += duration
            return advance()
        }
    }

    private typealias Line = (direction: PacketBatch.Direction, delay: Duration, bytes: [UInt8])

    private static func client(_ packet: Packet, after delay: Int = 0) throws -> Line {
        (.outgoing, .milliseconds(delay), try TestSupport.encode(packet, .v5, from: .client))
    }

    private static func broker(_ packet: Packet, after delay: Int = 0) throws -> Line {
        (.incoming, .milliseconds(delay), try TestSupport.encode(packet, .v5, from: .server))
    }

    private static func said(_ packet: Packet) throws -> ReplayPlayer.Advance {
        .say(try TestSupport.encode(packet, .v5, from: .server))
    }

    private static let connect = Packet.connect(Connect(version: .v5, clientID: "c"))

    private static func subscribe(_ id: PacketID, _ filters: String...) -> Packet {
        .subscribe(Subscribe(packetID: id, subscriptions: filters.map { Subscription($0, qos: .atLeastOnce) }))
    }

    private static func publish(_ topic: String, _ id: PacketID, _ qos: PacketQoS = .atLeastOnce) -> Packet {
        .publish(
            Publish(topic: topic, payload: [1], delivery: Delivery(qos: qos, packetID: id) ?? .atMostOnce))
    }

    @Test func `a replayed broker packet follows the same client packet as in the recording, with the same delay`()
        throws
    {
        var play = Play(
            RecordedTraffic([
                try Self.client(Self.connect), try Self.broker(.connAck(ConnAck()), after: 40),
                try Self.client(Self.subscribe(1, "a"), after: 900),
                try Self.broker(.subAck(SubAck(packetID: 1, reasonCodes: [.grantedQoS1])), after: 10),
                try Self.broker(Self.publish("a", 5), after: 2_000),
            ]))
        #expect(play.advance() == [.wait])
        #expect(play.player.deadline == nil)
        #expect(play.receive(Self.connect) == [.wait])
        #expect(play.pass(.milliseconds(39)) == [.wait])
        #expect(play.player.deadline == Self.start + .milliseconds(40))
        #expect(play.pass(.milliseconds(1)) == [try Self.said(.connAck(ConnAck())), .wait])
        // The client may be slower than in the recording.
        #expect(play.pass(.seconds(60)) == [.wait])
        #expect(play.receive(Self.subscribe(1, "a")) == [.wait])
        #expect(
            play.pass(.milliseconds(10)) == [
                try Self.said(.subAck(SubAck(packetID: 1, reasonCodes: [.grantedQoS1]))), .wait,
            ])
        #expect(play.pass(.seconds(2)) == [try Self.said(Self.publish("a", 5)), .finished])
    }

    @Test func `replayed answers use the packet ids of the current client`() throws {
        var play = Play(
            RecordedTraffic([
                try Self.client(Self.publish("a", 300, .exactlyOnce)), try Self.client(Self.publish("b", 301)),
                try Self.broker(.pubAck(Acknowledgement(packetID: 301))),
                try Self.broker(.pubRec(Acknowledgement(packetID: 300))),
                try Self.client(.pubRel(Acknowledgement(packetID: 300))),
                try Self.broker(.pubComp(Acknowledgement(packetID: 300))),
                // The packet ids that the broker chose are not changed.
                try Self.broker(Self.publish("c", 300)), try Self.client(.pubAck(Acknowledgement(packetID: 300))),
            ]))
        #expect(
            play.receive(Self.publish("b", 1), Self.publish("a", 2, .exactlyOnce)) == [
                try Self.said(.pubAck(Acknowledgement(packetID: 1))),
                try Self.said(.pubRec(Acknowledgement(packetID: 2))),
                .wait,
            ])
        #expect(
            play.receive(.pubRel(Acknowledgement(packetID: 2))) == [
                try Self.said(.pubComp(Acknowledgement(packetID: 2))), try Self.said(Self.publish("c", 300)), .wait,
            ])
        #expect(play.player.received(.pubAck(Acknowledgement(packetID: 2))) == .unexpected)
        #expect(play.receive(.pubAck(Acknowledgement(packetID: 300))) == [.finished])
    }

    @Test func `a replay sends acknowledgements in the recorded order, even if client packets arrive in another order`()
        throws
    {
        var play = Play(
            RecordedTraffic([
                try Self.client(Self.publish("a", 1)), try Self.broker(.pubAck(Acknowledgement(packetID: 1))),
                try Self.client(Self.publish("b", 2)), try Self.broker(.pubAck(Acknowledgement(packetID: 2))),
            ]))
        #expect(play.receive(Self.publish("b", 1)) == [.wait])
        #expect(
            play.receive(Self.publish("a", 2)) == [
                try Self.said(.pubAck(Acknowledgement(packetID: 2))),
                try Self.said(.pubAck(Acknowledgement(packetID: 1))), .finished,
            ])
    }

    @Test func `a client packet that is not in the rest of the recording is reported as unexpected`() throws {
        var play = Play(
            RecordedTraffic([
                try Self.client(Self.subscribe(1, "a", "b")), try Self.client(Self.publish("a", 2)),
                try Self.client(.disconnect(Disconnect())),
            ]))
        #expect(play.player.received(Self.publish("b", 1)) == .unexpected)
        #expect(play.player.received(Self.publish("a", 1, .exactlyOnce)) == .unexpected)
        #expect(play.player.received(Self.subscribe(1, "a")) == .unexpected)
        #expect(play.advance() == [.wait])
        #expect(play.player.received(.pubRel(Acknowledgement(packetID: 2))) == .unexpected)
        #expect(play.player.words == "packet 1 of 3 of the recording, SUBSCRIBE (a, b)")
        #expect(play.player.isWaitingForClient)
        #expect(play.receive(Self.subscribe(9, "b", "a"), Self.publish("a", 7)) == [.wait])
        #expect(play.receive(.disconnect(Disconnect())) == [.finished])
        #expect(!play.player.isWaitingForClient)
    }

    @Test func `a client packet that is sent more often than in the recording is reported as unexpected`() throws {
        let traffic = RecordedTraffic([
            try Self.client(Self.publish("a", 1)), try Self.client(Self.publish("a", 2)),
            try Self.broker(.pubAck(Acknowledgement(packetID: 1))), try Self.client(Self.publish("b", 3)),
        ])
        // The packets are read together, or one by one.
        for isOneRead in [true, false] {
            var play = Play(traffic)
            for id in [1, 2] as [PacketID] {
                #expect(play.player.received(Self.publish("a", id)) == .taken)
                if !isOneRead { _ = play.advance() }
            }
            #expect(play.player.received(Self.publish("a", 3)) == .unexpected)
            #expect(play.receive(Self.publish("b", 3)).last == .finished)
            for packet in [Self.publish("a", 4), Self.publish("b", 5)] {
                #expect(play.player.received(packet) == .unexpected)
            }
        }
    }

    @Test func `after a recorded PINGREQ without PINGRESP, further PINGREQs are accepted but not answered`() throws {
        let traffic = RecordedTraffic([
            try Self.client(Self.connect), try Self.client(.pingReq), try Self.broker(Self.publish("a", 1), after: 5),
        ])
        for isOneRead in [true, false] {
            var play = Play(traffic)
            #expect(play.player.received(.pingReq) == .ping)
            _ = play.receive(Self.connect)
            for _ in 0..<1_000 {
                #expect(play.player.received(.pingReq) == .taken)
                if !isOneRead { _ = play.advance() }
            }
            #expect(play.advance() == [.wait])
            #expect(play.pass(.milliseconds(5)) == [try Self.said(Self.publish("a", 1)), .finished])
        }
    }

    @Test func `a replay answers PINGREQ at any time, unless the recording has an earlier PINGREQ without an answer`()
        throws
    {
        let answered = RecordedTraffic([
            try Self.client(Self.connect), try Self.broker(.connAck(ConnAck())), try Self.client(.pingReq, after: 30),
            try Self.broker(.pingResp, after: 1), try Self.broker(Self.publish("a", 1), after: 5),
        ])
        #expect(answered.steps.count == 3 && !answered.endsInSilence)
        var play = Play(answered)
        _ = play.receive(Self.connect)
        #expect(play.player.received(.pingReq) == .ping)
        // Its delay includes the delays of the omitted ping packets.
        #expect(play.pass(.milliseconds(35)) == [.wait])
        #expect(play.pass(.milliseconds(1)) == [try Self.said(Self.publish("a", 1)), .finished])

        let silent = RecordedTraffic([
            try Self.client(.pingReq), try Self.broker(.pingResp), try Self.broker(Self.publish("a", 1)),
            try Self.client(.pingReq),
        ])
        #expect(silent.endsInSilence && !silent.hasBeginning && silent.steps.count == 2)
        play = Play(silent)
        #expect(play.player.received(.pingReq) == .ping)
        #expect(play.advance() == [try Self.said(Self.publish("a", 1)), .wait])
        #expect(play.receive(.pingReq) == [.finished])
    }

    @Test func `recorded malformed bytes are replayed unchanged, and random recordings do not crash`() throws {
        var play = Play(
            RecordedTraffic([(.incoming, .zero, [0x40, 2]), (.outgoing, .zero, [0xF0]), (.incoming, .zero, [])]))
        #expect(play.advance() == [.say([0x40, 2]), .say([]), .finished])
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            let lines: [Line] = (0..<10).map { _ in
                let bytes = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                return (Bool.random(using: &generator) ? .incoming : .outgoing, .zero, bytes)
            }
            play = Play(RecordedTraffic(lines))
            _ = play.advance()
        }
    }

    // MARK: In a script

    @Test func `after the end of a recording, the script runs the steps that the parameter named end contains`()
        async throws
    {
        let traffic = RecordedTraffic([
            try Self.client(Self.connect), try Self.broker(.connAck(ConnAck(isSessionPresent: true))),
            try Self.client(Self.publish("a", 1)), try Self.broker(.pubAck(Acknowledgement(packetID: 1)), after: 3_000),
        ])
        let clock = VirtualClock()
        try await `Scripted broker`.withBroker([.replaying(traffic, end: [.cut(.orderly)])], clock: clock) {
            broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            #expect(await client.packets(1) == [.connAck(ConnAck(isSessionPresent: true))])
            await client.send(.pingReq, Self.publish("a", 77))
            try await broker.received(.publish)
            #expect(await client.packets(2).last == .pingResp)
            await clock.run(for: .seconds(3), on: loop)
            #expect(await client.packets(3).last == .pubAck(Acknowledgement(packetID: 77)))
            #expect(await client.end().reason == .closedByPeer)
            try await broker.verify()
        }
    }

    @Test func `a client packet that is not in the recording fails the script`() async throws {
        let traffic = RecordedTraffic([
            try Self.client(Self.connect), try Self.broker(.connAck(ConnAck())), try Self.client(Self.publish("a", 1)),
        ])
        try await `Scripted broker`.withBroker([.replaying(traffic)]) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            await client.send(Self.publish("b", 1))
            _ = await client.end()
            let failure = await #expect(throws: ScriptFailure.self) { try await broker.verify() }
            #expect(
                failure?.event == "PUBLISH (to b, QoS 1) arrived, but the rest of the recording does not contain it")
        }
    }

    @Test func `if the client closes the connection before the end of the recording, the script fails`() async throws {
        let traffic = RecordedTraffic([
            try Self.client(Self.connect), try Self.broker(.connAck(ConnAck())), try Self.client(Self.publish("a", 1)),
        ])
        try await `Scripted broker`.withBroker([.replaying(traffic)]) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            _ = await client.packets(1)
            await client.close()
            let failure = await #expect(throws: ScriptFailure.self) {
                try await broker.endOfConnection(1)
                try await broker.verify()
            }
            #expect(failure?.event.hasSuffix("before packet 3 of 3 of the recording, PUBLISH (to a, QoS 1)") == true)
        }
    }

    @Test func `if a recording starts after CONNECT, the replay first sends a successful CONNACK`() async throws {
        let traffic = RecordedTraffic([
            try Self.broker(.disconnect(Disconnect(reasonCode: .serverShuttingDown)))
        ])
        try await `Scripted broker`.withBroker([.replaying(traffic)]) { broker, loop, endpoint in
            let client = await ScriptedClient.connect(endpoint(), on: loop)
            #expect(
                await client.packets(2) == [
                    .connAck(ConnAck()), .disconnect(Disconnect(reasonCode: .serverShuttingDown)),
                ])
            #expect(await client.end().reason == .closedByPeer)
            try await broker.verify()
        }
    }
}
