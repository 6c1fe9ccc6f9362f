import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

/// The cases in which callers of `connected()` get an error before the first connection, and the log records of these
/// cases.
extension ConnectionSupervisorTests {
    /// A client that has begun its first attempt.
    private func opening(
        _ options: ConnectOptions = SupervisorHarness.options,
        _ change: (inout SupervisorConfiguration) -> Void = { _ in }
    ) -> SupervisorHarness {
        var world = SupervisorHarness(change)
        world.handle(.connectRequested(source: "test"))
        world.grant(options)
        return world
    }

    private static let two = ConnectOptions(
        host: "a", port: 1883, clientId: "c", username: "ada", password: "s3cret",
        alternatives: [BrokerEndpoint(host: "b", port: 1884)])

    private func fail(_ world: inout SupervisorHarness, _ code: TransportError.Code) {
        world.handle(.closed(.transportClosed, .failed(TransportError(code, "\(code)"))))
    }

    /// True if a caller of `connected()` gets an error at once.
    private func isHopeless(_ world: SupervisorHarness) -> Bool {
        if case .failed = world.supervisor.waiterAnswer { true } else { false }
    }

    @Test func `with fixed connect options, connected() throws after each refusal until a first connection succeeds`() {
        var world = opening { $0.areOptionsFixed = true }
        for count in 1...3 {
            world.refuse(.badUserNameOrPassword)
            #expect(world.releases.count == count && isHopeless(world))
            world.fireTimer()
            world.grant()
            #expect(!isHopeless(world), "an attempt is under way")
        }
        world.accept()
        #expect(world.releases.count == 4)
        world.disconnectedByServer(.notAuthorized)
        world.fireTimer()
        world.grant()
        world.refuse(.badUserNameOrPassword)
        #expect(world.releases.count == 4 && !isHopeless(world), "it is not the first connection any more")
        world.expectNoFaults()
    }

    @Test func `after disconnect() and connect(), connected() throws on a final failure`() {
        var world = SupervisorHarness { $0.areOptionsFixed = true }
        world.connect()
        world.handle(.disconnectRequested)
        world.closeEnds()
        world.handle(.connectRequested(source: "test"))
        world.grant()
        world.refuse(.badUserNameOrPassword)
        #expect(isHopeless(world))
        world.expectNoFaults()
    }

    @Test func `refused credentials are a final failure only if the provider returns the same credentials again`() {
        var world = opening()
        world.refuse(.notAuthorized)
        #expect(!isHopeless(world) && world.fetch != nil)
        let other = ConnectOptions(host: "broker", port: 1883, clientId: "c", username: "ada", password: "other")
        world.grant(other)
        world.refuse(.notAuthorized)
        #expect(!isHopeless(world), "these were refused for the first time")
        world.fireTimer()
        world.grant(other)
        world.refuse(.notAuthorized)
        #expect(isHopeless(world) && world.releases.count == 1)
        world.expectNoFaults()
    }

    @Test func `with whenRefused = stop, the client stops if the provider returns the refused options again`() {
        var world = opening { $0.whenRefused = .stop }
        world.refuse(.badUserNameOrPassword)
        #expect(!isHopeless(world) && world.fetch != nil)
        world.grant()
        world.refuse(.badUserNameOrPassword)
        #expect(isHopeless(world) && world.deadline == nil)
        #expect(world.logLines.contains { $0.contains("reconnect.whenRefused is .stop") })
        world.expectNoFaults()
    }

    @Test func `with fixed connect options, refused credentials at one endpoint are a final failure at all endpoints`()
    {
        var world = opening(Self.two) { $0.areOptionsFixed = true }
        fail(&world, .connectionRefused)
        world.refuse(.badUserNameOrPassword)
        #expect(isHopeless(world))
        world.expectNoFaults()
    }

    @Test func `with whenRefused = stop, DISCONNECT notAuthorized on a live connection does not stop the client`() {
        var world = opening {
            $0.areOptionsFixed = true
            $0.whenRefused = .stop
        }
        world.accept()
        world.disconnectedByServer(.notAuthorized)
        #expect(world.deadline != nil, "the topic of a message may have been forbidden")
        world.expectNoFaults()
    }

    @Test func `with whenRefused = stop, an unknown host after a session takeover stops the client`() {
        var world = opening { $0.whenRefused = .stop }
        world.accept()
        world.disconnectedByServer(.sessionTakenOver)
        world.fireTimer()
        fail(&world, .hostNotFound)
        #expect(world.deadline == nil && isHopeless(world), "the first failure is final")
        world.expectNoFaults()
    }

    @Test func `a final failure no longer counts as final if the network becomes unavailable`() {
        var world = opening()
        fail(&world, .hostNotFound)
        #expect(isHopeless(world))
        world.handle(.networkChanged(.unavailable))
        #expect(!isHopeless(world))
        world.expectNoFaults()
    }

