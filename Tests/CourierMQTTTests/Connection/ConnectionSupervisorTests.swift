import CourierCore
import CourierTransport
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The exact actions of the supervisor for sequences of inputs with their times.
@Suite struct ConnectionSupervisorTests {
    let options = SupervisorHarness.options
    let first = AttemptID(number: 1)

    // MARK: Intent

    @Test func `connect() fetches credentials, opens the transport and connects`() {
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

    @Test func `connect() is discarded while the client authenticates, connects or is connected`() {
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

    @Test func `disconnect() closes the connection, and connect() during the close takes effect after the close`() {
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
        let failure = ConnectionFailure.error(
            CourierError(
                .sessionMissing,
                "There is no connection to wait for, because disconnect() was called; call connect()."))
        #expect(world.supervisor.waiterAnswer == .failed(failure))
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

    @Test(arguments: [false, true])
    func `connect() during a close resets the reconnect pause`(_ isConnected: Bool) {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        for _ in 0..<4 {
            world.drop()
            world.fireTimer()
        }
        if isConnected { world.accept() }
        world.wait(2)
        world.handle(.disconnectRequested)
        world.handle(.connectRequested(source: "app"))
        world.closeEnds()
        world.grant()
        world.drop()
        #expect(world.deadline == world.time + 1)
        world.expectNoFaults()
    }

    @Test func `connect() during a close resets the count of dropped connections`() {
        var world = SupervisorHarness()
        world.connect(.v311)
        for _ in 0..<2 {
            world.drop()
            world.fireTimer()
            world.accept(.v311)
        }
        world.handle(.disconnectRequested)
        world.handle(.connectRequested(source: "app"))
        world.closeEnds()
        world.grant()
        world.accept(.v311)
        world.drop()
        #expect(world.supervisor.waiterAnswer == .wait)
        world.expectNoFaults()
    }

    @Test func `disconnect() ends a running attempt with the result cancelled`() {
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

    @Test func `disconnect() during a reconnect pause cancels the next attempt`() {
        var world = SupervisorHarness()
        world.connect()
        world.drop()
        #expect(world.deadline == 1)
        world.handle(.disconnectRequested)
        #expect(world.deadline == nil)
        world.expectNoFaults()
    }

    @Test func `destroy() clears the stored state, ends the session and forgets the connect options`() {
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

    @Test func `a close that does not finish is aborted after the close timeout`() {
        var world = SupervisorHarness()
        world.connect()
        world.handle(.disconnectRequested)
        #expect(world.deadline == 5)
        #expect(world.fireTimer() == [.abort])
        #expect(world.deadline == nil)
        #expect(world.closeEnds() == [.emit(.disconnected)])
        world.expectNoFaults()
    }

    @Test func `connect() during a reconnect pause starts an attempt at once, but at most once in 5 s`() {
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

    // MARK: Stops

    @Test func `invalid connect options stop the client`() {
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

    @Test(arguments: [TransportError.Code.tooManyDescriptors, .systemFailure])
    func `a lack of system resources does not stop the client`(_ code: TransportError.Code) {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "app"))
        world.grant()
        world.handle(.openFailed(first, CourierError(TransportError(code, "no certificate could be read"))))
        #expect(world.supervisor.waiterAnswer == .wait)
        world.fireTimer()
        #expect(world.isOpen)
        world.expectNoFaults()
    }

    @Test func `after a stop, repeated connect() calls start attempts at least 5 s apart`() {
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
}
