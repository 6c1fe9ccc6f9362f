import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Connects the parts of a client: passes events to the parts, and performs the decisions that the parts return.
///
/// The ``ConnectionSupervisor`` decides when to connect, and the ``SessionDriver`` runs the protocol. The
/// ``SubscriptionKeeper`` owns the subscriptions, the ``MessageDistributor`` owns the readers, and ``Publishing`` owns
/// the outgoing messages.
///
/// Safe to share between threads: any thread may use the mutexes, atomics and callback lists, and all other mutable
/// state is used on the loop only. Functions that any thread may call pass their work to the loop.
final class ClientCoordinator: @unchecked Sendable {
    /// An attempt that is not connecting yet, because the session's stored messages or the TLS context are still
    /// loading.
    struct Preparation {
        let plan: ConnectPlan
        let attempt: AttemptID
        /// True if the attempt was abandoned and its end is not reported yet.
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
    /// The client's session in the message store; `nil` if the client has no message store.
    let durable: DurableSession?
    /// The running processors of the client.
    let processors = ProcessorList()

    let session = Mutex(false)
    /// The `connect`, `disconnect` and `destroy` calls that the event loop has not performed yet, in the order in which
    /// they were made.
    let sessionCalls = Mutex(SessionCalls())
    let version5 = Atomic(false)
    /// Fields of the last CONNECT and CONNACK. Any thread may read these fields.
    let agreement = Mutex(ConnectionAgreement())
    let connectionWaiters = CallbackList<Result<Void, CourierError>>()
    let closeWaiters = CallbackList<Result<Void, CourierError>>()
    /// The callers that wait until the stored messages of an earlier process are counted.
    let storeWaiters = CallbackList<Result<Void, CourierError>>()
    let lastWaiterKey = Atomic(SubscriptionKeeper.firstWaiterKey)

    // MARK: State, used only on the event loop

    var supervisor: ConnectionSupervisor
    let subscriptions: SubscriptionKeeper
    /// The supervisor's actions that are being performed now. New actions are added at the end.
    var actions: [ConnectionSupervisor.Action] = []
    var timer: (token: TimerToken, deadline: ContinuousClock.Instant)?
    var info: ConnectOptions?
    /// The broker's name in events, such as `mqtts://broker.example:8883`. `nil` before an attempt opens a connection,
    /// and after the connection has ended.
    var connectionName: String?
    /// The result for callers of `disconnect()`. The value is set only while the end of a connection is being reported.
    @BoxedOptional var outcome: Result<Void, CourierError>?
    /// The error of the last failed attempt or lost connection. `nil` while connected, and after `disconnect()` or
    /// `destroy()`.
    @BoxedOptional var connectionFailure: CourierError?
    /// The keep-alive that the last CONNECT requested, in seconds.
    var wantedKeepAlive: UInt16 = 0
    /// The running look-up of DNS service records; `nil` if none runs.
    @BoxedOptional var search: LookUpTicket?
    /// The cache of TLS contexts; `nil` before the first connection with TLS.
    var contexts: TLSContextCache?
    /// The attempt that waits until its session's stored messages and the TLS context are loaded; `nil` if no attempt
    /// waits.
    @BoxedOptional var preparation: Preparation?
    /// True while the session's stored messages or the TLS context are loading. Only one load runs at a time, even if
    /// its attempt was abandoned.
    var isPreparing = false
    /// The server of the last attempt. If the next attempt uses the same server, the driver uses the MQTT version that
    /// was chosen for this server.
    var lastServer: String?
    /// The cluster of `lastServer`; `nil` if it is not known. All servers of a cluster count as the same server.
    @BoxedOptional var lastCluster: String?
    /// The client id and broker of the last accepted connection, which identify its session; `nil` before the first
    /// connection.
    var lastPlace: SessionPlace?
    /// The IP addresses of the broker that failed recently. The value is `nil` if there are none, which saves memory in
    /// idle clients.
    var addresses: AddressHistory?
    /// The number of CONNECT packets sent since the last CONNACK.
    ///
    /// If the number is higher than 1, the client assumes that the session may have changed, because it did not receive
    /// the CONNACK for the first of these packets. If the broker has lost the session, the first packet makes a new
    /// session, and only the missing CONNACK reports the loss.
    var unansweredConnects = 0
    /// The options of the DISCONNECT that the app requested; `nil` for the default options.
    @BoxedOptional private var rareDisconnectOptions: DisconnectOptions?
    var disconnectOptions: DisconnectOptions {
        get { rareDisconnectOptions ?? DisconnectOptions() }
        set { rareDisconnectOptions = newValue == DisconnectOptions() ? nil : newValue }
    }
    /// The number of connections opened so far. With this number, the client detects that the provider's response
    /// belongs to a challenge of an earlier connection. Such a response is ignored.
    var connectionNumber = 0
    /// The number of authentication challenges that brokers have sent. Only the last challenge gets a response.
    var challengeCount = 0
    /// The error with which the client ended an extended authentication. `nil` if there is no error, or after the end
    /// of the connection was reported.
    @BoxedOptional var authenticationFailure: CourierError?
    /// The time when the unanswered PINGREQ was sent; `nil` if the client waits for no PINGRESP.
    var pingedAt: ContinuousClock.Instant?
    /// Determines the time between PINGREQ packets for the adaptive keep-alive; `nil` if the keep-alive is fixed.
    @BoxedOptional var keepAlive: KeepAliveSearch?
    @BoxedOptional var keepAliveTimer: (token: TimerToken, deadline: ContinuousClock.Instant)?
    /// True from `destroy()` until the next CONNACK. While it is true, CONNECT requests a clean start, so that the
    /// broker deletes the session.
    var startsClean = false
    /// Finds a message that makes the broker end connections.
    var suspicion: MessageSuspicion
    /// True while the coordinator must report each written or ended message to ``suspicion``.
    var isSuspicious = false
    /// The limit of messages in flight, as determined by ``suspicion``; `nil` for no limit.
    var sendLimit: Int?
    @BoxedOptional var suspicionTimer: (token: TimerToken, deadline: ContinuousClock.Instant)?
    /// The timer for the next batch of waiting messages after a reconnect.
    var batchTimer: TimerToken?
    @BoxedOptional var expiryTimer: (token: TimerToken, deadline: ContinuousClock.Instant)?
    var cleanupTimer: TimerToken?
    var environment: EnvironmentWatch?
    /// True while ``environment`` is being made. Its monitors may report their current values during this time.
    var isLookingAround = false
    /// The last status of the network monitor.
    var network = NetworkStatus.available
    /// The time of the last warning about dropped QoS 0 messages.
    @BoxedOptional var warnedOfUnsentAt: ContinuousClock.Instant?
    /// The values in the last reported ``status``, to detect a change.
    var reportedPlan = ConnectionSupervisor.Plan()
    /// True while ``actions`` are being performed.
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

// MARK: - Events and actions of the supervisor

extension ClientCoordinator {
    /// Reports an event to the app, with the current connect options. Before this event, reports the collected events
    /// about received messages. Called on the event loop.
    func tell(_ event: CourierEventType) {
        distributor.tellArrivals()
        events.tell(event, info)
    }

