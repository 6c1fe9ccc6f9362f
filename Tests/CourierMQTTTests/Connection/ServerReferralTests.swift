import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

/// A client that a broker redirects to another server (MQTT 5.0 §4.11), and its return to the configured server.
@Suite struct ServerReferralTests {
    private func host(_ world: SupervisorHarness) -> String? { world.info.map { "\($0.host):\($0.port)" } }

    private func opening() -> SupervisorHarness {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        return world
    }

    // MARK: The limit

    @Test func `a redirect is followed even if attempts at the new server have failed many times`() {
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
    func `servers that redirect to each other get at most four attempts without a pause`(_ code: PacketReasonCode) {
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

    @Test func `a session takeover resets the count of followed redirects`() {
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

    // MARK: Renewal

    @Test(arguments: [PacketReasonCode.useAnotherServer, .serverMoved])
    func `if renewed credentials are unchanged, the connection to the server of a redirect stays open`(
        _ code: PacketReasonCode
    ) {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant(expiresIn: 600)
        world.refuse(code, [.serverReference("other:8883")])
        world.accept()
        for _ in 0..<3 {
            world.fireTimer()
            #expect(world.fetch != nil)
            #expect(world.grant(expiresIn: 600) == [.emit(.authSucceeded(after: .zero))])
            #expect(world.supervisor.state == .connected && host(world) == "other:8883")
        }
        world.fireTimer()
        let elsewhere = ConnectOptions(host: "third", port: 1, clientId: "c", username: "ada", password: "s3cret")
        #expect(world.grant(elsewhere).contains(.closeInOrder), "a reference is for the host that gave it")
        world.closeEnds()
        #expect(host(world) == "third:1")
        world.expectNoFaults()
    }

    @Test func `[MQTT-4.12.1-1] after a redirect, credentials are renewed on the connection to the new server`() {
        func authentication(_ token: String) -> ExtendedAuthentication {
            ExtendedAuthentication(method: "TOKEN", data: Data(token.utf8))
        }
        func options(_ token: String) -> ConnectOptions {
            ConnectOptions(
                host: "broker", port: 1883, clientId: "c", username: "", password: "",
                extendedAuthentication: authentication(token))
        }
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant(options("1"), expiresIn: 600)
        world.refuse(.useAnotherServer, [.serverReference("other:8883")])
        world.accept()
        for token in ["2", "3"] {
            world.fireTimer()
            let actions = world.grant(options(token), expiresIn: 600)
            #expect(actions == [.emit(.authSucceeded(after: .zero)), .reauthenticate(authentication(token))])
        }
        #expect(world.supervisor.state == .connected && host(world) == "other:8883")
        world.expectNoFaults()
    }

    // MARK: What is wrong with the other server

    enum Fault: CaseIterable, Sendable {
        case version
        case clientCertificate
        case options

        func input(_ attempt: AttemptID) -> ConnectionSupervisor.Input {
            switch self {
            case .version: .closed(.refused(ConnAck(reasonCode: .unsupportedProtocolVersion)), .closedByOwner)
            case .clientCertificate:
                .closed(.transportClosed, .failed(TransportError(.tlsClientCertificateRequired, "none to show")))
            case .options: .openFailed(attempt, CourierError(.invalidConfiguration, "The path is no path."))
            }
        }
    }

    @Test(arguments: [PacketReasonCode.useAnotherServer, .serverMoved], Fault.allCases)
    func `a failure that is final at the configured server does not stop the client at the server of a redirect`(
        _ code: PacketReasonCode, _ fault: Fault
    ) {
        var home = opening()
        home.handle(fault.input(home.lastAttempt))
        #expect(home.deadline == nil && home.releases.count == 1, "at home it stops")

        var world = opening()
        world.refuse(code, [.serverReference("other")])
        #expect(host(world) == "other:1883")
        world.handle(fault.input(world.lastAttempt))
        #expect(world.deadline == 1 && world.releases.isEmpty)
        guard case .failed(_, .error(let error))? = world.events.last(where: \.isFailedAttempt) else {
            Issue.record("no event says so")
            return
        }
        #expect(!error.message.contains("waits for connect()"))
        world.fireTimer()
        #expect(world.isOpen && host(world) == "broker:1883")
        world.accept()
        world.expectNoFaults()
    }
}
