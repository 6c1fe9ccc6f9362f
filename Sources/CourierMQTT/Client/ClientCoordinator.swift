import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Connects the parts of a client: reports to each part what happened, and performs their decisions.
///
/// The ``ConnectionSupervisor`` decides when to connect, the ``SessionDriver`` runs the protocol, the ``SubscriptionKeeper`` owns
/// the subscriptions, the ``MessageDistributor`` the readers, and ``Publishing`` the outgoing messages.
///
/// Safe to share: everything except the functions of `ClientCoordinator+Calls.swift` runs on the loop only, which each entry
/// checks.
final class ClientCoordinator: @unchecked Sendable {
    /// An attempt whose connection cannot be opened yet.
    struct Preparation {
        let plan: ConnectPlan
        let attempt: AttemptID
        /// Whether the end of the attempt is about to be reported.
        var isGivenUp = false
    }

    let loop: EventLoop
    let settings: ClientSettings
    let state: CurrentValueSubject<ConnectionState, Never>
    let status: CurrentValueSubject<ConnectionStatus, Never>
    let events: EventHub
    let distributor: MessageDistributor
    let readers: MessageReaders
    let publishing: Publishing
    let driver: SessionDriver
    let relay: WeakSessionObserver
    let credentials: CredentialSource
    /// The rows of the session; `nil` when nothing survives the process.
    let durable: DurableSession?

    let session = Mutex(false)
    /// Calls that are not performed yet, in the order in which they changed ``session``.
    let sessionCalls = Mutex(SessionCalls())
    let version5 = Atomic(false)
    /// The terms of the last connection: fields of CONNECT and CONNACK.
    let agreement = Mutex(ConnectionAgreement())
    let connectionWaiters = CallbackList<Result<Void, CourierError>>()
    let closeWaiters = CallbackList<Result<Void, CourierError>>()
    let lastWaiterKey = Atomic(SubscriptionKeeper.firstWaiterKey)

    // MARK: On the loop only

    var supervisor: ConnectionSupervisor
    let subscriptions: SubscriptionKeeper
    /// The actions that are being performed. New actions are appended.
    var actions: [ConnectionSupervisor.Action] = []
    var timer: (token: TimerToken, deadline: ContinuousClock.Instant)?
    var info: ConnectOptions?
    /// The name of the present attempt or connection in events; `nil` if there is none.
    var connectionName: String?
    /// The end of the connection, while it is being reported.
    @BoxedOptional var outcome: Result<Void, CourierError>?
    /// Why there is no connection: how the last attempt or connection failed. `nil` while there is one; `disconnect()` and
    /// `destroy()` forget it.
    @BoxedOptional var connectionFailure: CourierError?
    /// The keep-alive that its CONNECT asks for, in seconds.
    var wantedKeepAlive: UInt16 = 0
    /// The look-up of service records that there is.
    @BoxedOptional var search: LookUpTicket?
    /// Made for the first connection with TLS.
    var contexts: TLSContextCache?
    /// The attempt that waits for the rows of its session, or for its TLS context.
    @BoxedOptional var preparation: Preparation?
    /// Whether these are being read, perhaps for an attempt that was given up: one after the other.
    var isPreparing = false
    /// The server of the last attempt, whose version of MQTT is remembered.
    var lastServer: String?
    /// The cluster that it was a node of: its nodes are one server in this respect.
    @BoxedOptional var lastCluster: String?
    /// Where the last connection was that was accepted.
    var lastPlace: SessionPlace?
    /// Which addresses of hosts led nowhere; `nil` for clients that idle, unless the host has several.
    var addresses: AddressHistory?
    /// How many CONNECT were sent since the last CONNACK. A broker that has lost the session makes another one for each,
    /// and says so once: in the CONNACK that may never arrive.
    var unansweredConnects = 0
    /// The fields of the DISCONNECT that the app requested.
    @BoxedOptional private var rareDisconnectOptions: DisconnectOptions?
    var disconnectOptions: DisconnectOptions {
        get { rareDisconnectOptions ?? DisconnectOptions() }
        set { rareDisconnectOptions = newValue == DisconnectOptions() ? nil : newValue }
    }
    /// The number of opened connections. A late answer has an earlier number.
    var connectionNumber = 0
    /// The number of received challenges. Only the last one is answered.
    var challengeCount = 0
    /// Why the client gave up an authentication, until the end of the connection is reported.
    @BoxedOptional var authenticationFailure: CourierError?
    /// When PINGREQ was sent that has no answer yet.
    var pingedAt: ContinuousClock.Instant?
    /// When to ping; `nil` where the session does so at a fixed interval.
    @BoxedOptional var keepAlive: KeepAliveSearch?
    @BoxedOptional var keepAliveTimer: (token: TimerToken, deadline: ContinuousClock.Instant)?
    /// Whether the broker is to forget the session, too: the app has destroyed it.
    var startsClean = false
    /// Finds a message that makes the broker end connections.
    var suspicion: MessageSuspicion
    /// Whether ``suspicion`` must be given each message that is written or finished.
    var isSuspicious = false
    /// The limit that the session has from ``suspicion``.
    var sendLimit: Int?
    @BoxedOptional var suspicionTimer: (token: TimerToken, deadline: ContinuousClock.Instant)?
    /// Fires when the next batch of waiting messages may go out after a reconnect.
    var batchTimer: TimerToken?
    @BoxedOptional var expiryTimer: (token: TimerToken, deadline: ContinuousClock.Instant)?
    var cleanupTimer: TimerToken?
    var environment: EnvironmentWatch?
    /// Whether ``environment`` is being made, and says how things are.
    var isLookingAround = false
    /// The last status of the network monitor.
    var network = NetworkStatus.available
    /// When the log was last warned of a QoS 0 message that this broker does not accept.
    @BoxedOptional var warnedOfUnsentAt: ContinuousClock.Instant?
    /// The facts of the last reported ``status``.
    var reportedPlan = ConnectionSupervisor.Plan()
    /// Whether ``actions`` are being performed.
    var isPerforming = false
    var isReleased = false