    /// Reports the collected events about received messages to the app, with the current connect options. Called on the
    /// event loop.
    func tellAll(_ arrivals: inout [CourierEventType]) { events.tell(&arrivals, info) }

    /// Passes an input to the supervisor, and performs the actions that the supervisor returns.
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
        actions = []  // Frees the array's memory, because actions are rare and many clients are idle.
        isPerforming = false
        reportStatus()
        setTimer()
        giveUpUnwantedSearch()
        answerStoreWaiters()
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
            // Do not store the error of a failed renewal of credentials while the client is connected, because the
            // connection continues.
            if let failure = event.failure, supervisor.state != .connected { connectionFailure = failure }
            tell(event.type)
        case .stateChanged(let state): self.state.send(state)
        case .releaseWaiters(let failure): releaseWaiters(failure)
        case .clearStoredState: clearStoredState()
        case .log(let level, let text): settings.log.log(level, source: "connection", clientID: info?.clientId, text)
        }
    }

    /// Sends DISCONNECT with the app's options. If the session ends with this connection, leaves out the session
    /// expiry, because DISCONNECT must not extend such a session. In this case, the options may still contain a session
    /// expiry, because they may have been checked during an earlier connection.
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

    /// If the provider's options contain a client id template, such as `myapp_%%%%`, replaces the template with the
    /// client's id. Then passes the options to the supervisor.
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

    /// Ends all waits for a connection. If `failure` is `nil`, the waits succeed; otherwise they fail with `failure`. A
    /// failure also ends the wait of each `for await` loop for SUBACK. The loop itself continues.
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

    /// Calls the waiting callbacks of `disconnect()`, because the connection or attempt has ended.
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
        publishing.queue.endedSession()  // From now on, the client ignores results of the destroyed session.
        durable?.removeAll(Self.destroyed)
        // Reset the processors before the calls below end the readers. Otherwise, the client would keep the readers'
        // unfinished messages for the next session.
        processors.sessionDestroyed()
        distributor.sessionDestroyed()
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
