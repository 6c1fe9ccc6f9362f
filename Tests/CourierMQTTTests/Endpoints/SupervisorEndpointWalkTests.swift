import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

/// Rules that hold for a client with several endpoints and random inputs.
@Suite struct SupervisorEndpointWalkTests {
    private static let options = ConnectOptions(
        host: "a", port: 1, clientId: "c", username: "", password: "",
        alternatives: [
            BrokerEndpoint(host: "b", port: 2), BrokerEndpoint(host: "c", port: 3, priority: 1),
            BrokerEndpoint(host: "d", port: 4, priority: 1),
        ])
    private static let found = [BrokerEndpoint(host: "s1", port: 1), BrokerEndpoint(host: "s2", port: 2, priority: 9)]

    /// Passes a random input to the supervisor. The input is possible in the present state.
    private func step(_ world: inout SupervisorHarness, _ random: inout SeededGenerator) {
        if world.search != nil, Int.random(in: 0...2, using: &random) > 0 {
            let answers: [EndpointSearch] = [.found(Self.found), .found([]), .unavailable, .failed("no answer")]
            world.handle(.endpointsFound(world.lastAttempt, answers.randomElement(using: &random) ?? .found([])))
            return
        }
        switch Int.random(in: 0...15, using: &random) {
        case 0: world.handle(.connectRequested(source: "walk"))
        case 1: world.handle(.disconnectRequested)
        case 2: world.handle(.phaseChanged(Bool.random(using: &random) ? .background : .foreground))
        case 3: world.handle(.networkChanged(Bool.random(using: &random) ? .unavailable : .available))
        case 4 where world.isOpen: world.refuse(.useAnotherServer, [.serverReference("b:2")])
        case 5 where world.isOpen: world.refuse(.serverMoved, [.serverReference("moved")])
        case 6 where world.isOpen: world.refuse(.notAuthorized)
        case 7 where world.isOpen: world.drop()
        case 8...10 where world.isOpen: world.accept(.v311)
        case 11:
            world.wait(1.5)
            world.handle(.timerFired)
        default:
            if world.fetch != nil {
                world.grant(Self.options, expiresIn: Bool.random(using: &random) ? 45 : nil)
            } else if world.supervisor.deadline != nil {
                world.fireTimer()
            }
        }
    }

    @Test(arguments: [false, true])
    func `the supervisor's invariants hold for random inputs with several endpoints`(_ usesServiceRecords: Bool) {
        for seed in UInt64(1)...200 {
            var random = SeededGenerator(seed: seed)
            var world = SupervisorHarness(seed: seed) {
                $0.usesServiceRecords = usesServiceRecords
                $0.returnInterval = .seconds(20)
                $0.connectTimeout.isEnabled = true
                $0.authenticationTimeout = .seconds(7)
            }
            world.handle(.topicsChanged(areWanted: true))
            for _ in 0..<300 where world.faults.isEmpty { step(&world, &random) }
            world.expectNoFaults("seed \(seed)")
            // After all inputs, the client still connects if one endpoint accepts.
            world.handle(.phaseChanged(.foreground))
            world.handle(.networkChanged(.available))
            world.handle(.connectRequested(source: "walk"))
            if world.isOpen { world.drop() }
            var attempts = 0
            while world.supervisor.state != .connected, attempts < 100 {
                attempts += 1
                switch world.supervisor.phase {
                case .closing: world.closeEnds()
                case .authenticating: world.grant(Self.options)
                case .locating: world.handle(.endpointsFound(world.lastAttempt, .found([])))
                case .opening where world.info?.host == "d": world.accept()
                case .opening: world.drop()
                case .waiting: world.fireTimer()
                case .resting, .paused, .connected: break
                }
            }
            let place = "seed \(seed): \(world.info?.host ?? "nowhere"), \(world.supervisor.phase)"
            #expect(world.info?.host == "d" && world.supervisor.state == .connected, "\(place)")
            world.expectNoFaults("seed \(seed)")
        }
    }
}
