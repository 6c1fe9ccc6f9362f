import CourierCore
import Testing

@testable import CourierMQTT

/// What the monitor of the network says.
extension ConnectionSupervisorTests {
    @Test func `a network that comes back ends the pause at once, but not twice within the spacing`() {
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

    @Test func `a network that flaps never makes attempts closer than the spacing`() {
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

    @Test func `without a network connect tries once, then slowly`() {
        var world = SupervisorHarness()
        world.handle(.networkChanged(.unavailable))
        #expect(world.handle(.connectRequested(source: "app")).contains(.fetchCredentials(first)))
        world.grant()
        world.drop()
        #expect(world.deadline == 60)
        world.expectNoFaults()
    }

    @Test func `the same word of a monitor twice is no event`() {
        var world = SupervisorHarness()
        #expect(world.handle(.networkChanged(.available)) == [])
        #expect(world.handle(.phaseChanged(.foreground)) == [])
        #expect(world.handle(.networkChanged(.unavailable)) == [.emit(.networkUnavailable)])
        #expect(world.handle(.networkChanged(.unavailable)) == [])
        #expect(world.handle(.phaseChanged(.background)) == [.emit(.appBackground)])
        #expect(world.handle(.phaseChanged(.background)) == [])
    }

    // MARK: In the middle of an attempt

    private func opening() -> SupervisorHarness {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        return world
    }

    @Test func `an attempt that hangs is made anew when the network comes back`() {
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
            "The network changed, or the machine slept, while the client connected to broker:1883; it tries again at "
                + "once.")
        #expect(
            world.closeEnds() == [
                .emit(.failed(after: .seconds(9), .error(error))), .emit(.reconnect), .emit(.attempt),
                .stateChanged(.connecting), .open(options, AttemptID(number: 2)),
            ])
        world.accept()
        #expect(world.supervisor.state == .connected)
        world.expectNoFaults()
    }

    @Test func `an attempt that began before a suspend is made anew, without a network when that is back`() {
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

    @Test func `an attempt that has just begun has its time to get there`() {
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

    @Test func `what is told as an attempt begins does not end it`() {
        var world = SupervisorHarness()
        world.handle(.networkChanged(.unavailable))
        world.handle(.connectRequested(source: "app"))
        world.grant()
        #expect(world.handle(.networkChanged(.available)) == [.emit(.networkAvailable)])
        #expect(world.deadline == nil)
        world.expectNoFaults()
    }

    @Test func `a network that flaps never makes hanging attempts closer than the spacing`() {
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
