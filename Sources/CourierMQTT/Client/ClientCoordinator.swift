import CourierCore
import CourierTransport
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Where the parts of a client meet: it tells each what happened, and performs what they decide.
///
/// The ``ConnectionSupervisor`` decides when to connect, the ``SessionDriver`` speaks the protocol, the
/// ``SubscriptionKeeper`` knows the wanted filters, the ``MessageDistributor`` the readers, ``Publishing`` the writers.
///
/// Safe to share: everything but the functions under "From any thread" is touched on the loop only, which each entry
/// checks.
final class ClientCoordinator: @unchecked Sendable {
    private enum Preparation {
        case none
        case wanted
        case cancelled
    }

    let loop: EventLoop
    private let settings: ClientSettings
    private let state: CurrentValueSubject<ConnectionState, Never>
    private let events: EventHub
    private let distributor: MessageDistributor
    private let readers: MessageReaders
    private let publishing: Publishing
    private let driver: SessionDriver
    private let relay: SessionRelay
    private let credentials: CredentialSource
    private let contexts = TLSContextCache()

    private let session = Mutex(false)
    private let version5 = Atomic(false)
    private let connectionWaiters = CallbackList<Result<Void, CourierError>>()
    private let closeWaiters = CallbackList<Void>()

    // MARK: On the loop only

    private var supervisor: ConnectionSupervisor
    private let subscriptions: SubscriptionKeeper
    /// The actions that are being performed; what comes up meanwhile is appended.
    private var actions: [ConnectionSupervisor.Action] = []
    private var isPerforming = false
    private var timer: (token: TimerToken, deadline: ContinuousClock.Instant)?
    private var info: ConnectOptions?
    /// The attempt or connection that there is.
    private var plan: ConnectPlan?
    /// Whether the connection waits for its TLS context, and if so, whether it is still wanted.
    private var preparation = Preparation.none
    /// The server of the last attempt, whose version of MQTT is remembered.
    private var lastServer: String?
    /// How many CONNECT were sent since the last CONNACK. A broker that has lost the session makes another one for each,
    /// and says so once: in the CONNACK that may never arrive.
    private var unansweredConnects = 0
    /// When PINGREQ was sent that has no answer yet.
    private var pingedAt: ContinuousClock.Instant?
    /// Whether the broker is to forget the session, too: the app has destroyed it.
    private var startsClean = false
    /// How many parts are left of what waited when the connection came; what comes later is not held back.
    private var pacedParts = 0
    /// The next part of what goes out in parts.
    private var drainTimer: TimerToken?
    private var expiryTimer: (token: TimerToken, deadline: ContinuousClock.Instant)?
    private var cleanupTimer: TimerToken?
    private var environment: EnvironmentWatch?
    /// Whether ``environment`` is being made, and says how things are.
    private var isLookingAround = false
    /// What the monitor said last.
    private var network = NetworkStatus.available
    private var isReleased = false

    init(
        loop: EventLoop, settings: ClientSettings, state: CurrentValueSubject<ConnectionState, Never>,
        events: EventHub, distributor: MessageDistributor, readers: MessageReaders, publishing: Publishing,
        driver: SessionDriver, relay: SessionRelay, credentials: CredentialSource
    ) {
        self.loop = loop
        self.settings = settings
        self.state = state
        self.events = events
        self.distributor = distributor
        self.readers = readers
        self.publishing = publishing
        self.driver = driver
        self.relay = relay
        self.credentials = credentials
        supervisor = ConnectionSupervisor(
            settings.supervisor, seed: settings.jitterSeed, now: loop.clock.now)
        let link = WeakCoordinator()
        subscriptions = SubscriptionKeeper(settings.topics, driver, on: loop) { link.coordinator?.tell($0) }
        link.coordinator = self
    }
}

// MARK: - From any thread

extension ClientCoordinator {
    var hasSession: Bool { session.withLock { $0 } }

