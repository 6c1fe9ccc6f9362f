import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

/// The exact answers, as scripts of inputs with their times.
@Suite struct ConnectionSupervisorTests {
    private let options = SupervisorHarness.options
    private let first = AttemptID(number: 1)
    private let lostError = ConnectionFailure.error(
        CourierError(.connectionLost, "The broker broker:1883 closed the connection without saying why."))

    // MARK: Intent

    @Test func `connect asks the provider, opens, and connects`() {
        var world = SupervisorHarness()
        #expect(
            world.handle(.connectRequested(source: "app")) == [
                .emit(.authStarted), .stateChanged(.connecting), .fetchCredentials(first),
            ])
        world.wait(0.2)
        #expect(
            world.grant() == [
                .emit(.authSucceeded(after: .milliseconds(200))), .setConnectionInfo(options), .emit(.attempt),
                .open(options, first),
            ])
        world.wait(0.1)
        #expect(world.handle(.connectSent) == [.emit(.connectPacketSent)])
        #expect(world.handle(.connectSent) == [])
        #expect(
            world.handle(.accepted(ConnAck(), .v5)) == [
                .emit(.succeeded(after: .milliseconds(100))), .stateChanged(.connected), .releaseWaiters(nil),
            ])
        #expect(world.supervisor.waiterAnswer == .connected)
        #expect(world.supervisor.hasSession)
        world.expectNoFaults()
    }

    @Test func `connect is discarded while authenticating, connecting, or connected`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "a"))
        #expect(
            world.handle(.connectRequested(source: "b")) == [
                .emit(.connectDiscarded(reason: "Client is authenticating"))
            ])
        world.grant()
        #expect(
            world.handle(.connectRequested(source: "b")) == [.emit(.connectDiscarded(reason: "Client connecting"))])
        world.accept()
        #expect(
            world.handle(.connectRequested(source: "b")) == [
                .emit(.connectDiscarded(reason: "Client already connected"))
            ])
        world.expectNoFaults()
    }

    @Test func `disconnect closes in order, and connect during the close connects afterwards`() {
        var world = SupervisorHarness()
        world.connect()
        let told = ConnectionFailure.error(
            CourierError(.sessionMissing, "disconnect() ended the wait for a connection; call connect()."))
        #expect(
            world.handle(.disconnectRequested) == [
                .emit(.courierDisconnect(clearsState: false)), .stateChanged(.disconnected), .closeInOrder,
                .releaseWaiters(told),
            ])
        #expect(world.handle(.disconnectRequested) == [])
        #expect(world.supervisor.waiterAnswer == .failed(told))
        #expect(world.handle(.connectRequested(source: "app")) == [])
        #expect(
            world.handle(.connectRequested(source: "app")) == [
                .emit(.connectDiscarded(reason: "Client is about to connect"))
            ])
        #expect(
            world.closeEnds() == [
                .emit(.disconnected), .emit(.authStarted), .stateChanged(.connecting),
                .fetchCredentials(AttemptID(number: 2)),
            ])
        world.expectNoFaults()
    }

    @Test func `disconnect in the middle of an attempt ends it as cancelled`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.wait(1)
        #expect(
            world.handle(.disconnectRequested).prefix(4) == [
                .emit(.courierDisconnect(clearsState: false)), .abandonCredentials(first),
                .emit(.authFailed(after: .seconds(1), .cancelled)), .stateChanged(.disconnected),
            ])
        #expect(world.grant() == [], "an answer after the end does nothing")

        world.handle(.connectRequested(source: "app"))
        world.grant()
        world.wait(2)
        world.handle(.disconnectRequested)
        #expect(world.closeEnds() == [.emit(.failed(after: .seconds(2), .cancelled))])
        #expect(world.grammar.openStarts == [])
        world.expectNoFaults()
    }

    @Test func `disconnect while waiting ends the intent and its timer`() {
        var world = SupervisorHarness()
        world.connect()
        world.drop()
        #expect(world.deadline == 1)
        world.handle(.disconnectRequested)
        #expect(world.deadline == nil)
        world.expectNoFaults()
    }

    @Test func `destroy clears at once, forgets the options, and ends the session`() {
        var world = SupervisorHarness()
        world.connect()
        let told = ConnectionFailure.error(
            CourierError(.clientDestroyed, "destroy() ended the wait for a connection; call connect()."))
        #expect(
            world.handle(.destroyRequested) == [
                .emit(.courierDisconnect(clearsState: true)), .clearStoredState, .stateChanged(.disconnected),
                .closeInOrder, .releaseWaiters(told),
            ])
        #expect(!world.supervisor.hasSession)
        #expect(world.closeEnds() == [.emit(.disconnected), .setConnectionInfo(nil)])
        #expect(world.handle(.connectRequested(source: "app")).contains(.fetchCredentials(AttemptID(number: 2))))
        world.expectNoFaults()
    }

    @Test func `a close that does not end is cut off after the close timeout`() {
        var world = SupervisorHarness()
        world.connect()
        world.handle(.disconnectRequested)
        #expect(world.deadline == 5)
        #expect(world.fireTimer() == [.abort])
        #expect(world.deadline == nil)
        #expect(world.closeEnds() == [.emit(.disconnected)])
        world.expectNoFaults()
    }

    @Test func `connect while waiting tries at once, asking the provider, but not twice within the spacing`() {
        var world = SupervisorHarness()
        world.connect()
        for _ in 0..<3 {
            world.drop()
            world.fireTimer()
        }
        world.drop()
        #expect(world.deadline == 15, "the pause of 8 seconds after 1, 2 and 4")
        let actions = world.handle(.connectRequested(source: "app"))
        #expect(actions == [.emit(.authStarted), .stateChanged(.connecting), .fetchCredentials(world.lastAttempt)])
        world.grant()
        world.drop()
        #expect(world.deadline == 23)
        #expect(world.handle(.connectRequested(source: "app")) == [])
        #expect(world.deadline == 12)
        world.expectNoFaults()
    }

    // MARK: Back-off

    @Test func `without jitter the pauses are 1 2 4 8 16 30 30`() {
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

    @Test func `an attempt after a loss is announced and uses the same options`() {
        var world = SupervisorHarness()
        world.connect()
        world.wait(3)
        #expect(
            world.drop() == [
                .emit(
                    .lost(
                        after: .seconds(3), lostError, sinceInbound: .seconds(3), sinceOutbound: .seconds(3))),
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

    @Test func `only a stable connection starts the pauses anew`() {
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

    @Test func `an early timer does nothing`() {
        var world = SupervisorHarness()
        world.connect()
        world.drop()
        world.wait(0.9)
        #expect(world.handle(.timerFired) == [])
        world.wait(0.1)
        #expect(world.handle(.timerFired) != [])
        world.expectNoFaults()
    }

    // MARK: Time limits

    @Test func `an attempt without CONNACK is given up after the connect timeout`() {
        var world = SupervisorHarness { $0.connectTimeout = ConnectTimeoutPolicy(isEnabled: true, timeout: 10) }
        world.handle(.connectRequested(source: "app"))
        world.grant()
        world.handle(.connectSent)
        #expect(world.deadline == 10)
        #expect(world.fireTimer() == [.stateChanged(.disconnected), .abort])
        let error = CourierError(.timedOut, "No connection to broker:1883 came about in 10.0 seconds.")
        #expect(world.closeEnds() == [.emit(.failed(after: .seconds(10), .error(error)))])
        #expect(world.deadline == 11)
        world.expectNoFaults()
    }

    @Test func `without the policy an attempt has no limit here`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        #expect(world.deadline == nil)
    }

    @Test func `a silent connection is probed, then lost and replaced at once`() {
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

    @Test func `whatever is received answers a probe`() {
        var world = SupervisorHarness { $0.idleActivityTimeout.isEnabled = true }
        world.connect()
        #expect(world.fireTimer() == [.probe])
        world.wait(1)
        world.bytesReceived()
        #expect(world.deadline == 41)
        world.expectNoFaults()
    }

    // MARK: Credentials

    @Test func `a provider error that may pass is retried after 1, 2 and 4 seconds, then at the interval`() {
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

    @Test func `a provider error in 400 to 499 is retried at the reconnect interval`() {
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

    @Test func `a network error of the provider reports the network as gone until something answers`() {
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

    @Test func `a provider that does not answer is given up, asked again, and heard no more`() {
        var world = SupervisorHarness { $0.authenticationTimeout = .seconds(20) }
        world.handle(.connectRequested(source: "app"))
        #expect(world.deadline == 20)
        let actions = world.fireTimer()
        #expect(actions.first == .abandonCredentials(first))
        #expect(world.deadline == 21)
        let grant = ConnectGrant(options)
        #expect(world.handle(.credentialsArrived(first, grant, date: Date())) == [])
        #expect(world.fireTimer().contains(.fetchCredentials(AttemptID(number: 2))))
        #expect(world.handle(.credentialsArrived(first, grant, date: Date())) == [])
        world.grant()
        #expect(world.grant() == [], "the second answer of two")
        world.expectNoFaults()
    }

    @Test func `credentials are renewed before they end, and the connection is replaced when they differ`() {
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

    @Test func `a renewal that fails keeps the connection and is tried again`() {
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

    @Test func `credentials that have ended are not used for another attempt`() {
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

    @Test func `credentials that hardly last are renewed no more often than the named interval`() {
        var world = SupervisorHarness()
        world.connect(expiresIn: 1)
        #expect(world.deadline == 10)
    }

    @Test func `options that can not be used stop the client`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        let error = CourierError(.invalidConfiguration, "the scheme \"gopher\" is not known")
        let actions = world.handle(.openFailed(first, error))
        #expect(actions.contains(.stateChanged(.disconnected)))
        guard case .failed(.error(let told)) = world.supervisor.waiterAnswer else {
            Issue.record("waiters are not told")
            return
        }
        #expect(told.code == .invalidConfiguration)
        #expect(told.message.contains("gopher") && told.message.contains("connect()"))
        #expect(world.releases == [.error(told)])
        world.expectNoFaults()
    }

    @Test func `an app that answers each stop by connect does not hammer the broker`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        world.refuse(.banned)
        world.handle(.connectRequested(source: "app"))
        #expect(world.fetch != nil, "the first time at once")
        world.grant()
        world.refuse(.banned)
        world.handle(.connectRequested(source: "app"))
        #expect(world.deadline == 5)
        world.fireTimer()
        #expect(world.fetch != nil)
        world.expectNoFaults()
    }

    // MARK: The world

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

    @Test func `the background disconnects in order and the foreground reconnects for topics`() {
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

    @Test func `without a topic the foreground waits for one, or for connect`() {
        var world = SupervisorHarness()
        world.connect()
        world.handle(.phaseChanged(.background))
        world.handle(.phaseChanged(.foreground))
        #expect(world.closeEnds() == [.emit(.disconnected)])
        var other = world
        #expect(world.handle(.topicsChanged(areWanted: true)).contains(.open(options, AttemptID(number: 2))))
        #expect(other.handle(.connectRequested(source: "app")).contains(.fetchCredentials(AttemptID(number: 2))))
        world.expectNoFaults()
        other.expectNoFaults()
    }

    @Test func `connect in the background connects in the foreground`() {
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

    @Test func `a loss that becomes known in the background is mended in the foreground at once`() {
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

    @Test func `a disconnected client stays so in the foreground`() {
        var world = SupervisorHarness()
        world.connect()
        world.handle(.topicsChanged(areWanted: true))
        world.handle(.phaseChanged(.background))
        world.closeEnds()
        world.handle(.disconnectRequested)
        #expect(world.handle(.phaseChanged(.foreground)) == [.emit(.appForeground)])
        world.expectNoFaults()
    }

    @Test func `after a suspend the connection is probed and lost when nothing answers`() {
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

    // MARK: Taken over

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