    init(
        loop: EventLoop, settings: ClientSettings, supervisor: SupervisorConfiguration,
        state: CurrentValueSubject<ConnectionState, Never>,
        status: CurrentValueSubject<ConnectionStatus, Never>,
        events: EventHub, distributor: MessageDistributor, readers: MessageReaders, publishing: Publishing,
        driver: SessionDriver, relay: WeakSessionObserver, credentials: CredentialSource, durable: DurableSession?,
        link: WeakCoordinator
    ) {
        self.loop = loop
        self.settings = settings
        self.state = state
        self.status = status
        self.events = events
        self.distributor = distributor
        self.readers = readers
        self.publishing = publishing
        self.driver = driver
        self.relay = relay
        self.credentials = credentials
        self.durable = durable
        self.supervisor = ConnectionSupervisor(supervisor, seed: settings.jitterSeed, now: loop.clock.now)
        suspicion = MessageSuspicion(isEnabled: settings.rejectsHarmfulMessages)
        keepAlive = settings.keepAlive.map { KeepAliveSearch(KeepAliveBounds($0), memory: $0.memory) }
        subscriptions = SubscriptionKeeper(
            settings.topics, driver, on: loop, hasStore: durable != nil, options: settings.subscriptionOptions,
            texts: settings.texts
        ) {
            link.coordinator?.tell($0)
        } keep: {
            durable?.subscriptionCommits.add($0)
        }
        link.coordinator = self
    }
}

// MARK: - The supervisor

extension ClientCoordinator {
    /// Reports an event of the present connection. On the loop.
    func tell(_ event: CourierEventType) {
        distributor.tellArrivals()
        events.tell(event, info)
    }

    /// Reports the events of messages that arrived on the present connection. On the loop.
    func tellAll(_ arrivals: inout [CourierEventType]) { events.tell(&arrivals, info) }

    /// Passes an input to the supervisor, and performs its decisions.
    func tell(_ input: ConnectionSupervisor.Input) {
        loop.preconditionOnLoop()
        actions += supervisor.handle(input, now: loop.now)
        performAll()
    }

    func performAll() {
        guard !isPerforming else { return }
        isPerforming = true
        var position = 0
        while position < actions.count {
            perform(actions[position])
            position += 1
        }
        actions = []  // They are rare, and what they need is not kept by clients that idle.
        isPerforming = false
        reportStatus()
        setTimer()
        giveUpUnwantedSearch()
        finishIfReleased()
    }