    /// Whether the last connection that was accepted speaks MQTT 5.
    var speaksVersion5: Bool { version5.load(ordering: .acquiring) }

    func connect(source: String) {
        session.withLock { $0 = true }
        publishing.setHasSession(true)
        loop.execute { [self] in
            startOnce()
            tell(.connectRequested(source: source))
        }
    }

    func disconnect() {
        loop.execute { [self] in tell(.disconnectRequested) }
    }

    func destroy() {
        session.withLock { $0 = false }
        publishing.giveUpSession(
            CourierError(.clientDestroyed, "The client was destroyed before the message was acknowledged."))
        loop.execute { [self] in tell(.destroyRequested) }
    }

    /// Tells when there is a connection, or why there will be none; at once if it is known.
    @discardableResult
    func whenConnected(
        _ callback: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) -> CallbackList<Result<Void, CourierError>>.Key {
        let key = connectionWaiters.add(callback)
        loop.execute { [self] in answerConnectionWaiters() }
        return key
    }

    /// Takes back what ``whenConnected(_:)`` was given.
    func forgetConnectionWaiter(_ key: CallbackList<Result<Void, CourierError>>.Key) { connectionWaiters.remove(key) }

    /// Tells when there is no connection any more.
    func whenClosed(_ callback: @escaping @Sendable () -> Void) {
        closeWaiters.add(callback)
        loop.execute { [self] in answerCloseWaiters() }
    }

    /// Wants messages of a filter.
    func subscribe(_ filter: String, _ qos: QoS, told: (@Sendable (Result<QoS, CourierError>) -> Void)?) {
        loop.execute { [self] in
            subscriptions.subscribe(filter, qos, told: told)
            subscriptionsChanged()
        }
    }

    /// Wants no more messages of a filter.
    func unsubscribe(_ filter: String, told: (@Sendable (Result<Void, CourierError>) -> Void)?) {
        loop.execute { [self] in
            subscriptions.unsubscribe(filter, told: told)
            subscriptionsChanged()
        }
    }

    /// The app let the client go.
    func release() {
        loop.execute { [self] in
            isReleased = true
            tell(.disconnectRequested)
            finishIfReleased()
        }
    }

}

// MARK: - Readers that subscribe

extension ClientCoordinator {
    /// A loop has started: it reads, and its filter is wanted. On the loop.
    func opened(_ reader: ReaderRegistration, _ request: SubscriptionRequest) {
        subscriptions.open(reader, request, identity: publishing.identity)
        subscriptionsChanged()
    }

    /// It was left. On the loop.
    func closed(_ reader: ReaderRegistration, _ left: [ReceivedMessage]) {
        reader.close(left)
        subscriptions.close(reader)
        subscriptionsChanged()
    }

    private func subscriptionsChanged() {
        subscriptions.perform()
        tell(.topicsChanged(areWanted: subscriptions.hasTopics))
    }
}

// MARK: - Events

extension ClientCoordinator {
    /// Tells an event of the present connection. On the loop.
    func tell(_ event: CourierEventType) { events.tell(event, info) }
}

// MARK: - The supervisor

extension ClientCoordinator {
    /// Tells the supervisor, and does what it decides.
    private func tell(_ input: ConnectionSupervisor.Input) {
        loop.preconditionOnLoop()
        actions += supervisor.handle(input, now: loop.now)
        performAll()
    }

    private func performAll() {
        guard !isPerforming else { return }
        isPerforming = true
        var position = 0
        while position < actions.count {
            perform(actions[position])
            position += 1
        }
        actions.removeAll(keepingCapacity: true)
        isPerforming = false
        setTimer()
        finishIfReleased()
    }

