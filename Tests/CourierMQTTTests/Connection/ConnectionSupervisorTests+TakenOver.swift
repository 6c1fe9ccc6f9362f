import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

/// Sessions that another client takes over.
extension ConnectionSupervisorTests {
    @Test func `after a session takeover, the reconnect pause is 60 s and doubles up to 10 minutes`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        var pauses: [Double] = []
        for _ in 0..<6 {
            world.accept()
            world.wait(15)
            let lostAt = world.time
            world.disconnectedByServer(.sessionTakenOver)
            pauses.append((world.deadline ?? 0) - lostAt)
            guard case .failed(.error(let error)) = world.supervisor.waiterAnswer else {
                Issue.record("waiters are not told")
                return
            }
            #expect(error.code == .sessionTakenOver)
            world.handle(.networkChanged(.unavailable))
            world.handle(.networkChanged(.available))
            #expect(world.supervisor.state == .disconnected, "a network that comes back changes nothing")
            world.fireTimer()
        }
        #expect(pauses == [60, 120, 240, 480, 600, 600])
        #expect(world.releases.compactMap { $0 }.count == 6)
        world.expectNoFaults()
    }

    @Test func `after a session takeover, an unstable network does not delay the next attempt forever`() {
        var world = SupervisorHarness()
        world.connect()
        world.disconnectedByServer(.sessionTakenOver)
        for _ in 0..<3 {
            world.wait(15)
            world.handle(.networkChanged(.unavailable))
            #expect(world.deadline == world.time + 60)
            world.handle(.resumedFromSuspend)
            #expect(world.deadline == world.time + 60, "there is no network yet")
            world.wait(3)
            world.handle(.networkChanged(.available))
            #expect(world.deadline == 60)
        }
        world.handle(.networkChanged(.unavailable))
        world.wait(10)
        world.handle(.networkChanged(.available))
        #expect(world.deadline == 64, "what was due meanwhile is due now")
        world.fireTimer()
        #expect(world.attemptTimes == [0, 64])
        world.accept()

        // A second takeover. The network is unavailable when the connection is lost.
        world.handle(.networkChanged(.unavailable))
        world.disconnectedByServer(.sessionTakenOver)
        #expect(world.deadline == 184)
        world.handle(.networkChanged(.available))
        #expect(world.deadline == 184, "the pause is the longer one")
        world.expectNoFaults()
    }

    @Test func `in MQTT 3.1.1, three connections in a row that drop right after CONNACK count as a takeover`() {
        var world = SupervisorHarness()
        world.connect(.v311)
        world.wait(5)
        world.drop()
        world.fireTimer()
        world.accept(.v311)
        world.drop()
        world.fireTimer()
        world.accept(.v311)
        world.drop()
        #expect(world.deadline == world.time + 60)
        world.fireTimer()
        world.accept(.v311)
        world.drop()
        #expect(world.deadline == world.time + 120, "one more is enough then")
        world.expectNoFaults()
    }

    @Test
    func `connection drops do not count as a takeover in MQTT 5, long after CONNACK, or if they are not in a row`() {
        var world = SupervisorHarness { $0.stableConnectionTime = .seconds(1) }
        world.connect(.v311)
        for _ in 0..<5 {
            world.wait(2)
            world.drop()
            world.fireTimer()
            world.drop()  // This attempt fails.
            world.fireTimer()
            world.accept(.v311)
        }
        for _ in 0..<10 {
            world.wait(6.25)
            world.drop()
            #expect(world.deadline == world.time + 1)
            world.fireTimer()
            world.accept(.v311)
        }
        world.wait(6.25)
        world.drop()
        world.fireTimer()
        for _ in 0..<5 {
            world.accept(.v5)
            world.wait(1)
            world.drop()
            #expect(world.deadline == world.time + 1)
            world.fireTimer()
        }
        world.expectNoFaults()
    }

    /// [MQTT-3.1.4-3]: some servers send DISCONNECT with 0x8E to the earlier client, but not all servers do.
    @Test
    func `in MQTT 5, the log and the event mention the client id after two dropped connections in a row`() {
        var world = SupervisorHarness()
        world.connect(.v5)
        for (index, pause) in [1.0, 2, 4, 8].enumerated() {
            world.drop()
            #expect(world.deadline == world.time + pause)
            #expect(world.logLines.contains { $0.contains("client id") } == (index >= 1), "\(world.logLines)")
            #expect(world.events.last { $0.failure != nil }?.failure?.message.contains("client id") == (index >= 1))
            world.fireTimer()
            world.accept(.v5)
        }
        #expect(world.releases.allSatisfy { $0 == nil })
        world.expectNoFaults()
    }

    @Test func `in MQTT 3.1.1, six connections in a row that drop within 15 s of CONNACK count as a takeover`() {
        var world = SupervisorHarness {
            $0.reconnectInterval = .seconds(5)
            $0.maximumReconnectInterval = .seconds(10)
        }
        world.connect(.v311)
        for count in 1...6 {
            world.wait(14.75)
            world.drop()
            #expect(world.deadline == world.time + (count < 6 ? 5 : 60))
            world.fireTimer()
            world.accept(.v311)
        }
        world.wait(14.75)
        world.drop()
        #expect(world.deadline == world.time + 120, "one more is enough then")
        world.fireTimer()
        world.accept(.v311)
        world.wait(15.25)
        world.drop()
        #expect(world.deadline == world.time + 5)
        world.expectNoFaults()
    }

    @Test(arguments: [(60.0, nil), (29.75, 6)] as [(Double, Int?)])
    func `connections dropped more than 30 s after CONNACK never count as a takeover`(
        _ lasted: Double, _ verdict: Int?
    ) {
        var world = SupervisorHarness {
            $0.reconnectInterval = .seconds(60)
            $0.maximumReconnectInterval = .seconds(120)
            $0.stableConnectionTime = .seconds(20)
        }
        world.connect(.v311)
        for count in 1...10 {
            world.wait(lasted)
            world.drop()
            let isFight = verdict.map { count >= $0 } ?? false
            #expect((world.supervisor.waiterAnswer != .wait) == isFight)
            if !isFight { #expect(world.deadline == world.time + 60) }
            world.fireTimer()
            world.accept(.v311)
        }
        world.expectNoFaults()
    }

    @Test func `connection drops because of the client or the network do not count as a takeover`() {
        let ends: [(CloseReason, ChannelCloseReason)] = [
            (.transportClosed, .failed(TransportError(.timedOut, "no answer"))),
            (.transportClosed, .failed(TransportError(.systemFailure, "the network is down"))),
            (.pingTimeout, .closedByOwner),
            (.acknowledgementTimeout(OverduePacket(.publish, 1, timeout: .seconds(60))), .closedByOwner),
        ]
        for (reason, transport) in ends {
            var world = SupervisorHarness()
            world.connect(.v311)
            for _ in 0..<10 {
                world.handle(.closed(reason, transport))
                world.fireTimer()
                world.accept(.v311)
            }
            #expect(world.releases.allSatisfy { $0 == nil }, "\(reason), \(transport)")
            world.expectNoFaults()
        }
        var offline = SupervisorHarness()
        offline.connect(.v311)
        offline.handle(.networkChanged(.unavailable))
        for _ in 0..<10 {
            offline.drop()
            offline.fireTimer()
            offline.accept(.v311)
        }
        #expect(offline.releases.allSatisfy { $0 == nil })
        offline.expectNoFaults()
    }

    // MARK: In a row

    /// Returns a client that is connected after `count` dropped connections. Each connection was dropped so early
    /// that another client with the same id may be the reason. Six such drops count as a takeover.
    private func connected(
        afterDrops count: Int, _ options: ConnectOptions = SupervisorHarness.options
    ) -> SupervisorHarness {
        var world = SupervisorHarness()
        world.handle(.topicsChanged(areWanted: true))
        world.handle(.connectRequested(source: "test"))
        world.grant(options)
        world.accept(.v311)
        for _ in 0..<count {
            world.wait(14)
            world.drop()
            world.fireTimer()
            world.accept(.v311)
        }
        return world
    }

    private func backgroundAndForeground(_ world: inout SupervisorHarness) {
        world.handle(.phaseChanged(.background))
        world.closeEnds()
        world.handle(.phaseChanged(.foreground))
        world.accept(.v311)
    }

    /// Returns the pause after one more drop.
    private func pauseAfterDrop(_ world: inout SupervisorHarness) -> Double? {
        world.wait(14)
        world.drop()
        return world.deadline.map { $0 - world.time }
    }

    @Test func `a connection that ends by a probe timeout resets the count of dropped connections`() {
        var world = connected(afterDrops: 5)
        world.handle(.resumedFromSuspend)
        #expect(world.fireTimer().contains(.abort))
        world.closeEnds()
        world.fireTimer()
        world.accept(.v311)
        #expect(pauseAfterDrop(&world) == 1)
        world.expectNoFaults()
    }

    @Test func `a long connection resets the count of dropped connections, even if the client closes it`() {
        var lasting = connected(afterDrops: 5)
        lasting.wait(100)
        backgroundAndForeground(&lasting)
        #expect(pauseAfterDrop(&lasting) == 1)
        var short = connected(afterDrops: 5)
        short.wait(2)
        backgroundAndForeground(&short)
        #expect(pauseAfterDrop(&short) == 60, "a short one that this side closes says nothing")
        lasting.expectNoFaults()
        short.expectNoFaults()
    }

    @Test func `after a takeover and one long connection, the next drop counts as an ordinary connection loss`() {
        var world = connected(afterDrops: 5)
        #expect(pauseAfterDrop(&world) == 60)
        world.fireTimer()
        world.accept(.v311)
        world.wait(86_400)
        backgroundAndForeground(&world)
        #expect(pauseAfterDrop(&world) == 1)
        world.expectNoFaults()
    }

    @Test(arguments: [("caf\u{E9}", 60.0), ("tea", 1.0), ("cafe\u{301}", 1.0)])
    func `a changed client id resets the count of dropped connections`(_ clientID: String, _ pause: Double) {
        func options(_ id: String) -> ConnectOptions {
            ConnectOptions(host: "broker", port: 1883, clientId: id, username: "ada", password: "s3cret")
        }
        var world = connected(afterDrops: 4, options("caf\u{E9}"))
        #expect(pauseAfterDrop(&world) == 1)
        world.handle(.connectRequested(source: "app"))
        world.grant(options(clientID))
        world.accept(.v311)
        #expect(pauseAfterDrop(&world) == pause)
        world.expectNoFaults()
    }

    // MARK: A fight

    @Test(arguments: ReconnectJitter.allCases)
    func `in MQTT 3.1.1, two clients with the same client id detect the takeover after at most 13 dropped connections`(
        _ jitter: ReconnectJitter
    ) {
        for (interval, maximum) in [(5, 10), (1, 30)] {
            for seed in UInt64(1)...20 {
                for (lead, failedAttempts) in [(0.5, 0), (5.0, 1), (12.0, 2), (100.0, 9)] {
                    var fight = TakeoverFight(seed: seed, lead: lead, failedAttempts: failedAttempts) {
                        $0.reconnectInterval = .seconds(interval)
                        $0.maximumReconnectInterval = .seconds(maximum)
                        $0.jitter = jitter
                    }
                    expectEnd(of: &fight, "\(interval) s to \(maximum) s, seed \(seed), lead \(lead)")
                }
            }
        }
    }

    private func expectEnd(of fight: inout TakeoverFight, _ note: String) {
        while fight.verdict == nil, fight.evictionCount < 100, fight.takeTurn() {}
        // Six counted drops for each client, and the first drop, which is not counted.
        #expect(fight.evictionCount <= 13, "\(note)")
        #expect(fight.verdict?.code == .sessionTakenOver, "\(note)")
        #expect(fight.verdict?.message.contains("client id \"c\"") == true, "\(note)")
        let begin = (count: fight.evictionCount, time: fight.time)
        while fight.takeTurn(before: begin.time + 3_600) {}
        #expect(fight.evictionCount - begin.count <= 60, "\(note)")
        for client in fight.clients { client.expectNoFaults(note) }
    }
}
