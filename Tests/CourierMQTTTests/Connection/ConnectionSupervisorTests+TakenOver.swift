import MQTTCodec
import Testing

@testable import CourierMQTT

/// Sessions that another client takes over.
extension ConnectionSupervisorTests {
    @Test func `a session that was taken over is left alone for 60 seconds, doubling to 10 minutes`() {
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

    @Test func `before MQTT 5 three drops in a row right after CONNACK mean the same`() {
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

    @Test func `drops that are not in a row, or come later, or speak MQTT 5, are ordinary losses`() {
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
        for _ in 0..<5 {
            world.wait(5.1)
            world.drop()
            #expect(world.deadline == world.time + 1)
            world.fireTimer()
            world.accept(.v311)
        }
        world.wait(5.1)
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
}