    func perform(_ action: ConnectionSupervisor.Action) {
        switch action {
        case .fetchCredentials(let attempt): fetchCredentials(attempt, for: nil)
        case .fetchRedirectCredentials(let server, let attempt): fetchCredentials(attempt, for: server)
        case .abandonCredentials(let attempt): credentials.abandon(attempt)
        case .clearCredentials: credentials.clear()
        case .findEndpoints(let options, let attempt):
            addresses?.attemptBegins()
            findEndpoints(options, attempt)
        case .setConnectionInfo(let options):
            distributor.tellArrivals()
            use(options)
        case .open(let options, let attempt):
            addresses?.attemptBegins()
            open(options, attempt)
        case .avoidAddress: addresses?.presentFailed(now: loop.now)
        case .reauthenticate(let authentication): reauthenticate(authentication)
        case .closeInOrder: close { disconnectInOrder() }
        case .abort: close { driver.abort() }
        case .probe: driver.ping()
        case .emit(let event):
            if event.isFailedAttempt { keepAliveAttemptFailed() }
            // A renewal of credentials may fail beside a connection that is there.
            if let failure = event.failure, supervisor.state != .connected { connectionFailure = failure }
            tell(event.type)
        case .stateChanged(let state): self.state.send(state)
        case .releaseWaiters(let failure): releaseWaiters(failure)
        case .clearStoredState: clearStoredState()
        case .log(let level, let text): settings.log.log(level, source: "connection", clientID: info?.clientId, text)
        }
    }

    /// Sends DISCONNECT. The app's options may have been checked for an earlier connection.
    private func disconnectInOrder() {
        let endsSession = agreement.withLock { $0.endsSession }
        driver.disconnect(disconnectOptions.packet(endsSession: endsSession))
    }

    private func fetchCredentials(_ attempt: AttemptID, for server: BrokerEndpoint?) {
        credentials.fetch(attempt, for: server) { [weak self] attempt, result in
            guard let self else { return }
            loop.execute { [self] in
                switch result {
                case .success(let grant): credentialsArrived(attempt, grant)
                case .failure(let error): tell(.credentialsFailed(attempt, error))
                }
            }
        }
    }

    /// Replaces the template of a client id by the client's id. Later code sees only the id.
    func credentialsArrived(_ attempt: AttemptID, _ grant: ConnectGrant) {
        let filled = settings.filled(grant)
        warnOfScope(filled.options, template: grant.options.clientId)
        tell(.credentialsArrived(attempt, filled, date: Date()))
    }

    func use(_ options: ConnectOptions?) {
        info = options
        readers.use(options)
        guard let options else { return }
        if network == .unavailable { tell(.networkChanged(networkForBroker)) }
        publishing.use(options)
        subscriptions.use(identity: publishing.identity)
    }

    /// Calls back all callers that wait for a connection; with a failure also those that wait for a grant.
    func releaseWaiters(_ failure: ConnectionFailure?) {
        guard let failure else { return connectionWaiters.callAll(.success(())) }
        let error =
            switch failure {
            case .error(let error): error
            case .cancelled: Self.notConnecting
            }
        connectionWaiters.callAll(.failure(error))
        subscriptions.failGrants(error)
    }

    func answerConnectionWaiters() {
        switch supervisor.waiterAnswer {
        case .connected: releaseWaiters(nil)
        case .wait: break
        case .failed(let failure): releaseWaiters(failure)
        }
    }

    static let destroyed = CourierError(
        .clientDestroyed, "The client was destroyed before the message was acknowledged.")

    static let notConnecting = CourierError(
        .sessionMissing, "The client is not connecting: connect() was not called, or disconnect() was called since.")

    static let unconnected = CourierError(.sessionMissing, "There was no connection to end.")

    /// There is no connection any more, whatever begins next.
    func answerCloseWaiters() { closeWaiters.callAll(outcome ?? .failure(Self.unconnected)) }

    func setTimer() {
        let deadline = supervisor.deadline
        if let timer {
            guard deadline != timer.deadline else { return }
            loop.cancel(timer.token)
            self.timer = nil
        }
        guard let deadline else { return }
        let token = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            tell(.timerFired)
        }
        timer = (token, deadline)
    }

    func clearStoredState() {
        publishing.queue.endedSession()  // From here on, all results of the session are late.
        durable?.removeAll(Self.destroyed)
        distributor.sessionDestroyed()  // Before readers end for it: what they have is not for the next session.
        subscriptions.removeAll()
        tellTopics()
        driver.forgetSession()
        suspicion.sessionChanged()
        suspicionChanged()
        startsClean = true
        lastPlace = nil
        events.reset()
        if hasSession { durable?.openIfKnown() }
    }
}
