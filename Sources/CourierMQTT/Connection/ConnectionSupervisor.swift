import CourierCore
import CourierTransport
import Foundation
import MQTTCodec

/// Decides when the client connects, with which credentials, to which endpoint, and what follows the end of a connection.
///
/// A state machine without sockets, clocks and callbacks. It takes an input and the time, and returns actions. ``deadline`` is
/// the time of the next ``Input/timerFired``.
///
/// ```swift
/// perform(supervisor.handle(.connectRequested(source: "app"), now: loop.now))
/// setTimer(supervisor.deadline)
/// ```
///
/// After `connect()`, each end of a connection leads to the next attempt, until `disconnect()`, `destroy()`, or a refusal that
/// the app must correct. There is at most one attempt or connection.
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

    enum Phase: Sendable {
        /// No connection is wanted.
        case resting(Rest)
        /// The app is in the background, or came back from it and has nothing to connect for.
        case paused(ResumeCondition)
        /// The next attempt begins at a known time.
        case waiting(Waiting)
        /// The provider was asked.
        case authenticating(Authentication)
        /// The service records of the host are looked up.
        case locating(Locating)
        /// A connection is being opened, up to CONNACK.
        case opening(Opening)
        /// The broker accepted the connection.
        case connected(Connection)
        /// We end an attempt or a connection, and it has not ended yet. Elsewhere, because it is large and rare.
        indirect case closing(Closing)
    }

    /// Why no connection is wanted.
    enum Rest: Sendable {
        case unused
        case disconnected
        case destroyed
        case stopped(ConnectionFailure)

        /// The error for callers that waited for a connection when the wish for one ended.
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

        /// The error for callers that begin to wait now.
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

    /// The event that ends a pause, besides `connect()`.
    enum ResumeCondition: Sendable {
        /// The foreground, if there is a topic to subscribe to.
        case forTopics
        /// The foreground: the app asked for it in the background, or just before.
        case always
    }

    /// The reason for an attempt.
    enum Occasion: Sendable {
        /// Something failed or was lost.
        case failure
        /// Another client took the session. A returning network does not end the pause.
        case takeover
        /// The app called `connect()`.
        case request
        /// The app is in the foreground again, has other credentials, or a preferred endpoint is tried.
        case change

        var isRequest: Bool { if case .request = self { true } else { false } }
    }

    struct Waiting: Sendable {
        var due: Instant
        /// When it would begin if there were a network.
        let planned: Instant
        let occasion: Occasion
        /// Whether it was something other than the schedule that asked for it.
        var isUrgent = false
        /// The error for callers of `connected()` during this pause; `nil` if they wait. In a box, because it is rarely set.
        @BoxedOptional var failure: ConnectionFailure?
    }

    struct Authentication: Sendable {
        let attempt: AttemptID
        let startedAt: Instant
        let giveUpAt: Instant?
        /// When to warn that the provider is slow; `nil` after the warning.
        var warnAt: Instant?
        /// Whether the credentials are for a server that the broker has referred to.
        var isForRedirect = false
    }

    struct Locating: Sendable {
        let attempt: AttemptID
        /// Whether the event `reconnect` comes before the attempt.
        let isAgain: Bool
        let giveUpAt: Instant
    }

    struct Opening: Sendable {
        let attempt: AttemptID
        let options: ConnectOptions
        /// The redirect that led to the server of these options, if a broker named it.
        @BoxedOptional var detour: Redirect?
        let startedAt: Instant
        let giveUpAt: Instant?
        /// When to warn that the broker is slow; `nil` after the warning.
        var warnAt: Instant?
        var isConnectSent = false
    }

    struct Connection: Sendable {
        var options: ConnectOptions
        /// The redirect that led to the server. It is used to recognize equal options.
        @BoxedOptional var detour: Redirect?
        let openedAt: Instant
        let acceptedAt: Instant
        let version: ProtocolVersion
        var renewal: Renewal
        /// When to go back to a preferred endpoint.
        @BoxedOptional var failback: EndpointFailback?
    }

    /// The end of a connection to a less preferred endpoint.
    struct EndpointFailback: Sendable {
        /// When to look for a quiet moment.
        var due: Instant
        /// When not to wait for one any longer.
        let latest: Instant
    }

    /// The fetching of new credentials while the old ones still carry the connection.
    enum Renewal: Sendable {
        case none
        case due(Instant)
        /// Elsewhere, because it is large and rare.
        indirect case fetching(Authentication)
    }

    struct Closing: Sendable {
        /// The thing that ends, for its event.
        enum Ended: Sendable {
            case attempt(startedAt: Instant, ConnectionFailure)
            case connection(Connection, lost: ConnectionFailure?)
        }
        /// The next step.
        enum Next: Sendable {
            case rest(Rest)
            case pause(ResumeCondition)
            case begin(Occasion)
            case respond(ConnectionEnding)
        }

        let ended: Ended
        var next: Next
        /// When patience with an orderly close ends; `nil` once the connection was dropped.
        var abortAt: Instant?
        /// Whether the app was to have its rest, and called `connect()` before that had come.
        var beginsAnew = false
    }

    /// Options, and when they end.
    struct Grant: Hashable, Sendable {
        let options: ConnectOptions
        let receivedAt: Instant
        let expiresAt: Instant?
    }

    /// Failures since the last stable connection.
    struct Streak: Sendable {
        /// How often credentials were refused.
        var refusals = 0
        /// How many server references were followed, since the last pause.
        var redirects = 0
    }

    private static let configurations = Shared<SupervisorConfiguration>.Memory()
    private let shared: Shared<SupervisorConfiguration>
    var configuration: SupervisorConfiguration { shared.value }

    var phase = Phase.resting(.unused)
    /// Whether `connect()` was called and `destroy()` was not called since.
    var hasSession = false
    /// The state that was reported last.
    private(set) var state = ConnectionState.disconnected

    // The app and the network.
    var network = NetworkStatus.available
    var reportedNetwork = NetworkStatus.available
    var appPhase = AppPhase.foreground
    var areTopicsWanted = false

    // The broker and the credentials.
    var grant: Grant?
    @BoxedOptional var redirect: Redirect?
    /// The endpoints, and whose turn it is.
    var round: EndpointRound?
    /// The endpoints as the provider gave them; service records may have led to others.
    var givenList: EndpointList?
    /// Whether service records are looked up before the next attempt.
    var isSearchDue = true
    /// Whether the last look-up of service records failed.
    var areRecordsUnknown = false
    /// Whether another client has had the session since a connection was last accepted.
    var wasTakenOver = false
    /// Whether the broker has accepted a connection since `connect()`.
    var hasConnected = false
    var finalFailures = FinalFailures()
    var info: ConnectOptions?
    var liveness: Liveness

    // Earlier attempts.
    var attemptCount = 0
    /// The number of attempts that began since a connection was last accepted.
    var attemptsInRow = 0
    @BoxedOptional private var usedSchedule: ReconnectSchedule?
    @BoxedOptional private var usedAuthSchedule: AuthRetrySchedule?
    @BoxedOptional private var usedTakeoverSchedule: ReconnectSchedule?
    @BoxedOptional private var usedReturnSchedule: ReconnectSchedule?
    var streak = Streak()
    /// Connections in a row that were dropped soon after CONNACK.
    var drops = DropStreak()
    /// Whether a message explains the end of the connection whose ``Input/closed(_:_:error:)`` comes next.
    var isLossExplained = false
    var lastUrgentAt: Instant?
    /// When the attempt that is under way, or has just failed, is made anew at the latest, because the way that it began
    /// on may be gone.
    @BoxedOptional var restartAt: Instant?
    var random: JitterSource

    /// Makes a supervisor that wants nothing. `seed` decides the chance in its pauses: a random one in an app, a fixed
    /// one in a test.
    init(_ configuration: SupervisorConfiguration, seed: UInt64, now: Instant) {
        shared = Self.configurations.share(configuration)
        random = JitterSource(seed: seed)
        liveness = Liveness(
            configuration.idleActivityTimeout, probeTimeout: configuration.probeTimeout, now: now)
    }

    // MARK: Schedules

    // A schedule in its initial state follows from the configuration, and is not stored.

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

    /// Takes note of what happened, and says what to do.
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
            closed(now, &actions) { [configuration = configuration] in
                ConnectionEnding(
                    reason, transport, error, endpoint: $0.endpointName, isEstablished: $1,
                    areOptionsFixed: configuration.areOptionsFixed, isPlain: configuration.isPlain($0))
            }
        case .networkChanged(let status): networkChanged(status, now, &actions)
        case .phaseChanged(let appPhase): phaseChanged(appPhase, now, &actions)
        case .topicsChanged(let areWanted): topicsChanged(areWanted, now, &actions)
        case .resumedFromSuspend: resumedFromSuspend(now, &actions)
        case .timerFired: timerFired(now, &actions)
        }
        return actions
    }

    /// Notes that bytes were received. It only moves ``deadline`` away.
    mutating func bytesReceived(now: Instant) { liveness.received(now: now) }

    /// Notes that bytes were sent, and says whether ``deadline`` may have come nearer.
    mutating func bytesSent(now: Instant) -> Bool { liveness.sent(now: now) }

    /// Notes that nothing is read for now, or that reading continues, and says whether ``deadline`` may have changed by
    /// it. A new connection begins with reading.
    mutating func setReadingPaused(_ isPaused: Bool, now: Instant) -> Bool {
        guard isPaused != liveness.isReadingPaused else { return false }
        liveness.setReadingPaused(isPaused, now: now)
        return true
    }

    // MARK: For the caller

    /// The answer for a caller that begins to wait for a connection.
    enum WaiterAnswer: Equatable, Sendable {
        /// It is there.
        case connected
        /// ``Action/releaseWaiters(_:)`` will say.
        case wait
        /// There will not be one until the app does something.
        case failed(ConnectionFailure)
    }

    /// Whether the next attempt is planned and has not begun.
    var isInPause: Bool { if case .waiting = phase { true } else { false } }

    /// The answer for a wait that starts now.
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
            "The client stays offline after the background, because it has no topic to subscribe to; call "
                + "connect(), or subscribe to a topic."))

    // MARK: Helpers

    /// Continues to `next`, and reports the state where that changes it.
    mutating func enter(_ next: Phase, _ actions: inout [Action]) {
        phase = next
        // It outlives its attempt until it is decided what follows.
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
