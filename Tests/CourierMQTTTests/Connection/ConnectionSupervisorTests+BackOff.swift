import CourierCore
import CourierTransport
import MQTTEngine
import Testing

@testable import CourierMQTT

/// The pauses between attempts.
extension ConnectionSupervisorTests {
    @Test func `without jitter, the pauses between attempts are 1, 2, 4, 8, 16, 30 and 30 s`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        var pauses: [Double] = []
        for _ in 0..<8 {
            let failedAt = world.time
            world.handle(
                .closed(.transportClosed, .failed(TransportError(.connectionRefused, "connection refused"))))
            pauses.append((world.deadline ?? 0) - failedAt)
            world.fireTimer()
        }
        #expect(pauses == [1, 2, 4, 8, 16, 30, 30, 30])
        world.expectNoFaults()
    }

    @Test func `the first attempt after a connection loss emits the reconnect event and reuses the connect options`() {
        var world = SupervisorHarness()
        world.connect()
        world.wait(3)
        let lost = CourierError(.connectionLost, "The broker broker:1883 closed the connection without a reason.")
        #expect(
            world.drop() == [
                .emit(
                    .lost(
                        after: .seconds(3), .error(lost), sinceInbound: .seconds(3), sinceOutbound: .seconds(3))),
                .stateChanged(.disconnected),
            ])
        #expect(world.supervisor.waiterAnswer == .wait)
        #expect(
            world.fireTimer() == [
                .emit(.reconnect), .emit(.attempt), .stateChanged(.connecting),
                .open(options, AttemptID(number: 2)),
            ])
        world.expectNoFaults()
    }

    @Test func `only a connection that lasts at least 10 s resets the pauses between attempts`() {
        var world = SupervisorHarness()
        world.connect()
        world.drop()
        world.fireTimer()
        world.accept()
        world.wait(9.9)
        world.drop()
        #expect(world.deadline == world.time + 2)
        world.fireTimer()
        world.accept()
        world.wait(10)
        world.drop()
        #expect(world.deadline == world.time + 1)
        world.expectNoFaults()
    }

    @Test func `a timer that fires before its deadline has no effect`() {
        var world = SupervisorHarness()
        world.connect()
        world.drop()
        world.wait(0.9)
        #expect(world.handle(.timerFired) == [])
        world.wait(0.1)
        #expect(world.handle(.timerFired) != [])
        world.expectNoFaults()
    }
}