    private func perform(_ action: ConnectionSupervisor.Action) {
        switch action {
        case .fetchCredentials(let attempt):
            credentials.fetch(attempt) { [weak self] attempt, result in
                guard let self else { return }
                loop.execute { [self] in
                    switch result {
                    case .success(let grant): tell(.credentialsArrived(attempt, grant, date: Date()))
                    case .failure(let error): tell(.credentialsFailed(attempt, error))
                    }
                }
            }
        case .abandonCredentials(let attempt): credentials.abandon(attempt)
        case .clearCredentials: credentials.clear()
        case .setConnectionInfo(let options): use(options)
        case .open(let options, let attempt): open(options, attempt)
        case .closeInOrder: close { driver.disconnect() }
        case .abort: close { driver.abort() }
        case .probe: driver.ping()
        case .emit(let event): events.tell(event.type, info)
        case .stateChanged(let state): self.state.send(state)
        case .releaseWaiters(let failure): releaseWaiters(failure)
        case .clearStoredState: clearStoredState()
        case .log(let level, let text): settings.log.log(level, source: "connection", clientID: info?.clientId, text)
        }
    }

    private func use(_ options: ConnectOptions?) {
        info = options
        readers.use(options)
        guard let options else { return }
        if network == .unavailable { tell(.networkChanged(networkForBroker)) }
        publishing.use(options)
        subscriptions.use(identity: publishing.identity)
    }

    private func releaseWaiters(_ failure: ConnectionFailure?) {
        switch failure {
        case nil: connectionWaiters.callAll(.success(()))
        case .error(let error)?: connectionWaiters.callAll(.failure(error))
        case .cancelled?: connectionWaiters.callAll(.failure(Self.notConnecting))
        }
    }

    private func answerConnectionWaiters() {
        switch supervisor.waiterAnswer {
        case .connected: releaseWaiters(nil)
        case .wait: break
        case .failed(let failure): releaseWaiters(failure)
        }
    }

    private static let notConnecting = CourierError(
        .sessionMissing, "The client is not connecting: connect() was not called, or disconnect() was called since.")

    private func answerCloseWaiters() {
        if plan == nil { closeWaiters.callAll(()) }
    }

    private func setTimer() {
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

    private func clearStoredState() {
        subscriptions.removeAll()
        tell(.topicsChanged(areWanted: subscriptions.hasTopics))
        distributor.removeKept()
        driver.forgetSession()
        publishing.gate.release()
        startsClean = true
        events.reset()
    }
}

// MARK: - Opening and closing

extension ClientCoordinator {
    private func open(_ options: ConnectOptions, _ attempt: AttemptID) {
        let plan: ConnectPlan
        do throws(CourierError) {
            plan = try settings.plan(for: options)
        } catch {
            return tell(.openFailed(attempt, error))
        }
        self.plan = plan
        guard plan.tls != nil else { return open(plan, nil) }
        preparation = .wanted
        // Certificates and keys are files, which the loop must not wait for.
        DispatchQueue.global().async { [self] in
            let context = Result { () throws(CourierError) -> TLSContext? in try contexts.context(for: plan) }
            loop.execute { [self] in prepared(context, plan, attempt) }
        }
    }

    private func prepared(_ context: Result<TLSContext?, CourierError>, _ plan: ConnectPlan, _ attempt: AttemptID) {
        let isWanted = preparation == .wanted
        preparation = .none
        switch context {
        case .success(let context) where isWanted: open(plan, context)
        case .success:
            self.plan = nil
            tell(.openFailed(attempt, CourierError(.connectionFailed, "The attempt was given up.")))
        case .failure(let error):
            self.plan = nil
            tell(.openFailed(attempt, error))
        }
        answerCloseWaiters()
    }

    /// Ends the connection, or the preparations for it.
    private func close(_ end: () -> Void) {
        publishing.gate.disconnected()  // What is written from now on waits for the next connection.
        if preparation == .none { end() } else { preparation = .cancelled }
    }

