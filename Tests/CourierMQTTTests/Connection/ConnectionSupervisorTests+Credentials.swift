import CourierCore
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The requests to the provider, and its answers.
extension ConnectionSupervisorTests {
    @Test
    func `a provider with a temporary error is asked again after 1, 2 and 4 s, and then after the reconnect pauses`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        var pauses: [Double] = []
        for _ in 0..<7 {
            let failedAt = world.time
            world.deny(AuthError.httpError(statusCode: 503))
            pauses.append((world.deadline ?? 0) - failedAt)
            #expect(world.fireTimer().first == .emit(.reconnect))
        }
        #expect(pauses == [1, 2, 4, 1, 2, 4, 8])
        world.grant()
        world.accept()
        world.expectNoFaults()
    }

    @Test func `a provider that fails with HTTP status 400 to 499 is asked again after the reconnect pauses`() {
        var world = SupervisorHarness { $0.reconnectInterval = .seconds(3) }
        world.handle(.connectRequested(source: "app"))
        var pauses: [Double] = []
        for code in [400, 401, 499, 500, 399] {
            let failedAt = world.time
            world.deny(AuthError.httpError(statusCode: code))
            pauses.append((world.deadline ?? 0) - failedAt)
            world.fireTimer()
        }
        #expect(pauses == [3, 6, 12, 1, 2])
        world.expectNoFaults()
    }

    @Test func `provider network errors emit networkUnavailable once, and a later success emits networkAvailable`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        let error = AuthError.otherError(NSError(domain: NSURLErrorDomain, code: -1009))
        #expect(world.deny(error).contains(.emit(.networkUnavailable)))
        world.fireTimer()
        #expect(!world.deny(error).contains(.emit(.networkUnavailable)), "once per change")
        world.fireTimer()
        #expect(world.grant().contains(.emit(.networkAvailable)))
        world.expectNoFaults()
    }

    @Test func `a provider that exceeds the authentication timeout is asked again, and its late answer is ignored`() {
        var world = SupervisorHarness { $0.authenticationTimeout = .seconds(20) }
        world.handle(.connectRequested(source: "app"))
        #expect(world.deadline == 20)
        let actions = world.fireTimer()
        #expect(actions.first == .abandonCredentials(first))
        let texts = actions.compactMap { action -> String? in
            guard case .emit(.authFailed(_, .error(let error))) = action else { return nil }
            return error.message
        }
        #expect(texts.count == 1)
        #expect(texts.first?.contains("did not answer in 20.0 seconds (authenticationTimeoutInterval)") == true)
        #expect(world.deadline == 21)
        let grant = ConnectGrant(options)
        #expect(world.handle(.credentialsArrived(first, grant, date: Date())) == [])
        #expect(world.fireTimer().contains(.fetchCredentials(AttemptID(number: 2))))
        #expect(world.handle(.credentialsArrived(first, grant, date: Date())) == [])
        world.grant()
        #expect(world.grant() == [], "the second answer of two")
        world.expectNoFaults()
    }

    // MARK: Another user

    /// A client that has disconnected after a connection of the first user.
    private func signedOut() -> SupervisorHarness {
        var world = SupervisorHarness()
        world.handle(.topicsChanged(areWanted: true))
        world.connect()
        world.handle(.disconnectRequested)
        world.closeEnds()
        return world
    }

    private func expectOtherUser(_ world: inout SupervisorHarness) {
        #expect(!world.isOpen, "nothing is opened for the first user")
        #expect(world.fetch != nil)
        world.grant(ConnectOptions(host: "broker", port: 1883, clientId: "c", username: "bob", password: "other"))
        world.accept()
        #expect(world.info?.username == "bob")
        world.expectNoFaults()
    }

    @Test func `if connect() is called in the background, new credentials are fetched in the foreground`() {
        var world = signedOut()
        world.handle(.phaseChanged(.background))
        world.handle(.connectRequested(source: "app"))
        world.handle(.phaseChanged(.foreground))
        expectOtherUser(&world)
    }

    @Test func `if the app enters the background after connect(), new credentials are fetched in the foreground`() {
        var asking = signedOut()
        asking.handle(.connectRequested(source: "app"))
        asking.handle(.phaseChanged(.background))
        asking.handle(.phaseChanged(.foreground))
        expectOtherUser(&asking)

        var waiting = signedOut()
        for _ in 0..<2 {
            waiting.handle(.connectRequested(source: "app"))
            waiting.grant()
            waiting.refuse(.banned)
        }
        waiting.handle(.connectRequested(source: "app"))
        #expect(waiting.deadline == 5, "not twice within the spacing")
        waiting.handle(.phaseChanged(.background))
        waiting.handle(.phaseChanged(.foreground))
        waiting.fireTimer()
        expectOtherUser(&waiting)
    }

    @Test func `if the provider fails after connect(), the provider is asked again and old credentials are not reused`()
    {
        var world = signedOut()
        world.handle(.connectRequested(source: "app"))
        world.deny(AuthError.httpError(statusCode: 503))
        world.fireTimer()
        expectOtherUser(&world)
    }

    // MARK: Renewal

    @Test func `credentials are renewed before they expire, and changed credentials lead to a reconnect`() {
        var world = SupervisorHarness()
        world.connect(expiresIn: 600)
        #expect(world.deadline == 570)
        #expect(
            world.fireTimer() == [.emit(.authStarted), .fetchCredentials(AttemptID(number: 2))])
        #expect(world.grant(expiresIn: 600) == [.emit(.authSucceeded(after: .zero))], "the same options")
        #expect(world.deadline == 1140)
        world.fireTimer()
        let other = ConnectOptions(host: "broker", port: 1883, clientId: "c", username: "ada", password: "other")
        #expect(
            world.grant(other) == [
                .emit(.authSucceeded(after: .zero)), .stateChanged(.disconnected), .closeInOrder,
            ])
        #expect(
            world.closeEnds() == [
                .emit(.disconnected), .setConnectionInfo(other), .emit(.attempt), .stateChanged(.connecting),
                .open(other, AttemptID(number: 4)),
            ])
        world.expectNoFaults()
    }

    @Test func `a failed credential renewal does not end the connection and is retried`() {
        var world = SupervisorHarness { $0.authenticationTimeout = .seconds(5) }
        world.connect(expiresIn: 600)
        world.fireTimer()
        world.deny(AuthError.httpError(statusCode: 500))
        #expect(world.supervisor.state == .connected)
        #expect(world.deadline == 571)
        world.fireTimer()
        world.fireTimer()
        #expect(world.fetch == nil, "the timeout")
        #expect(world.deadline == 578)
        world.fireTimer()
        world.drop()
        #expect(world.fetch == nil, "abandoned with the connection")
        world.expectNoFaults()
    }

    @Test func `credentials that are due for renewal are fetched again before the next attempt`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant(expiresIn: 40)
        world.wait(25)
        world.drop()
        #expect(world.fireTimer().contains(.fetchCredentials(AttemptID(number: 2))))
        world.grant(expiresIn: -5)
        world.accept()
        #expect(world.deadline == nil, "an end in the past is a wrong clock, and nothing to plan by")
        world.expectNoFaults()
    }

    @Test(arguments: [(2, 1), (5, 2.5), (12, 6), (19, 9.5), (59, 29.5), (61, 31), (600, 570)])
    func `credentials are renewed at half their lifetime or 30 s before expiry, whichever is later`(
        _ life: Double, _ due: Double
    ) {
        var world = SupervisorHarness()
        world.connect(expiresIn: life)
        for round in 1...10 {
            #expect(abs((world.deadline ?? 0) - Double(round) * due) < 0.001)
            world.fireTimer()
            world.grant(expiresIn: life)
        }
        world.expectNoFaults()
    }

    @Test func `a reconnect because of changed short-lived credentials emits no connectionLost event`() {
        var world = SupervisorHarness()
        world.connect(expiresIn: 5)
        func renew(_ number: Int) {
            #expect(world.fireTimer().contains(.emit(.authStarted)))
            let other = ConnectOptions(
                host: "broker", port: 1883, clientId: "c", username: "ada", password: "\(number)")
            #expect(world.grant(other, expiresIn: 5).contains(.closeInOrder))
            world.closeEnds()
            world.accept()
        }
        for number in 1...20 { renew(number) }
        #expect(world.attemptTimes == (0...20).map { 2.5 * Double($0) })
        #expect(!world.events.contains { ["connectionLost", "connectionFailure"].contains($0.type.name) })

        // None of these connections was stable. So the second loss counts as the second in a row, although
        // connections succeeded in between.
        world.drop()
        #expect(world.deadline == 51)
        world.fireTimer()
        world.accept()
        for number in 21...25 { renew(number) }
        world.drop()
        #expect((world.deadline ?? 0) - world.time == 2)
        world.expectNoFaults()
    }

    @Test func `credentials with a very short lifetime are renewed at most once per second`() {
        var world = SupervisorHarness()
        world.connect(expiresIn: 1)
        #expect(world.deadline == 1)
        world.fireTimer()
        world.grant(expiresIn: 0.01)
        #expect(world.deadline == 2, "counted from the answer")

        world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant(expiresIn: 5)
        world.wait(3)
        world.accept()
        #expect(world.deadline == 4, "counted from CONNACK")
        world.expectNoFaults()
    }
}