    @Test func `an unknown host is not a final failure if the network returned during the attempt`() {
        var world = opening()
        world.handle(.networkChanged(.unavailable))
        world.wait(1)
        world.handle(.networkChanged(.available))
        fail(&world, .hostNotFound)
        #expect(!isHopeless(world))
        world.expectNoFaults()
    }

    @Test func `an unknown host is not a final failure if the lookup of its service records failed`() throws {
        var world = opening { $0.usesServiceRecords = true }
        let search = try #require(world.search)
        world.handle(.endpointsFound(search, .failed("no answer")))
        fail(&world, .hostNotFound)
        #expect(!isHopeless(world))
        world.expectNoFaults()
    }

    @Test(arguments: [
        (TransportError.Code.hostNotFound, true), (.tlsUnknownAuthority, true), (.tlsHostNameMismatch, true),
        (.tlsCertificateExpired, true), (.tlsPinMismatch, true), (.nameResolutionFailed, false),
        (.connectionRefused, false), (.connectTimedOut, false), (.unreachable, false), (.closedDuringHandshake, false),
    ])
    func `connected() throws on a transport failure only if the failure is final`(
        _ code: TransportError.Code, _ isFinal: Bool
    ) {
        var world = opening()
        fail(&world, code)
        #expect(isHopeless(world) == isFinal)
        #expect(world.releases.count == (isFinal ? 1 : 0))
        #expect(world.deadline == 1, "the client keeps trying")
        world.expectNoFaults()
    }

    @Test func `connected() keeps waiting after an unknown host error if the network is unavailable`() {
        var world = opening()
        world.handle(.networkChanged(.unavailable))
        fail(&world, .hostNotFound)
        #expect(!isHopeless(world))
        world.expectNoFaults()
    }

    @Test func `connected() throws only if every endpoint had a final failure`() {
        var world = opening(Self.two)
        fail(&world, .hostNotFound)
        #expect(world.isOpen && !isHopeless(world), "the second one has its turn")
        fail(&world, .connectionRefused)
        #expect(!isHopeless(world), "the second one may recover")
        world.fireTimer()
        fail(&world, .hostNotFound)
        fail(&world, .tlsUnknownAuthority)
        #expect(isHopeless(world), "each round is judged alone")
        world.expectNoFaults()
    }

    @Test func `connected() throws if credentials are refused after a fallback to an older MQTT version`() {
        var world = opening { $0.areOptionsFixed = true }
        world.handle(.closed(.versionNotSupported(next: .v311), .closedByPeer))
        #expect(world.isOpen && !isHopeless(world))
        world.refuse(.badUserNameOrPassword)
        #expect(isHopeless(world))
        world.expectNoFaults()
    }

    @Test func `connected() throws on a final failure after the app returns from the background`() {
        var world = opening()
        world.handle(.topicsChanged(areWanted: true))
        world.handle(.phaseChanged(.background))
        world.closeEnds()
        world.handle(.phaseChanged(.foreground))
        world.wait(5)
        world.fireTimer()
        world.grant()
        fail(&world, .hostNotFound)
        #expect(isHopeless(world))
        world.expectNoFaults()
    }

    @Test(arguments: [false, true])
    func `with whenRefused = stop, the client waits for connect() after a final failure`(_ wasConnected: Bool) {
        var world = opening {
            $0.areOptionsFixed = true
            $0.whenRefused = .stop
        }
        if wasConnected {
            world.accept()
            world.wait(20)
            world.drop()
            world.fireTimer()
        }
        fail(&world, .connectionRefused)
        #expect(world.deadline != nil, "a port that refuses may recover")
        world.fireTimer()
        world.refuse(.badUserNameOrPassword)
        #expect(world.deadline == nil && isHopeless(world))
        guard case .error(let error)?? = world.releases.last else {
            Issue.record("no error")
            return
        }
        #expect(error.message.contains("reconnect.whenRefused"))
        world.handle(.connectRequested(source: "test"))
        #expect(world.fetch != nil)
        world.expectNoFaults()
    }

    @Test func `the log warns once if the provider or the broker does not answer within 4 s`() {
        func warnings(_ world: SupervisorHarness, _ words: String) -> Int {
            world.logLines.count { $0.contains(words) }
        }
        var world = SupervisorHarness { $0.slowAttemptTime = .seconds(4) }
        world.handle(.connectRequested(source: "test"))
        #expect(world.deadline == 4)
        world.fireTimer()
        #expect(warnings(world, "the auth provider has not answered for 4.0 seconds") == 1)
        #expect(world.deadline == nil && world.fetch != nil)
        world.grant()
        #expect(world.deadline == 8)
        world.fireTimer()
        #expect(warnings(world, "no connection to the broker broker:1883 after 4.0 seconds") == 1)
        #expect(world.deadline == nil && world.isOpen)
        world.drop()
        world.fireTimer()
        world.handle(.connectSent)
        world.fireTimer()
        #expect(warnings(world, "the broker broker:1883 has not answered the connection request for 4.0 seconds") == 1)
        world.handle(.accepted(ConnAck(), .v5))
        #expect(world.logLines.count { $0.contains(" 4.0 seconds") } == 3)
    }
}
