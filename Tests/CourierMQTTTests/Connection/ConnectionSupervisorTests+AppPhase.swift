import CourierCore
import Testing

@testable import CourierMQTT

/// The app in the background and in the foreground.
extension ConnectionSupervisorTests {
    @Test func `a client with filters disconnects in the background and connects again in the foreground`() {
        var world = SupervisorHarness()
        world.connect()
        world.handle(.topicsChanged(areWanted: true))
        #expect(
            world.handle(.phaseChanged(.background)) == [
                .emit(.appBackground), .stateChanged(.disconnected), .closeInOrder,
            ])
        #expect(world.closeEnds() == [.emit(.disconnected)])
        #expect(world.supervisor.waiterAnswer == .wait)
        #expect(
            world.handle(.phaseChanged(.foreground)) == [
                .emit(.appForeground), .emit(.attempt), .stateChanged(.connecting),
                .open(options, AttemptID(number: 2)),
            ])
        world.expectNoFaults()
    }

    private var nothingWanted: ConnectionFailure {
        .error(
            CourierError(
                .sessionMissing,
                "The app was in the background, and the client does not reconnect, "
                    + "because the client has no topic to subscribe to. "
                    + "Call connect(), or subscribe to a topic."))
    }

    @Test func `when the app enters the foreground, waiting callers get an error if the client has no topics`() {
        var world = SupervisorHarness()
        world.connect()
        world.handle(.phaseChanged(.background))
        #expect(world.closeEnds() == [.emit(.disconnected)])
        #expect(world.supervisor.waiterAnswer == .wait, "there may be a topic by then")
        #expect(
            world.handle(.phaseChanged(.foreground)) == [.emit(.appForeground), .releaseWaiters(nothingWanted)])
        #expect(world.supervisor.waiterAnswer == .failed(nothingWanted))
        #expect(world.handle(.topicsChanged(areWanted: false)) == [])
        world.handle(.topicsChanged(areWanted: true))
        #expect(world.supervisor.waiterAnswer == .wait)
        world.expectNoFaults()
    }

    @Test
    func `in the foreground, a client without topics stays offline until connect() is called or a topic is added`() {
        var world = SupervisorHarness()
        world.connect()
        world.handle(.phaseChanged(.background))
        world.handle(.phaseChanged(.foreground))
        #expect(world.supervisor.waiterAnswer == .wait, "the connection has not closed yet")
        #expect(world.closeEnds() == [.emit(.disconnected), .releaseWaiters(nothingWanted)])
        #expect(world.supervisor.waiterAnswer == .failed(nothingWanted))
        var other = world
        #expect(world.handle(.topicsChanged(areWanted: true)).contains(.open(options, AttemptID(number: 2))))
        #expect(other.handle(.connectRequested(source: "app")).contains(.fetchCredentials(AttemptID(number: 2))))
        world.expectNoFaults()
        other.expectNoFaults()
    }

    @Test func `if connect() is called while the app is in the background, the client connects in the foreground`() {
        var world = SupervisorHarness()
        world.handle(.phaseChanged(.background))
        #expect(world.handle(.connectRequested(source: "app")) == [])
        #expect(
            world.handle(.connectRequested(source: "app")) == [
                .emit(.connectDiscarded(reason: "App is in the background"))
            ])
        #expect(world.handle(.phaseChanged(.foreground)).contains(.fetchCredentials(first)))
        world.expectNoFaults()
    }

    @Test func `if an attempt fails in the background, it is repeated at once when the app enters the foreground`() {
        var world = SupervisorHarness { $0.connectTimeout.isEnabled = true }
        world.handle(.topicsChanged(areWanted: true))
        world.handle(.connectRequested(source: "app"))
        world.grant()
        world.fireTimer()
        #expect(world.handle(.phaseChanged(.background)) == [.emit(.appBackground)])
        world.closeEnds()
        #expect(world.deadline == nil)
        #expect(world.handle(.phaseChanged(.foreground)).contains(.open(options, AttemptID(number: 2))) == true)
        world.expectNoFaults()
    }

    @Test func `after disconnect() in the background, the client stays disconnected in the foreground`() {
        var world = SupervisorHarness()
        world.connect()
        world.handle(.topicsChanged(areWanted: true))
        world.handle(.phaseChanged(.background))
        world.closeEnds()
        world.handle(.disconnectRequested)
        #expect(world.handle(.phaseChanged(.foreground)) == [.emit(.appForeground)])
        world.expectNoFaults()
    }
}
