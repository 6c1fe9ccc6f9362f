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
}
