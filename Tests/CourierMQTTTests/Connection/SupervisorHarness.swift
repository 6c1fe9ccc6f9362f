import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

/// Simulates the environment of a ``ConnectionSupervisor``: a clock, a provider and a byte stream. Records violations of
/// the supervisor's rules.
struct SupervisorHarness {
    typealias Action = ConnectionSupervisor.Action
    typealias Input = ConnectionSupervisor.Input

    private(set) var supervisor: ConnectionSupervisor
    private let start: ContinuousClock.Instant
    private(set) var now: ContinuousClock.Instant
    private(set) var grammar = EventGrammar()
    /// The recorded violations.
    private(set) var faults: [String] = []

    /// The request to the provider that is not answered yet.
    private(set) var fetch: AttemptID?
    /// The server of a redirect, if the request is about the credentials for this server.
    private(set) var fetchedServer: BrokerEndpoint?
    /// The lookup of service records that is not answered yet.
    private(set) var search: AttemptID?
    /// True if there is a byte stream.
    private(set) var isOpen = false
    /// True if the byte stream was aborted and its end was not reported yet.
    private var isAborted = false
    private(set) var info: ConnectOptions?
    private var state = ConnectionState.disconnected
    /// The number of the last attempt, for answers that come too late.
    private(set) var lastAttempt = AttemptID(number: 0)
    /// The times when attempts began, in seconds since the start.
    private(set) var attemptTimes: [Double] = []
    private(set) var events: [ConnectionEvent] = []
    private(set) var releases: [ConnectionFailure?] = []
    private(set) var logLines: [String] = []
    /// The number of times that an address was reported as failed.
    private(set) var avoidedCount = 0

    init(seed: UInt64 = 1, _ change: (inout SupervisorConfiguration) -> Void = { _ in }) {
        var configuration = SupervisorConfiguration()
        configuration.jitter = .none
        configuration.slowAttemptTime = nil  // Only the tests of this option set it.
        configuration.redirects.allowedHosts = Self.referredHosts
        change(&configuration)
        start = ContinuousClock.now
        now = start
        supervisor = ConnectionSupervisor(configuration, seed: seed, now: start)
    }

    /// Seconds since the start.
    var time: Double { start.duration(to: now) / .seconds(1) }
    /// The deadline, in seconds since the start.
    var deadline: Double? { supervisor.deadline.map { start.duration(to: $0) / .seconds(1) } }

    /// Moves the time forward.
    mutating func wait(_ seconds: Double) { now = now.advanced(by: .seconds(seconds)) }

    /// Moves the time to the deadline and fires the timer. Does nothing if there is no deadline.
    @discardableResult
    mutating func fireTimer() -> [Action] {
        guard let deadline = supervisor.deadline else { return [] }
        now = max(now, deadline)
        let actions = handle(.timerFired)
        if supervisor.deadline == deadline, actions.isEmpty { faults.append("the timer at its deadline did nothing") }
        return actions
    }

    /// Passes an input to the supervisor, and checks the actions. Returns the actions, except log records and reports
    /// about addresses.
    @discardableResult
    mutating func handle(_ input: Input) -> [Action] {
        let answerBefore = supervisor.waiterAnswer
        if case .closed = input { isOpen = false }
        switch input {
        case .credentialsArrived(let attempt, _, _), .credentialsFailed(let attempt, _):
            if attempt == fetch { fetch = nil }
        case .openFailed: isOpen = false
        case .endpointsFound(let attempt, _): if attempt == search { search = nil }
        default: break
        }
        let actions = supervisor.handle(input, now: now)
        for action in actions { perform(action) }
        if answerBefore == .wait, supervisor.waiterAnswer != .wait, !actions.contains(where: \.isRelease) {
            faults.append("a wait ended without a word")
        }
        check()
        return actions.filter { action in
            switch action {
            case .log, .avoidAddress: false
            default: true
            }
        }
    }

    mutating func bytesReceived() { supervisor.bytesReceived(now: now) }
    @discardableResult mutating func bytesSent() -> Bool { supervisor.bytesSent(now: now) }
    mutating func setReadingPaused(_ isPaused: Bool) { _ = supervisor.setReadingPaused(isPaused, now: now) }

    private mutating func perform(_ action: Action) {
        switch action {
        case .fetchCredentials(let attempt): ask(attempt, nil)
        case .fetchRedirectCredentials(let server, let attempt): ask(attempt, server)
        case .abandonCredentials(let attempt):
            if fetch != attempt { faults.append("a question is abandoned that was not asked") }
            fetch = nil
        case .clearCredentials: break
        case .findEndpoints(_, let attempt):
            if isOpen { faults.append("endpoints are looked for while there is a connection") }
            search = attempt
            lastAttempt = attempt
        case .setConnectionInfo(let options):
            if info == options { faults.append("the same options again") }
            info = options
        case .open(let options, let attempt):
            if isOpen { faults.append("two connections at a time") }
            if fetch != nil { faults.append("a connection while the provider is asked") }
            if options != info { faults.append("events carry other options than the attempt") }
            isOpen = true
            isAborted = false
            lastAttempt = attempt
            attemptTimes.append(time)
        case .closeInOrder, .abort, .probe, .reauthenticate:
            if !isOpen || isAborted { faults.append("\(action) without a connection") }
            if action == .abort { isAborted = true }
        case .emit(let event):
            events.append(event)
            grammar.record(event.type)
        case .stateChanged(let newState):
            if newState == state { faults.append("the state \(newState) again") }
            state = newState
        case .releaseWaiters(let failure):
            releases.append(failure)
            if failure == nil, state != .connected { faults.append("waiters are released before the state says so") }
        case .avoidAddress: avoidedCount += 1
        case .log(_, let text): logLines.append(text)
        case .clearStoredState: break
        }
    }

