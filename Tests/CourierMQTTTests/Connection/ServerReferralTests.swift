import CourierCore
import MQTTCodec
import Testing

@testable import CourierMQTT

/// What becomes of a client that a broker sends to another server (MQTT 5.0 §4.11), and of the way back.
@Suite struct ServerReferralTests {
    private func host(_ world: SupervisorHarness) -> String? { world.info.map { "\($0.host):\($0.port)" } }

    private func opening() -> SupervisorHarness {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        return world
    }

    // MARK: The limit

    @Test func `a reference is followed however often the server that it names has failed`() {
        var world = opening()
        for round in 1...20 {
            #expect(host(world) == "broker:1883")
            world.refuse(.useAnotherServer, [.serverReference("other")])
            #expect(world.isOpen && host(world) == "other:1883", "round \(round)")
            world.drop()
            #expect(!world.isOpen, "a failure is followed by a pause")
            world.fireTimer()
        }
        #expect(world.attemptTimes.prefix(13) == [0, 0, 1, 1, 3, 3, 7, 7, 15, 15, 31, 31, 61])
        world.refuse(.useAnotherServer, [.serverReference("other")])
        world.accept()
        #expect(world.supervisor.state == .connected)
        #expect(host(world) == "other:1883")
        world.expectNoFaults()
    }

    @Test(arguments: [PacketReasonCode.useAnotherServer, .serverMoved])
    func `servers that name each other get no more than four attempts without a pause`(_ code: PacketReasonCode) {
        var world = opening()
        while world.attemptTimes.count < 40 {
            if world.fetch != nil {
                world.grant()
            } else if world.isOpen {
                world.refuse(code, [.serverReference(host(world) == "broker:1883" ? "other" : "broker")])
            } else {
                world.fireTimer()
            }
        }
        let times = world.attemptTimes
        #expect(zip(times, times.dropFirst(4)).allSatisfy { $0 < $1 }, "\(times)")
        world.expectNoFaults()
    }

    @Test func `a session that another client has taken begins the count anew as well`() {
        var world = opening()
        for round in 1...5 {
            world.refuse(.useAnotherServer, [.serverReference("other")])
            #expect(host(world) == "other:1883", "round \(round)")
            world.accept()
            world.disconnectedByServer(.sessionTakenOver)
            world.fireTimer()
        }
        world.expectNoFaults()
    }
}
