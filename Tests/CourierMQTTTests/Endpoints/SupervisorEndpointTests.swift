import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

/// The supervisor with several endpoints: sequences of inputs with their times.
@Suite struct SupervisorEndpointTests {
    private static let three = ConnectOptions(
        host: "a", port: 1883, clientId: "c", username: "ada", password: "s3cret",
        alternatives: [
            BrokerEndpoint(host: "b", port: 1884, weight: 0), BrokerEndpoint(host: "far", port: 1885, priority: 1),
        ])

    private static let refused = ChannelCloseReason.failed(
        TransportError(.connectionRefused, "connection refused"))

    private func opening(
        _ options: ConnectOptions = three, _ change: (inout SupervisorConfiguration) -> Void = { _ in }
    ) -> SupervisorHarness {
        var world = SupervisorHarness(change)
        world.handle(.connectRequested(source: "test"))
        world.grant(options)
        return world
    }

    private func host(_ world: SupervisorHarness) -> String? { world.info.map { "\($0.host):\($0.port)" } }

    /// Lets the current attempt fail. Returns the host of the next attempt, and the pause before it.
    private func fail(_ world: inout SupervisorHarness) -> (host: String?, pause: Double) {
        let failedAt = world.time
        world.handle(.closed(.transportClosed, Self.refused))
        if !world.isOpen { world.fireTimer() }
        return (host(world), world.time - failedAt)
    }

    // MARK: Rounds

    @Test func `all endpoints are tried without a pause, then the reconnect pause follows`() {
        var world = opening()
        #expect(host(world) == "a:1883")
        for pause in [1.0, 2, 4, 8, 16, 30, 30] {
            #expect(fail(&world) == ("b:1884", 0))
            #expect(fail(&world) == ("far:1885", 0))
            #expect(fail(&world) == ("a:1883", pause), "the reconnect policy counts rounds")
        }
        world.expectNoFaults()
    }

    @Test
    func `an address is avoided after a failed attempt or a connection loss, but not after a refusal or disconnect()`()
    {
        var world = opening(SupervisorHarness.options)
        #expect(world.avoidedCount == 0)
        world.drop()
        #expect(world.avoidedCount == 1, "an attempt")
        world.fireTimer()
        world.accept()
        world.drop()
        #expect(world.avoidedCount == 2, "a connection")
        world.fireTimer()
        world.refuse(.notAuthorized)
        world.grant()
        world.accept()
        world.handle(.disconnectRequested)
        world.closeEnds()
        #expect(world.avoidedCount == 2, "credentials, and what the app wants, are the same everywhere")
        world.expectNoFaults()
    }