    private mutating func ask(_ attempt: AttemptID, _ server: BrokerEndpoint?) {
        if fetch != nil { faults.append("the provider is asked twice at a time") }
        fetch = attempt
        fetchedServer = server
        lastAttempt = attempt
    }

    private mutating func check() {
        if state != supervisor.state { faults.append("the state was not reported") }
        let configuration = supervisor.configuration
        let isTimed: Bool
        switch supervisor.phase {
        case .waiting:
            if supervisor.appPhase == .background { faults.append("an attempt is planned in the background") }
            isTimed = true
        case .closing:
            if !isOpen { faults.append("closing what is not open") }
            isTimed = !isAborted
        case .authenticating:
            if fetch == nil { faults.append("nobody was asked") }
            isTimed = configuration.authenticationTimeout != nil
        case .locating:
            if search == nil { faults.append("nobody looks for endpoints") }
            isTimed = true
        case .opening:
            if !isOpen || isAborted { faults.append("there is no connection") }
            isTimed = configuration.connectTimeout.isEnabled || supervisor.restartAt != nil
        case .connected:
            if !isOpen || isAborted { faults.append("there is no connection") }
            let isWatched = configuration.idleActivityTimeout.isEnabled && !supervisor.liveness.isReadingPaused
            isTimed = isWatched || supervisor.deadline != nil
        case .resting, .paused:
            if isOpen || fetch != nil { faults.append("something goes on at rest") }
            isTimed = false
        }
        if isTimed != (supervisor.deadline != nil) { faults.append("the deadline is wrong: \(supervisor.phase)") }
    }

    // MARK: Shortcuts

    /// The hosts of the redirects in tests of followed redirects.
    static let referredHosts = Dictionary(
        uniqueKeysWithValues: [
            "other", "third", "b1", "b2", "b3", "b4", "2001:db8::7", "elsewhere", "new-a", "moved",
        ].map { ($0, RedirectPolicy.Credentials.reused) })

    static let options = ConnectOptions(
        host: "broker", port: 1883, clientId: "c", username: "ada", password: "s3cret")

    @discardableResult
    mutating func grant(
        _ options: ConnectOptions = Self.options, expiresIn seconds: Double? = nil
    ) -> [Action] {
        let date = Date(timeIntervalSince1970: 1_000_000)
        let grant = ConnectGrant(options, expiresAt: seconds.map { date.addingTimeInterval($0) })
        return handle(.credentialsArrived(fetch ?? lastAttempt, grant, date: date))
    }

    @discardableResult
    mutating func deny(_ error: any Error) -> [Action] { handle(.credentialsFailed(fetch ?? lastAttempt, error)) }

    @discardableResult
    mutating func accept(_ version: ProtocolVersion = .v5) -> [Action] {
        handle(.connectSent)
        bytesSent()
        bytesReceived()
        return handle(.accepted(ConnAck(), version))
    }

    /// Connects a client that is at rest.
    mutating func connect(_ version: ProtocolVersion = .v5, expiresIn seconds: Double? = nil) {
        handle(.connectRequested(source: "test"))
        grant(expiresIn: seconds)
        accept(version)
    }

    @discardableResult
    mutating func drop() -> [Action] { handle(.closed(.transportClosed, .closedByPeer)) }

    @discardableResult
    mutating func refuse(_ code: PacketReasonCode, _ properties: PacketProperties = []) -> [Action] {
        handle(.closed(.refused(ConnAck(reasonCode: code, properties: properties)), .closedByOwner))
    }

    @discardableResult
    mutating func disconnectedByServer(
        _ code: PacketReasonCode, _ properties: PacketProperties = []
    ) -> [Action] {
        handle(.closed(.disconnectedByServer(Disconnect(reasonCode: code, properties: properties)), .closedByOwner))
    }

    /// Reports the end of an orderly close.
    @discardableResult
    mutating func closeEnds() -> [Action] { handle(.closed(.requested, .closedByOwner)) }

    /// Expects that no violation was recorded.
    func expectNoFaults(_ note: String = "", sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(faults == [], "\(note)", sourceLocation: sourceLocation)
        #expect(grammar.violations == [], "\(note)", sourceLocation: sourceLocation)
    }
}

extension ConnectionSupervisor.Action {
    fileprivate var isRelease: Bool { if case .releaseWaiters = self { true } else { false } }
}
