import CourierCore
import CourierTransport
import Foundation
import MQTTCodec

/// Decides when the client connects, with which credentials, to which endpoint, and what follows the end of a
/// connection.
///
/// The supervisor is a state machine without sockets, clocks and callbacks. It takes an input and the time, and returns
/// actions. ``deadline`` is the time of the next ``Input/timerFired``.
///
/// ```swift
/// perform(supervisor.handle(.connectRequested(source: "app"), now: loop.now))
/// setTimer(supervisor.deadline)
/// ```
///
/// After `connect()`, each end of a connection leads to the next attempt, until `disconnect()`, `destroy()`, or a
/// refusal that the app must correct. There is at most one attempt or connection.
///
/// ```
///                   ┌──────────────────────────── waiting ◀────────────┐
///                   ▼                                ▲                 │
/// resting ──▶ authenticating ──▶ locating ──▶ opening ──┴─▶ connected ─┤
///    ▲                                           │              │      │
///    │        paused ◀───────────────────────────┴── closing ◀──┘──────┘
///    └── disconnect(), destroy() and refusals, from everywhere
/// ```
struct ConnectionSupervisor: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The phase of the supervisor.
    enum Phase: Sendable {
        /// No connection is wanted.
        case resting(Rest)
        /// The app is in the background. Or the app is in the foreground again, and there is no topic to subscribe to.
        case paused(ResumeCondition)
        /// The next attempt begins at a known time.
        case waiting(Waiting)
        /// The client has asked the provider for options, and the provider has not responded yet.
        case authenticating(Authentication)
        /// The DNS service records of the host are being looked up.
        case locating(Locating)
        /// A connection is being opened, up to CONNACK.
        case opening(Opening)
        /// The broker accepted the connection.
        case connected(Connection)
        /// The client is ending an attempt or connection. The value is stored in a box, because it is large and rarely
        /// exists.
        indirect case closing(Closing)
    }

    /// The reason why the client does not try to connect.
    enum Rest: Sendable {
        case unused
        case disconnected
        case destroyed
        case stopped(ConnectionFailure)

        /// The error for callers that already wait for a connection when the client stops connecting.
        var endOfWait: ConnectionFailure {
            switch self {
            case .unused: failure
            case .disconnected:
                .error(CourierError(.sessionMissing, "disconnect() ended the wait for a connection; call connect()."))
            case .destroyed:
                .error(CourierError(.clientDestroyed, "destroy() ended the wait for a connection; call connect()."))
            case .stopped(let failure): failure
            }
        }

        /// The error for callers that begin to wait for a connection after the client stopped connecting.
        var failure: ConnectionFailure {
            switch self {
            case .unused: .error(CourierError(.sessionMissing, "There is no connection to wait for; call connect()."))
            case .disconnected: Self.missing(after: "disconnect()")
            case .destroyed: Self.missing(after: "destroy()")
            case .stopped(let failure): failure
            }
        }

        private static func missing(after call: String) -> ConnectionFailure {
            .error(
                CourierError(
                    .sessionMissing,
                    "There is no connection to wait for, because \(call) was called; call connect()."))
        }
    }

    /// The condition that ends the phase `paused`. A call of `connect()` can also end it.
    enum ResumeCondition: Sendable {
        /// The app is in the foreground, and there is a topic to subscribe to.
        case forTopics
        /// The app is in the foreground, even if there is no topic to subscribe to. This condition is used if the app
        /// called `connect()` in the background, or directly before the app entered the background.
        case always
    }

    /// The reason for an attempt.
    enum Occasion: Sendable {
        /// An attempt failed, or a connection was lost.
        case failure
        /// Another client took over the session. The return of the network does not shorten the pause before the next
        /// attempt.
        case takeover
        /// The app called `connect()`.
        case request
        /// One of these changes: the app is in the foreground again, the provider returned other options, or the client
        /// returns to a preferred endpoint.
        case change

        var isRequest: Bool { if case .request = self { true } else { false } }
    }

    /// A pause before the next attempt.
    struct Waiting: Sendable {
        var due: Instant
        /// The time when the attempt would begin if there were a network.
        let planned: Instant
        let occasion: Occasion
        /// True if an event outside the schedule caused the attempt, such as the return of the network.
        var isUrgent = false
        /// The error for callers of `connected()` during this pause; `nil` if callers wait for the next attempt. The
        /// value is stored in a box, because it is rarely set.
        @BoxedOptional var failure: ConnectionFailure?
    }

    /// A request to the provider for options.
    struct Authentication: Sendable {
        let attempt: AttemptID
        let startedAt: Instant
        let giveUpAt: Instant?
        /// The time of the warning that the provider is slow; `nil` after the warning.
        var warnAt: Instant?
        /// True if the credentials are for a server that the broker named in a redirect.
        var isForRedirect = false
    }

    /// A look-up of DNS service records for an attempt.
    struct Locating: Sendable {
        let attempt: AttemptID
        /// True if the event `reconnect` is reported before the attempt.
        let isAgain: Bool
        let giveUpAt: Instant
    }

    /// An attempt whose connection is being opened.
    struct Opening: Sendable {
        let attempt: AttemptID
        let options: ConnectOptions
        /// The redirect that led to the server of these options; `nil` for an endpoint of the list.
        @BoxedOptional var detour: Redirect?
        let startedAt: Instant
        let giveUpAt: Instant?
        /// The time of the warning that the broker is slow; `nil` after the warning.
        var warnAt: Instant?
        var isConnectSent = false
    }

    /// A connection that the broker has accepted.
    struct Connection: Sendable {
        var options: ConnectOptions
        /// The redirect that led to the server of this connection; `nil` for an endpoint of the list. Before the client
        /// compares new options of the provider with `options`, it applies this redirect to the new options.
        @BoxedOptional var detour: Redirect?
        let openedAt: Instant
        let acceptedAt: Instant
        let version: ProtocolVersion
        var renewal: Renewal
        /// The planned return to a preferred endpoint; `nil` if no return is planned.
        @BoxedOptional var failback: EndpointFailback?
    }

    /// The planned return from a less preferred endpoint to a preferred one.
    struct EndpointFailback: Sendable {
        /// The time of the next check. If the connection has no traffic at this time, the client returns to the
        /// preferred endpoint.
        var due: Instant
        /// The time when the client returns to the preferred endpoint even if there is traffic.
        let latest: Instant
    }

    /// The renewal of credentials during a connection. Until the renewal has succeeded, the connection uses the old
    /// credentials.
    enum Renewal: Sendable {
        case none
        case due(Instant)
        /// The client has asked the provider for options, and waits for the response. The value is stored in a box,
        /// because it is large and rarely exists.
        indirect case fetching(Authentication)
    }

    /// An attempt or a connection that is ending. Its end is complete when the byte stream has closed.
    struct Closing: Sendable {
        /// The attempt or connection that is ending. The event about its end needs this value.
        enum Ended: Sendable {
            case attempt(startedAt: Instant, ConnectionFailure)
            case connection(Connection, lost: ConnectionFailure?)
        }
        /// The step that follows when the byte stream has closed.
        enum Next: Sendable {
            case rest(Rest)
            case pause(ResumeCondition)
            case begin(Occasion)
            case respond(ConnectionEnding)
        }

        let ended: Ended
        var next: Next
        /// The time when the client drops the connection if the close with DISCONNECT has not finished by then. `nil`
        /// if the client has already dropped the connection.
        var abortAt: Instant?
        /// True if the app called `connect()` while the close for `disconnect()` or `destroy()` was running. Then the
        /// client forgets earlier failures.
        var beginsAnew = false
    }

    /// The provider's options, and when they expire.
    struct Grant: Hashable, Sendable {
        let options: ConnectOptions
        let receivedAt: Instant
        let expiresAt: Instant?
    }

    /// The numbers of refusals and redirects since the last stable connection.
    struct Streak: Sendable {
        /// The number of times that the broker refused credentials.
        var refusals = 0
        /// The number of redirects followed since the last pause.
        var redirects = 0
    }

    private static let configurations = Shared<SupervisorConfiguration>.Memory()
    private let shared: Shared<SupervisorConfiguration>
    var configuration: SupervisorConfiguration { shared.value }

    var phase = Phase.resting(.unused)
    /// True if `connect()` was called, and `destroy()` was not called after it.
    var hasSession = false
    /// The state that was reported last.
    private(set) var state = ConnectionState.disconnected

    // The following variables describe the network and the app.
    var network = NetworkStatus.available
    var reportedNetwork = NetworkStatus.available
    var appPhase = AppPhase.foreground
    var areTopicsWanted = false

    // The following variables describe the credentials, the endpoints and the connection.
    var grant: Grant?
    @BoxedOptional var redirect: Redirect?
    /// The list of endpoints, and the current endpoint; `nil` before the provider's first options.
    var round: EndpointRound?
    /// The endpoints in the provider's options; `nil` before the provider's first options. `round` may have other
    /// endpoints, from DNS service records.
    var givenList: EndpointList?
    /// True if DNS service records must be looked up before the next attempt. Not used if the configuration does not
    /// use service records.
    var isSearchDue = true
    /// True if the last look-up of service records failed.
    var areRecordsUnknown = false
    /// True if another client has taken over the session since the last accepted connection.
    var wasTakenOver = false
    /// True if the broker has accepted a connection since `connect()`.
    var hasConnected = false
    var finalFailures = FinalFailures()
    var info: ConnectOptions?
    var liveness: Liveness

    // The following variables describe earlier attempts and connections.
    var attemptCount = 0
    /// The number of attempts that began since a connection was last accepted, or since `disconnect()` or `destroy()`.
    var attemptsInRow = 0
    @BoxedOptional private var usedSchedule: ReconnectSchedule?
    @BoxedOptional private var usedAuthSchedule: AuthRetrySchedule?
    @BoxedOptional private var usedTakeoverSchedule: ReconnectSchedule?
    @BoxedOptional private var usedReturnSchedule: ReconnectSchedule?
    var streak = Streak()
    /// Connections in a row that were dropped soon after CONNACK.
    var drops = DropStreak()
    /// True if the client has found that a message made the broker end the connection. The coordinator sets this value
    /// before it reports ``Input/closed(_:_:error:)``.
    var isLossExplained = false
    var lastUrgentAt: Instant?
    /// The latest time for the restart of the current attempt, whose network path may not work any more. `nil` if no
    /// restart is planned. If the attempt is dropped, this time remains set until the phase `closing` ends.
    @BoxedOptional var restartAt: Instant?
    var random: JitterSource

    /// Makes a supervisor that does not connect before `connect()`. `seed` determines the random part of the pauses. An
    /// app uses a random seed, and a test uses a fixed seed.
    init(_ configuration: SupervisorConfiguration, seed: UInt64, now: Instant) {
        shared = Self.configurations.share(configuration)
        random = JitterSource(seed: seed)
        liveness = Liveness(
            configuration.idleActivityTimeout, probeTimeout: configuration.probeTimeout, now: now)
    }

    // MARK: Schedules

    // To save memory, a schedule is stored only after its first pause. Until then, each access makes the schedule from
    // the configuration.

    var schedule: ReconnectSchedule {
        get { usedSchedule ?? .reconnecting(configuration) }
        set { usedSchedule = newValue.isFresh ? nil : newValue }
    }

    var authSchedule: AuthRetrySchedule {
        get { usedAuthSchedule ?? AuthRetrySchedule(.reconnecting(configuration)) }
        set { usedAuthSchedule = newValue.isFresh ? nil : newValue }
    }

    var takeoverSchedule: ReconnectSchedule {
        get { usedTakeoverSchedule ?? .takingOver(configuration) }
        set { usedTakeoverSchedule = newValue.isFresh ? nil : newValue }
    }

    var returnSchedule: ReconnectSchedule {
        get { usedReturnSchedule ?? .returning(configuration) }
        set { usedReturnSchedule = newValue.isFresh ? nil : newValue }
    }

    mutating func nextPause(of path: WritableKeyPath<ConnectionSupervisor, ReconnectSchedule>) -> Duration {
        var schedule = self[keyPath: path]
        defer { self[keyPath: path] = schedule }
        return schedule.next(using: &random)
    }

    mutating func nextAuthPause(after failure: CredentialFailure) -> Duration {
        var schedule = authSchedule
        defer { authSchedule = schedule }
        return schedule.next(after: failure, using: &random)
    }

    // MARK: Inputs

    /// Handles an input, and returns the actions to perform.
    mutating func handle(_ input: Input, now: Instant) -> [Action] {
        var actions: [Action] = []
        switch input {
        case .connectRequested(let source): connectRequested(source, now, &actions)
        case .disconnectRequested: endIntent(.disconnected, now, &actions)
        case .destroyRequested: endIntent(.destroyed, now, &actions)
        case .credentialsArrived(let attempt, let grant, let date):
            credentialsArrived(attempt, grant, date, now, &actions)
        case .credentialsFailed(let attempt, let error):
            credentialsFailed(attempt, CredentialFailure(error), now, &actions)
        case .endpointsFound(let attempt, let found): endpointsFound(attempt, found, now, &actions)
        case .openFailed(let attempt, let error): openFailed(attempt, error, now, &actions)
        case .connectSent: connectSent(&actions)
        case .accepted(let connAck, let version): accepted(connAck, version, now, &actions)
        case .closed(let reason, let transport, let error):
            let wereOptionsRefused = finalFailures.haveRefused(grant?.options)
            closed(now, &actions) { [configuration = configuration] in
                ConnectionEnding(
                    reason, transport, error, endpoint: $0.endpointName, isEstablished: $1,
                    areOptionsFixed: configuration.areOptionsFixed, wereOptionsRefused: wereOptionsRefused,
                    isPlain: configuration.isPlain($0))
            }
        case .networkChanged(let status): networkChanged(status, now, &actions)
        case .phaseChanged(let appPhase): phaseChanged(appPhase, now, &actions)
        case .topicsChanged(let areWanted): topicsChanged(areWanted, now, &actions)
        case .resumedFromSuspend: resumedFromSuspend(now, &actions)
        case .timerFired: timerFired(now, &actions)
        }
        return actions
    }

    /// Records that bytes were received. This call never makes ``deadline`` earlier, so the caller need not set its
    /// timer again.
    mutating func bytesReceived(now: Instant) { liveness.received(now: now) }

    /// Records that bytes were sent. Returns true if ``deadline`` may have become earlier.
    mutating func bytesSent(now: Instant) -> Bool { liveness.sent(now: now) }

    /// Records that reading was paused or resumed. Returns true if ``deadline`` may have changed. At the beginning of a
    /// connection, reading is not paused.
    mutating func setReadingPaused(_ isPaused: Bool, now: Instant) -> Bool {
        guard isPaused != liveness.isReadingPaused else { return false }
        liveness.setReadingPaused(isPaused, now: now)
        return true
    }

    // MARK: Callers that wait for a connection

    /// The result for a caller that begins to wait for a connection.
    enum WaiterAnswer: Equatable, Sendable {
        /// The client is connected.
        case connected
        /// The caller waits for ``Action/releaseWaiters(_:)``.
        case wait
        /// The wait fails at once with this reason.
        case failed(ConnectionFailure)
    }

    /// True if the next attempt is planned and has not begun.
    var isInPause: Bool { if case .waiting = phase { true } else { false } }

    /// The result for a caller that begins to wait now.
    var waiterAnswer: WaiterAnswer {
        switch phase {
        case .connected: .connected
        case .resting(let rest): .failed(rest.failure)
        case .waiting(let waiting):
            if let failure = waiting.failure { .failed(failure) } else { .wait }
        case .closing(let closing):
            if case .rest(let rest) = closing.next { .failed(rest.failure) } else { .wait }
        case .paused(.forTopics) where appPhase == .foreground: .failed(Self.nothingWanted)
        case .paused, .authenticating, .locating, .opening: .wait
        }
    }

    private static let nothingWanted = ConnectionFailure.error(
        CourierError(
            .sessionMissing,
            "The app was in the background, and the client does not reconnect, "
                + "because the client has no topic to subscribe to. "
                + "Call connect(), or subscribe to a topic."))

    // MARK: Helpers

    /// Enters the phase `next`, and reports the connection state if it has changed.
    mutating func enter(_ next: Phase, _ actions: inout [Action]) {
        phase = next
        // Keep `restartAt` during a close, because this time also limits the pause after the close.
        if case .closing = next {} else { restartAt = nil }
        let newState: ConnectionState =
            switch next {
            case .authenticating, .locating, .opening: .connecting
            case .connected: .connected
            case .resting, .paused, .waiting, .closing: .disconnected
            }
        guard newState != state else { return }
        state = newState
        actions.append(.stateChanged(newState))
    }
}

extension ReconnectSchedule {
    fileprivate static func reconnecting(_ configuration: SupervisorConfiguration) -> ReconnectSchedule {
        ReconnectSchedule(
            interval: configuration.reconnectInterval, maximum: configuration.maximumReconnectInterval,
            jitter: configuration.jitter)
    }

    fileprivate static func takingOver(_ configuration: SupervisorConfiguration) -> ReconnectSchedule {
        ReconnectSchedule(
            interval: configuration.takeoverInterval, maximum: configuration.maximumTakeoverInterval,
            jitter: configuration.jitter)
    }

    fileprivate static func returning(_ configuration: SupervisorConfiguration) -> ReconnectSchedule {
        ReconnectSchedule(
            interval: configuration.returnInterval ?? configuration.maximumReturnInterval,
            maximum: configuration.maximumReturnInterval, jitter: configuration.jitter)
    }
}
