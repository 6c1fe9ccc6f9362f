import CourierCore
import Testing

@testable import CourierMQTT

/// Attempts that take too long, and connections that are silent for too long.
extension ConnectionSupervisorTests {
    @Test func `an attempt without CONNACK fails with timedOut after the connect timeout`() {
        var world = SupervisorHarness { $0.connectTimeout = ConnectTimeoutPolicy(isEnabled: true, timeout: 10) }
        world.handle(.connectRequested(source: "app"))
        world.grant()
        world.handle(.connectSent)
        #expect(world.deadline == 10)
        #expect(world.fireTimer() == [.stateChanged(.disconnected), .abort])
        let error = CourierError(
            .timedOut,
            "The client could not connect to broker:1883 in 10.0 seconds (connectTimeoutPolicy). "
                + "Is the host correct, and is the port open?")
        #expect(world.closeEnds() == [.emit(.failed(after: .seconds(10), .error(error)))])
        #expect(world.deadline == 11)
        world.expectNoFaults()
    }

    @Test func `an attempt has no deadline if the connect timeout is disabled`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        #expect(world.deadline == nil)
    }

    @Test func `a silent connection is probed, then closed and replaced at once`() {
        var world = SupervisorHarness { $0.idleActivityTimeout.isEnabled = true }
        world.connect()
        #expect(world.deadline == 20, "half of the read timeout")
        world.wait(2)
        #expect(world.bytesSent() == true)
        #expect(world.deadline == 7, "half of the inactivity timeout")
        #expect(world.fireTimer() == [.probe])
        #expect(world.bytesSent() == false)
        #expect(world.deadline == 12)
        #expect(world.fireTimer() == [.stateChanged(.disconnected), .abort])
        let actions = world.closeEnds()
        guard case .emit(.lost(_, .error(let error), let inbound, _)) = actions.first else {
            Issue.record("no loss in \(actions)")
            return
        }
        #expect(error.code == .timedOut)
        #expect(inbound == .seconds(12))
        #expect(actions.contains(.emit(.reconnect)))
        world.expectNoFaults()
    }

    @Test func `any received byte counts as the answer to a probe`() {
        var world = SupervisorHarness { $0.idleActivityTimeout.isEnabled = true }
        world.connect()
        #expect(world.fireTimer() == [.probe])
        world.wait(1)
        world.bytesReceived()
        #expect(world.deadline == 41)
        world.expectNoFaults()
    }

    @Test func `after the machine wakes up, the connection is probed, and closed if the broker does not answer`() {
        var world = SupervisorHarness()
        world.connect()
        world.wait(100)
        #expect(world.handle(.resumedFromSuspend) == [.probe])
        #expect(world.deadline == 103)
        var answered = world
        answered.bytesReceived()
        #expect(answered.deadline == nil)
        #expect(world.fireTimer() == [.stateChanged(.disconnected), .abort])
        let actions = world.closeEnds()
        #expect(actions.contains(.emit(.reconnect)), "at once")
        world.expectNoFaults()
    }

    @Test func `while reading is paused, a probe after a network change does not close the connection`() {
        var world = SupervisorHarness()
        world.connect()
        world.setReadingPaused(true)
        world.handle(.networkChanged(.unavailable))
        #expect(world.handle(.networkChanged(.available)).contains(.probe))
        #expect(world.handle(.resumedFromSuspend) == [.probe])
        #expect(world.deadline == nil)
        world.wait(1_000)
        #expect(world.handle(.timerFired) == [])
        world.setReadingPaused(false)
        #expect(world.deadline == world.time + 3, "what waits to be read answers the probe")
        var dead = world
        world.bytesReceived()
        #expect(world.deadline == nil)
        #expect(dead.fireTimer() == [.stateChanged(.disconnected), .abort])
        world.expectNoFaults()
        dead.expectNoFaults()
    }

    @Test func `the idle timeout does not run while reading is paused`() {
        var world = SupervisorHarness { $0.idleActivityTimeout.isEnabled = true }
        world.connect()
        #expect(world.fireTimer() == [.probe])
        world.setReadingPaused(true)
        #expect(world.deadline == nil)
        world.wait(100)
        world.bytesSent()
        #expect(world.handle(.timerFired) == [])
        world.setReadingPaused(false)
        #expect(world.deadline == world.time + 5, "half of the inactivity timeout")

        world.setReadingPaused(true)
        world.drop()
        world.fireTimer()
        world.accept()
        #expect(world.deadline == world.time + 20, "a new connection begins with reading")
        world.expectNoFaults()
    }
}
