import CourierCore
import Testing

@testable import CourierMQTT

/// Changes that the network monitor reports.
extension ConnectionSupervisorTests {
    @Test func `when the network returns, an attempt starts at once, but at most once in 5 s`() {
        var world = SupervisorHarness()
        world.connect()
        world.drop()
        world.wait(0.5)
        #expect(world.handle(.networkChanged(.unavailable)) == [.emit(.networkUnavailable)])
        #expect(world.deadline == 60.5, "slowly, in case that the monitor is wrong")
        #expect(
            world.handle(.networkChanged(.available)).prefix(2) == [.emit(.networkAvailable), .emit(.reconnect)])
        world.drop()
        #expect(world.deadline == 2.5)
        world.handle(.networkChanged(.unavailable))
        #expect(world.deadline == 60.5)
        world.handle(.networkChanged(.available))
        #expect(world.deadline == 2.5, "the schedule is sooner than the spacing")
        for _ in 0..<3 {
            world.fireTimer()
            world.drop()
        }
        #expect(world.deadline == 30.5)
        world.wait(1)
        world.handle(.networkChanged(.unavailable))
        world.handle(.networkChanged(.available))
        #expect(world.attemptTimes.last == 15.5)
        world.drop()
        world.handle(.networkChanged(.unavailable))
        world.handle(.networkChanged(.available))
        #expect(world.deadline == 20.5, "not twice within the spacing")
        world.wait(1)
        world.handle(.networkChanged(.unavailable))
        world.handle(.networkChanged(.available))
        #expect(world.deadline == 20.5, "flapping moves nothing")
        world.expectNoFaults()
    }

    @Test func `with an unstable network, at least 5 s pass between the starts of two attempts`() {
        var world = SupervisorHarness { $0.reconnectInterval = .seconds(1_000) }
        world.connect()
        world.drop()
        for _ in 0..<200 {
            world.wait(0.25)
            if world.isOpen { world.drop() }
            world.handle(.networkChanged(.unavailable))
            world.handle(.networkChanged(.available))
            if let deadline = world.deadline, deadline <= world.time { world.handle(.timerFired) }
        }
        let gaps = zip(world.attemptTimes.dropFirst(), world.attemptTimes.dropFirst(2)).map { $1 - $0 }
        #expect(gaps.count >= 9 && gaps.allSatisfy { $0 >= 5 })
        world.expectNoFaults()
    }

    @Test func `without a network, connect() starts an attempt at once and another attempt after 60 s`() {
        var world = SupervisorHarness()
        world.handle(.networkChanged(.unavailable))
        #expect(world.handle(.connectRequested(source: "app")).contains(.fetchCredentials(first)))
        world.grant()
        world.drop()
        #expect(world.deadline == 60)
        world.expectNoFaults()
    }

    @Test func `a repeated network status or app phase causes no event`() {
        var world = SupervisorHarness()
        #expect(world.handle(.networkChanged(.available)) == [])
        #expect(world.handle(.phaseChanged(.foreground)) == [])
        #expect(world.handle(.networkChanged(.unavailable)) == [.emit(.networkUnavailable)])
        #expect(world.handle(.networkChanged(.unavailable)) == [])
        #expect(world.handle(.phaseChanged(.background)) == [.emit(.appBackground)])
        #expect(world.handle(.phaseChanged(.background)) == [])
    }

    // MARK: In the middle of an attempt

    private func opening(
        _ change: (inout SupervisorConfiguration) -> Void = { _ in }
    ) -> SupervisorHarness {
        var world = SupervisorHarness(change)
        world.handle(.connectRequested(source: "app"))
        world.grant()
        return world
    }

    @Test func `a hanging attempt is restarted when the network returns`() {
        var world = opening()
        world.wait(8)
        #expect(world.handle(.networkChanged(.unavailable)) == [.emit(.networkUnavailable)])
        #expect(world.deadline == nil)
        world.wait(1)
        #expect(
            world.handle(.networkChanged(.available)) == [
                .emit(.networkAvailable), .stateChanged(.disconnected), .abort,
            ])
        #expect(world.supervisor.waiterAnswer == .wait)
        let error = CourierError(
            .connectionFailed,
            "The network changed, or the machine slept, during the attempt to connect to broker:1883. "
                + "The client tries again at once.")
        #expect(
            world.closeEnds() == [
                .emit(.failed(after: .seconds(9), .error(error))), .emit(.reconnect), .emit(.attempt),
                .stateChanged(.connecting), .open(options, AttemptID(number: 2)),
            ])
        world.accept()
        #expect(world.supervisor.state == .connected)
        world.expectNoFaults()
    }

    @Test func `an attempt that began before the machine slept is restarted when the network is available`() {
        var world = opening()
        world.wait(100)
        var offline = world
        #expect(world.handle(.resumedFromSuspend) == [.stateChanged(.disconnected), .abort])
        offline.handle(.networkChanged(.unavailable))
        #expect(offline.handle(.resumedFromSuspend) == [])
        #expect(offline.handle(.networkChanged(.available)).contains(.abort))
        world.expectNoFaults()
        offline.expectNoFaults()
    }

    @Test func `after the machine wakes up, a running attempt is restarted, but at least 5 s after its start`() {
        var world = opening()
        world.wait(2)
        #expect(world.handle(.resumedFromSuspend) == [])
        #expect(world.deadline == 5)
        var accepted = world
        accepted.accept()
        #expect(accepted.deadline == nil)
        var gone = world
        gone.handle(.networkChanged(.unavailable))
        #expect(gone.deadline == nil, "nothing is gained without a network")
        #expect(world.fireTimer() == [.stateChanged(.disconnected), .abort])
        world.closeEnds()
        #expect(world.attemptTimes == [0, 5])
        for each in [world, accepted, gone] { each.expectNoFaults() }
    }

    @Test func `if an attempt fails before its planned restart, the next attempt starts at the restart time`() {
        var world = opening { $0.reconnectInterval = .seconds(30) }
        world.wait(2)
        world.handle(.resumedFromSuspend)
        world.wait(1)
        var gone = world
        world.drop()
        #expect(world.deadline == 5, "not 33")
        world.fireTimer()
        #expect(world.attemptTimes == [0, 5])
        world.wait(1)
        world.drop()
        #expect(world.deadline == 36, "the return has had its attempt")
        world.handle(.networkChanged(.unavailable))
        world.handle(.networkChanged(.available))
        #expect(world.deadline == 10, "which counts for the spacing")
        gone.handle(.networkChanged(.unavailable))
        gone.drop()
        #expect(gone.deadline == 63, "without a network there is no hurry")
        for each in [world, gone] { each.expectNoFaults() }
    }

    @Test func `if the network returns during an attempt and the attempt times out, the next attempt is not delayed`() {
        var world = opening {
            $0.reconnectInterval = .seconds(30)
            $0.connectTimeout = ConnectTimeoutPolicy(isEnabled: true, timeout: 3)
        }
        world.wait(1)
        world.handle(.networkChanged(.unavailable))
        world.handle(.networkChanged(.available))
        #expect(world.fireTimer() == [.stateChanged(.disconnected), .abort])
        world.closeEnds()
        #expect(world.time == 3 && world.deadline == 5)
        world.expectNoFaults()
    }

    @Test
    func `a planned restart of an attempt does not delay an earlier attempt, and is cancelled by a successful attempt`()
    {
        var short = opening()
        short.wait(2)
        short.handle(.resumedFromSuspend)
        short.drop()
        #expect(short.deadline == 3)
        var accepted = opening { $0.reconnectInterval = .seconds(30) }
        accepted.wait(2)
        accepted.handle(.resumedFromSuspend)
        accepted.accept()
        accepted.drop()
        #expect(accepted.deadline == 32)
        for each in [short, accepted] { each.expectNoFaults() }
    }

    @Test(arguments: [(3.0, 5.0), (8.0, 8.0)])
    func `if the provider fails after the machine woke up, the provider is asked again before the pause ends`(
        _ failedAt: Double, _ askedAt: Double
    ) {
        var world = SupervisorHarness { $0.reconnectInterval = .seconds(30) }
        world.handle(.connectRequested(source: "app"))
        world.wait(2)
        #expect(world.handle(.resumedFromSuspend) == [], "it is not interrupted")
        world.wait(failedAt - 2)
        world.deny(AuthError.httpError(statusCode: 403))
        if failedAt < askedAt {
            #expect(world.deadline == askedAt)
            world.fireTimer()
        }
        #expect(world.fetch == AttemptID(number: 2))
        #expect(world.time == askedAt)
        world.deny(AuthError.httpError(statusCode: 403))
        #expect(world.deadline.map { $0 > askedAt + 5 } == true, "once")
        world.expectNoFaults()
    }

    @Test func `a network that returns right after the start of an attempt does not restart the attempt`() {
        var world = SupervisorHarness()
        world.handle(.networkChanged(.unavailable))
        world.handle(.connectRequested(source: "app"))
        world.grant()
        #expect(world.handle(.networkChanged(.available)) == [.emit(.networkAvailable)])
        #expect(world.deadline == nil)
        world.expectNoFaults()
    }

    @Test func `with an unstable network, a hanging attempt is restarted at most every 5 s`() {
        var world = opening()
        for _ in 0..<200 {
            world.wait(0.25)
            world.handle(.networkChanged(.unavailable))
            world.handle(.networkChanged(.available))
            if case .closing = world.supervisor.phase { world.closeEnds() }
        }
        let gaps = zip(world.attemptTimes, world.attemptTimes.dropFirst()).map { $1 - $0 }
        #expect(gaps.count >= 9 && gaps.allSatisfy { $0 >= 5 })
        world.expectNoFaults()
    }
}