    @Test func `the events, the options and the error of an attempt name the attempt's endpoint`() {
        var world = opening()
        let actions = world.drop()
        guard case .emit(.failed(_, .error(let error))) = actions.first else {
            Issue.record("no failure: \(actions)")
            return
        }
        #expect(error.message.contains("a:1883"))
        let there = Self.three.at(Self.three.alternatives[0])
        #expect(
            Array(actions.dropFirst()) == [
                .emit(.reconnect), .setConnectionInfo(there), .emit(.attempt), .open(there, AttemptID(number: 2)),
            ])
        #expect(there.clientId == "c" && there.username == "ada" && there.password == "s3cret")
        world.expectNoFaults()
    }

    @Test func `after a stable connection is lost, the client tries all endpoints before the reconnect pause`() {
        var world = opening()
        _ = fail(&world)
        world.accept()
        world.wait(60)
        world.drop()
        #expect(host(world) == "a:1883" && world.isOpen, "behind b, which was lost, comes a: it failed longer ago")
        #expect(fail(&world) == ("b:1884", 0))
        #expect(fail(&world) == ("far:1885", 0))
        #expect(fail(&world) == ("a:1883", 2), "the attempt at once took the place of the first pause")
        world.expectNoFaults()
    }

    @Test func `after the loss of a stable connection, the client connects at once to another endpoint`() {
        var world = opening()
        world.accept()
        world.wait(10)
        world.drop()
        #expect(world.isOpen && host(world) == "b:1884")
        world.expectNoFaults()
    }

    @Test func `endpoints that accept and soon drop connections are retried with growing pauses`() {
        var world = opening()
        var pauses: [Double] = []
        for _ in 0..<5 {
            world.accept()
            world.wait(1)
            let lostAt = world.time
            world.drop()
            if !world.isOpen { world.fireTimer() }
            pauses.append(world.time - lostAt)
        }
        #expect(pauses == [0, 2, 4, 8, 16], "at once only the first time")
        world.expectNoFaults()
    }

    @Test
    func `after a lost connection, an endpoint of unique priority is tried again before the next endpoint`() {
        let options = ConnectOptions(
            host: "a", port: 1, clientId: "c", username: "", password: "",
            alternatives: [BrokerEndpoint(host: "far", port: 2, priority: 1)])
        var world = opening(options)
        world.accept()
        world.wait(100)
        world.drop()
        #expect(!world.isOpen && world.deadline == world.time + 1)
        world.fireTimer()
        #expect(host(world) == "a:1")
        #expect(fail(&world) == ("far:2", 0))
        world.expectNoFaults()
    }

    @Test func `without a network, the next endpoint is tried after 60 s`() {
        var world = opening()
        world.handle(.networkChanged(.unavailable))
        #expect(fail(&world) == ("b:1884", 60))
        world.expectNoFaults()
    }

    // MARK: Whose fault it is

    @Test func `refused credentials are retried at the same endpoint`() {
        var world = opening()
        for code in [PacketReasonCode.badUserNameOrPassword, .notAuthorized] {
            world.refuse(code)
            if world.fetch == nil { world.fireTimer() }
            #expect(world.fetch != nil)
            world.grant(Self.three)
            #expect(host(world) == "a:1883")
        }
        world.expectNoFaults()
    }

    @Test(
        arguments: LossPolicy.rows.flatMap(\.causes).compactMap { cause -> PacketReasonCode? in
            if case .refused(let code) = cause { code } else { nil }
        })
    func `a CONNACK refusal leads to the next endpoint only if LossPolicy assigns the cause to the endpoint`(
        _ code: PacketReasonCode
    ) {
        var world = opening()
        world.refuse(code)
        let row = LossPolicy.row(for: .refused(code))
        if row.subject == .endpoint {
            #expect(world.isOpen && host(world) == "b:1884")
        } else {
            #expect(host(world) == "a:1883")
            #expect(world.fetch != nil || world.supervisor.waiterAnswer != .wait)
        }
        world.expectNoFaults()
    }

    @Test func `an invalid endpoint does not stop a client that has other endpoints`() {
        var world = opening()
        let error = CourierError(.invalidConfiguration, "the scheme \"gopher\" is not known")
        world.handle(.openFailed(world.lastAttempt, error))
        #expect(host(world) == "b:1884" && world.isOpen)
        #expect(fail(&world) == ("far:1885", 0))
        world.handle(.openFailed(world.lastAttempt, error))
        #expect(world.deadline == 1, "b may come back")
        #expect(world.events.allSatisfy { !"\($0)".contains("waits for connect()") })
        world.expectNoFaults()
    }

    @Test func `the client stops if all its endpoints are invalid`() {
        var world = opening()
        let error = CourierError(.invalidConfiguration, "the scheme \"gopher\" is not known")
        for _ in 0..<3 { world.handle(.openFailed(world.lastAttempt, error)) }
        #expect(world.deadline == nil)
        guard case .failed(.error(let told)) = world.supervisor.waiterAnswer else {
            Issue.record("waiters are not told")
            return
        }
        #expect(told.message.contains("gopher") && told.message.contains("connect()"))
        world.handle(.connectRequested(source: "app"))
        world.grant(Self.three)
        #expect(host(world) == "a:1883", "connect() begins with a new round")
        world.expectNoFaults()
    }

    @Test func `after a session takeover, the client tries the same endpoint again`() {
        var world = opening()
        world.accept()
        world.wait(30)
        world.disconnectedByServer(.sessionTakenOver)
        #expect(world.deadline == world.time + 60)
        world.fireTimer()
        #expect(host(world) == "a:1883")
        world.expectNoFaults()
    }

    @Test func `a session takeover is detected even if attempts at dead endpoints fail between the connection drops`() {
        var world = opening()
        #expect(fail(&world) == ("b:1884", 0))
        for _ in 0..<10 where world.releases.compactMap(\.self).isEmpty {
            if host(world) == "a:1883" {
                world.handle(.closed(.transportClosed, Self.refused))
            } else {
                world.accept(.v311)
                world.drop()
            }
            if !world.isOpen, world.releases.compactMap(\.self).isEmpty { world.fireTimer() }
        }
        guard case .error(let error)? = world.releases.compactMap(\.self).first else {
            Issue.record("not noticed")
            return
        }
        #expect(error.code == .sessionTakenOver)
        world.expectNoFaults()
    }

    // MARK: Server references

    @Test func `a redirect to a server outside the list is tried before the next endpoint`() {
        var world = opening()
        world.refuse(.useAnotherServer, [.serverReference("elsewhere:99")])
        #expect(host(world) == "elsewhere:99")
        #expect(world.info?.clientId == "c")
        #expect(fail(&world) == ("b:1884", 0), "the list goes on when it leads to nothing")
        world.expectNoFaults()
    }

    @Test func `a redirect to an endpoint of the list selects that endpoint`() {
        var world = opening()
        world.refuse(.useAnotherServer, [.serverReference("far:1885")])
        #expect(host(world) == "far:1885")
        #expect(fail(&world) == ("b:1884", 0))
        #expect(fail(&world) == ("a:1883", 1))
        world.expectNoFaults()
    }

    @Test func `after a serverMoved redirect, later rounds use the endpoint's new address`() {
        var world = opening()
        world.refuse(.serverMoved, [.serverReference("new-a")])
        #expect(host(world) == "new-a:1883")
        world.accept()
        world.wait(60)
        world.drop()
        #expect(host(world) == "b:1884")
        #expect(fail(&world) == ("new-a:1883", 0))
        world.accept()
        world.expectNoFaults()
    }

    @Test func `if endpoints redirect the client to each other in a loop, the client pauses after a few attempts`() {
        var world = opening()
        var hosts: [String?] = []
        for target in ["b:1884", "a:1883", "b:1884", "a:1883", "b:1884"] {
            world.refuse(.useAnotherServer, [.serverReference(target)])
            hosts.append(world.isOpen ? host(world) : nil)
            if !world.isOpen { break }
        }
        #expect(hosts.prefix(3) == ["b:1884", "a:1883", "b:1884"])
        #expect(world.attemptTimes.count <= 7)
        while world.isOpen { world.refuse(.useAnotherServer, [.serverReference("a:1883")]) }
        #expect(world.deadline.map { $0 > world.time } == true, "a pause ends the loop")
        world.expectNoFaults()
    }

    @Test func `a redirect without a server reference leads to the next endpoint of the list`() {
        var world = opening()
        world.accept()
        world.wait(30)
        world.disconnectedByServer(.useAnotherServer)
        #expect(host(world) == "b:1884" && world.isOpen)
        world.refuse(.serverMoved)
        #expect(host(world) == "a:1883" && world.isOpen && world.fetch == nil)
        world.expectNoFaults()
    }

    // MARK: New options

    @Test func `the connection stays open if renewed options change only the alternative endpoints`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "test"))
        world.grant(Self.three, expiresIn: 120)
        world.accept()
        world.fireTimer()
        #expect(world.fetch != nil)
        var other = Self.three
        other.alternatives = [BrokerEndpoint(host: "new", port: 1)]
        world.grant(other, expiresIn: 120)
        #expect(world.supervisor.state == .connected && world.isOpen)
        world.wait(30)
        world.drop()
        #expect(host(world) == "new:1", "and are used after it")
        world.expectNoFaults()
    }

    @Test func `the client reconnects if renewed options no longer contain the connected endpoint`() {
        var world = SupervisorHarness()
        world.handle(.connectRequested(source: "test"))
        world.grant(Self.three, expiresIn: 120)
        world.accept()
        world.fireTimer()
        world.grant(SupervisorHarness.options, expiresIn: 120)
        #expect(world.supervisor.state == .disconnected)
        world.closeEnds()
        #expect(host(world) == "broker:1883")
        world.expectNoFaults()
    }

    // MARK: The way back

    private static let two = ConnectOptions(
        host: "a", port: 1, clientId: "c", username: "", password: "",
        alternatives: [BrokerEndpoint(host: "far", port: 2, priority: 1)])

    @Test func `without returnInterval, the client stays connected to a less preferred endpoint`() {
        var world = opening(Self.two)
        _ = fail(&world)
        world.accept()
        #expect(host(world) == "far:2" && world.deadline == nil)
        world.expectNoFaults()
    }

    @Test
    func `after returnInterval, the client returns to the preferred endpoint as soon as 1 s passes without traffic`() {
        var world = opening(Self.two) { $0.returnInterval = .seconds(100) }
        _ = fail(&world)
        world.accept()
        #expect(world.deadline == 100)
        world.wait(99.5)
        world.bytesReceived()
        world.wait(0.5)
        #expect(world.handle(.timerFired) == [])
        #expect(world.deadline == 100.5, "a second after the last byte")
        #expect(world.fireTimer() == [.stateChanged(.disconnected), .closeInOrder])
        #expect(world.closeEnds().first == .emit(.disconnected))
        #expect(host(world) == "a:1" && world.isOpen)
        world.accept()
        #expect(world.deadline == nil)
        world.expectNoFaults()
    }

    @Test func `a connection with constant traffic is replaced by the preferred endpoint 60 s after returnInterval`() {
        var world = opening(Self.two) { $0.returnInterval = .seconds(100) }
        _ = fail(&world)
        world.accept()
        for _ in 0..<1_000 where world.supervisor.state == .connected {
            world.wait(0.5)
            world.bytesReceived()
            world.handle(.timerFired)
        }
        #expect(world.time == 160)
        world.expectNoFaults()
    }

    @Test func `a failed return to the preferred endpoint doubles returnInterval, and the next attempt starts at once`()
    {
        var world = opening(Self.two) { $0.returnInterval = .seconds(1_000) }
        _ = fail(&world)
        var intervals: [Double] = []
        for _ in 0..<4 {
            world.accept()
            let acceptedAt = world.time
            world.fireTimer()
            intervals.append(world.time - acceptedAt)
            world.closeEnds()
            #expect(host(world) == "a:1")
            #expect(fail(&world) == ("far:2", 0))
        }
        #expect(intervals == [1_000, 2_000, 3_600, 3_600])
        world.expectNoFaults()
    }

    @Test func `the client stays connected if renewed options make the connected endpoint the preferred endpoint`() {
        var world = SupervisorHarness { $0.returnInterval = .seconds(100) }
        world.handle(.connectRequested(source: "test"))
        world.grant(Self.two, expiresIn: 120)
        _ = fail(&world)
        world.accept()
        while world.fetch == nil { world.fireTimer() }
        let only = ConnectOptions(host: "far", port: 2, clientId: "c", username: "", password: "")
        world.grant(only)
        world.fireTimer()
        #expect(world.supervisor.state == .connected && host(world) == "far:2")
        #expect(world.deadline == nil, "nothing is planned any more")
        world.expectNoFaults()
    }

    // MARK: Service records

    private func locating(_ options: ConnectOptions = SupervisorHarness.options) -> SupervisorHarness {
        opening(options) { $0.usesServiceRecords = true }
    }

    @Test func `service records are looked up once, and again after all found endpoints have failed`() {
        var world = locating()
        #expect(world.search != nil && !world.isOpen && world.supervisor.state == .connecting)
        let found = [BrokerEndpoint(host: "n1", port: 1), BrokerEndpoint(host: "n2", port: 2, priority: 1)]
        world.handle(.endpointsFound(world.lastAttempt, .found(found)))
        #expect(host(world) == "n1:1")
        #expect(fail(&world) == ("n2:2", 0))
        world.handle(.closed(.transportClosed, Self.refused))
        #expect(world.deadline == 1)
        world.fireTimer()
        #expect(world.search != nil)
        world.handle(.endpointsFound(world.lastAttempt, .found([BrokerEndpoint(host: "n3", port: 3)])))
        #expect(host(world) == "n3:3")
        world.expectNoFaults()
    }

    @Test func `if the domain has no service records, the client connects to the host itself`() {
        var world = locating()
        world.handle(.endpointsFound(world.lastAttempt, .found([])))
        #expect(host(world) == "broker:1883")
        world.expectNoFaults()
    }

    @Test func `if a service record lookup fails, the endpoints of the last lookup are used`() {
        var world = locating()
        world.handle(.endpointsFound(world.lastAttempt, .found([BrokerEndpoint(host: "n1", port: 1)])))
        #expect(fail(&world).pause == 1)
        #expect(world.search != nil)
        world.handle(.endpointsFound(world.lastAttempt, .failed("no answer")))
        #expect(host(world) == "n1:1")
        world.expectNoFaults()
    }

    @Test func `a failed service record lookup is repeated once per round, not for each endpoint`() {
        var world = locating(Self.three)
        world.handle(.endpointsFound(world.lastAttempt, .failed("no answer")))
        #expect(host(world) == "a:1883")
        for next in ["b:1884", "far:1885"] {
            #expect(fail(&world) == (next, 0))
            #expect(world.search == nil)
        }
        #expect(fail(&world).pause == 1)
        #expect(world.search != nil)
        world.expectNoFaults()
    }

    @Test func `a service record lookup times out after 10 s, and its late answer is ignored`() {
        var world = locating()
        let attempt = world.lastAttempt
        #expect(world.deadline == 10)
        world.fireTimer()
        #expect(host(world) == "broker:1883")
        #expect(world.handle(.endpointsFound(attempt, .found([BrokerEndpoint(host: "n1", port: 1)]))) == [])
        world.accept()
        world.expectNoFaults()
    }

    @Test func `if service records say that the domain has no broker, the attempt fails and names the domain`() {
        var world = locating()
        let actions = world.handle(.endpointsFound(world.lastAttempt, .unavailable))
        guard
            case .emit(.failed(_, .error(let error))) = actions.first(where: {
                if case .emit(.failed) = $0 { true } else { false }
            })
        else {
            Issue.record("no failure: \(actions)")
            return
        }
        #expect(error.message.contains("\"broker\""))
        #expect(world.deadline == 1)
        world.fireTimer()
        #expect(world.search != nil)
        world.expectNoFaults()
    }

    @Test(arguments: [EndpointSearch.failed("no answer"), .unavailable])
    func `logs and events of a service record lookup hide the part of the host before @`(_ answer: EndpointSearch) {
        var world = locating(
            ConnectOptions(host: "ada:hunter2@b", port: 1883, clientId: "c", username: "", password: ""))
        world.handle(.endpointsFound(world.lastAttempt, answer))
        let told = world.logLines + world.events.map { "\($0)" }
        #expect(told.contains { $0.contains("<hidden>@b") })
        #expect(!told.contains { $0.contains("hunter2") })
        world.expectNoFaults()
    }

    @Test func `a domain that no longer has a broker causes one failed attempt per round`() {
        var world = locating()
        let found = [BrokerEndpoint(host: "n1", port: 1), BrokerEndpoint(host: "n2", port: 2)]
        world.handle(.endpointsFound(world.lastAttempt, .found(found)))
        _ = fail(&world)
        #expect(fail(&world).pause == 1)
        world.handle(.endpointsFound(world.lastAttempt, .unavailable))
        #expect(world.deadline == world.time + 2 && world.search == nil)
        world.expectNoFaults()
    }

    @Test func `disconnect() cancels a running service record lookup`() {
        var world = locating()
        world.handle(.disconnectRequested)
        #expect(world.deadline == nil)
        #expect(world.handle(.endpointsFound(world.lastAttempt, .found([]))) == [])
        world.handle(.connectRequested(source: "test"))
        world.grant()
        #expect(world.deadline == 10, "the next attempt asks again")
        world.expectNoFaults()
    }

    @Test func `if the broker refuses the credentials, the service record lookup is not repeated`() {
        var world = locating()
        world.handle(.endpointsFound(world.lastAttempt, .found([BrokerEndpoint(host: "n1", port: 1)])))
        world.refuse(.badUserNameOrPassword)
        world.grant()
        #expect(host(world) == "n1:1" && world.isOpen)
        world.expectNoFaults()
    }
}