    private func open(_ plan: ConnectPlan, _ tls: TLSContext?) {
        var engine = plan.engine
        if startsClean { engine.connect.isCleanStart = true }
        driver.reconfigure(engine, isSameServer: plan.name == lastServer)
        lastServer = plan.name
        driver.open(plan.endpoint, tls: tls, options: plan.channel, tap: tap(on: plan))
    }

    /// What shows this connection's packets to the observer, if there is one.
    private func tap(on plan: ConnectPlan) -> PacketTap? {
        guard let observer = settings.observer else { return nil }
        let version: ObservedConnection.ProtocolVersion =
            switch driver.protocolVersion {
            case .v31: .v31
            case .v311: .v311
            case .v5: .v5
            }
        return PacketTap(
            observer,
            ObservedConnection(
                id: Self.connectionCount.add(1, ordering: .relaxed).newValue, options: plan.options,
                protocolVersion: version, openedAt: Date(), openedInstant: loop.now))
    }

    /// Of this process.
    private static let connectionCount = Atomic<UInt64>(0)

    private func established(_ connAck: ConnAck) {
        startsClean = false
        version5.store(driver.protocolVersion >= .v5, ordering: .releasing)
        subscriptions.connected(connAck, isOtherSession: unansweredConnects > 1)
        unansweredConnects = 0
        // Before anybody learns of the connection: who awaited it may publish at once.
        pacedParts = publishing.gate.waitingCount / settings.offline.drainCount
        publishing.gate.connected()
        tell(.accepted(connAck, driver.protocolVersion))
        subscriptions.perform()
    }

    private func lost() {
        publishing.gate.disconnected()
        plan = nil
        subscriptions.disconnected()
        distributor.connectionLost()
        scheduleExpiry()
    }

    private func finishIfReleased() {
        guard isReleased, plan == nil, !isPerforming else { return }
        let error = CourierError(.clientDestroyed, "The client has ended.")
        environment = nil
        for token in [timer?.token, drainTimer, expiryTimer?.token, cleanupTimer].compactMap({ $0 }) {
            loop.cancel(token)
        }
        timer = nil
        drainTimer = nil
        expiryTimer = nil
        cleanupTimer = nil
        connectionWaiters.callAll(.failure(error))
        closeWaiters.callAll(())
        subscriptions.end(error)
        distributor.finish(nil)
        publishing.endAll(error)
        events.finish()
        state.send(completion: .finished)
        relay.target = nil
    }
}

// MARK: - What waits

extension ClientCoordinator {
    /// Hands waiting messages to the session, a part at a time after a reconnect.
    func drain() {
        guard drainTimer == nil else { return }  // The next part has its time.
        let limit = pacedParts > 0 ? settings.offline.drainCount : .max
        switch publishing.gate.drain(limit) {
        case .opened: pacedParts = 0
        case .blocked: break  // The session tells when it has room, and a connection when it is there.
        case .hasMore:
            pacedParts -= 1
            drainTimer = loop.schedule(at: loop.now.advanced(by: settings.offline.drainInterval)) { [weak self] in
                self?.drainTimer = nil
                self?.drain()
            }
        }
    }

    /// Ends what has waited too long, now and as often as needed.
    func scheduleExpiry() {
        guard !isReleased, let next = publishing.gate.removeExpired(now: loop.now) else { return }
        let deadline = max(next, loop.now.advanced(by: ClientSettings.expiryCheckInterval))
        if let expiryTimer {
            guard deadline < expiryTimer.deadline else { return }
            loop.cancel(expiryTimer.token)
        }
        let token = loop.schedule(at: deadline) { [weak self] in
            self?.expiryTimer = nil
            self?.scheduleExpiry()
        }
        expiryTimer = (token, deadline)
    }

    private func scheduleCleanup() {
        guard settings.timeToKeep > .zero, !isReleased else { return }
        cleanupTimer = loop.schedule(at: loop.now.advanced(by: settings.cleanupInterval)) { [weak self] in
            guard let self else { return }
            distributor.removeExpired()
            scheduleCleanup()
        }
    }

    private func startOnce() {
        guard environment == nil, !isReleased else { return }
        tell(.topicsChanged(areWanted: subscriptions.hasTopics))
        // What is said at once describes the world in which the app asks, and comes before what it asks for.
        isLookingAround = true
        defer { isLookingAround = false }
        environment = EnvironmentWatch(
            network: settings.networkMonitor ?? SystemNetworkMonitor(loop: loop),
            lifecycle: settings.lifecycle ?? AlwaysForeground(), on: loop
        ) { [weak self] change in
            guard let self else { return }
            if loop.isOnLoop, isLookingAround { return surroundingsChanged(change) }
            loop.execute { [self] in surroundingsChanged(change) }
        }
        scheduleCleanup()
    }
}

// MARK: - The world around

extension ClientCoordinator {
    private func surroundingsChanged(_ change: EnvironmentWatch.Change) {
        guard !isReleased else { return }
        switch change {
        case .network(let status):
            network = status
            tell(.networkChanged(networkForBroker))
        case .phase(let phase): tell(.phaseChanged(phase))
        case .resumed: tell(.resumedFromSuspend)
        }
    }

    /// A broker on this machine is reached without any network.
    private var networkForBroker: NetworkStatus { info.map(settings.isLocal) == true ? .available : network }
}

// MARK: - The session

extension ClientCoordinator: SessionRelay.Target {
    func received(_ message: IncomingMessage, topic: RawSpan, payload: RawSpan, properties: PacketProperties) {
        distributor.received(
            message, topic: topic, payload: payload, properties.isEmpty ? nil : MessageProperties(properties))
    }

    func receivedAll() {
        distributor.receivedAll()
        supervisor.bytesReceived(now: loop.now)
    }

    func wrote() {
        if supervisor.bytesSent(now: loop.now) { setTimer() }
    }

    func progressed(_ progress: ExchangeProgress) {
        guard case .acknowledged(let token, let code) = progress else { return }
        publishing.ended(token, with: .refused(code, []))
    }

    func performed(_ action: EngineAction) {
        switch action {
        case .connected(let connAck): established(connAck)
        case .acknowledged(let token, let code, let properties):
            publishing.ended(token, with: .refused(code, properties))
        case .failed(let token, let failure):
            if !subscriptions.failed(token, failure) { publishing.ended(token, with: .session(failure)) }
        case .subscribed(let token, let subAck): subscriptions.subscribed(token, subAck)
        case .unsubscribed(let token, let unsubAck): subscriptions.unsubscribed(token, unsubAck)
        case .pingSent: pinged()
        case .pongReceived(let roundTrip):
            pingedAt = nil
            tell(.pongReceived(timeTaken: roundTrip.wholeMilliseconds))
        case .message, .incomingReleased, .sent, .receivedByServer, .authenticationContinued, .authenticated, .close:
            break
        }
    }

    /// One PINGREQ at a time is told; more of them wait for the same answer.
    private func pinged() {
        guard pingedAt == nil else { return }
        pingedAt = loop.now
        tell(.ping(url: plan?.name ?? ""))
    }

    /// The connection ends, and nobody will answer any more.
    private func pingFailed() {
        guard let pingedAt else { return }
        self.pingedAt = nil
        tell(
            .pingFailure(
                timeTaken: pingedAt.duration(to: loop.now).wholeMilliseconds,
                error: CourierError(.timedOut, "The connection ended before the broker answered PINGREQ.")))
    }

    func outboxDrained() { drain() }

    func opened() {
        unansweredConnects += 1
        tell(.connectSent)
    }

    func closed(_ reason: CloseReason, _ cause: ChannelCloseReason) {
        pingFailed()
        lost()
        tell(.closed(reason, cause))
        answerCloseWaiters()
        finishIfReleased()
    }
}
