import CourierCore
import CourierTransport
import Dispatch
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Opens and closes connections of the client.
extension ClientCoordinator {
    func open(_ options: ConnectOptions, _ attempt: AttemptID) {
        let plan: ConnectPlan
        do throws(CourierError) {
            plan = try settings.plan(for: options, serverName: supervisor.certifiedName(for: options))
        } catch {
            return tell(.openFailed(attempt, error))
        }
        connectionName = plan.name
        wantedKeepAlive = plan.engine.connect.keepAlive
        preparation = Preparation(plan: plan, attempt: attempt)
        prepare()
    }

    /// Loads the session's stored messages and the TLS context for the pending attempt. If the load for an abandoned
    /// attempt is still running, the new load starts when that load has finished.
    private func prepare() {
        guard let preparation, !preparation.isGivenUp, !isPreparing else { return }
        isPreparing = true
        guard let durable else {
            reconfigure(for: preparation.plan)
            return prepareTLS(preparation)
        }
        let session = scope(of: preparation.plan.options)
        durable.open(durable.knownScope ?? session) { [self] result in
            continuing(preparation, after: result) {
                durable.prepare(
                    for: session, driver, reconfigure: { [self] in reconfigure(for: preparation.plan) },
                    { [self] result in continuing(preparation, after: result) { prepareTLS(preparation) } })
            }
        }
    }

    /// Continues to prepare an attempt after its stored messages or its TLS context were loaded. Calls `next` if the
    /// load succeeded and the attempt was not abandoned. Otherwise, ends the preparation.
    private func continuing(
        _ preparation: Preparation, after result: Result<Void, CourierError>, _ next: () -> Void
    ) {
        switch result {
        case .success where isWanted(preparation): next()
        case .success: prepared(.success(nil), preparation)
        case .failure(let error): prepared(.failure(error), preparation)
        }
    }

    /// Configures the driver for the next connection.
    private func reconfigure(for plan: ConnectPlan) {
        var engine = plan.engine
        if startsClean { engine.connect.isCleanStart = true }
        let cluster = supervisor.clusterName(of: plan.options)
        let isSameCluster = cluster != nil && cluster == lastCluster
        driver.reconfigure(engine, isSameServer: plan.name == lastServer || isSameCluster)
        lastServer = plan.name
        lastCluster = cluster
        agreement.withLock { $0.connects(engine.connect) }
    }

    private func prepareTLS(_ preparation: Preparation) {
        let plan = preparation.plan
        guard plan.tls != nil else { return prepared(.success(nil), preparation) }
        let contexts = contexts ?? settings.tlsContexts ?? TLSContextCache()
        self.contexts = contexts
        // Load the context on another thread, because reading the certificate and key files would block the loop.
        DispatchQueue.global().async { [self] in
            let context = Result { () throws(CourierError) -> TLSContext? in try contexts.context(for: plan) }
            loop.execute { [self] in prepared(context, preparation) }
        }
    }

    private func isWanted(_ preparation: Preparation) -> Bool {
        self.preparation?.attempt == preparation.attempt && self.preparation?.isGivenUp == false
    }

    private func prepared(_ context: Result<TLSContext?, CourierError>, _ preparation: Preparation) {
        isPreparing = false
        guard isWanted(preparation) else {
            // This attempt was abandoned, so prepare the next attempt. Begin in a later task of the event loop, because
            // the current task may still abandon the next attempt, too.
            return loop.execute { [self] in prepare() }
        }
        self.preparation = nil
        switch context {
        case .success(let context): open(preparation.plan, context)
        case .failure(let error): failed(preparation, error)
        }
    }

    /// Ends an attempt that failed before its connection was opened, and discards the attempt's endpoint.
    private func failed(_ preparation: Preparation, _ error: CourierError) {
        preparation.plan.endpoint.discard()
        connectionName = nil
        tell(.openFailed(preparation.attempt, error))
        answerCloseWaiters()
    }

    /// Calls `end` to close the connection. If the attempt is still being prepared, abandons the attempt instead.
    func close(_ end: () -> Void) {
        subscriptions.disconnected()
        // From now on, messages that the app publishes wait for the next connection.
        defer { endedMessageFlow() }
        guard let preparation else { return end() }
        guard !preparation.isGivenUp else { return }
        self.preparation?.isGivenUp = true
        // Report the end of the attempt in a later task of the event loop, in the same way as the end of an open
        // connection.
        loop.execute { [self] in
            self.preparation = nil
            failed(preparation, CourierError(.connectionFailed, "The connection attempt was given up."))
        }
    }

    func open(_ plan: ConnectPlan, _ tls: TLSContext?) {
        connectionNumber += 1
        authenticationFailure = nil
        let history = addresses ?? AddressHistory()
        addresses = history
        driver.open(
            plan.endpoint, tls: tls, proxy: plan.proxy, options: plan.channel, history: history, tap: tap(on: plan))
    }

    /// Makes the tap that passes this connection's packets to the observer; `nil` without an observer.
    func tap(on plan: ConnectPlan) -> PacketTap? {
        guard let observer = settings.observer else { return nil }
        let version: ObservedConnection.ProtocolVersion =
            switch driver.protocolVersion {
            case .v31: .v31
            case .v311: .v311
            case .v5: .v5
            }
        return PacketTap(
            observer.observer,
            ObservedConnection(
                id: Self.connectionCount.add(1, ordering: .relaxed).newValue, options: plan.options,
                protocolVersion: version, openedAt: Date(), openedInstant: loop.now,
                clientNumber: observer.clientNumber))
    }

    /// The number of connections of this process that were opened with an observer. The next connection gets the
    /// increased number as its id.
    static let connectionCount = Atomic<UInt64>(0)

    func established(_ connAck: ConnAck) {
        driver.traffic.connected()
        startsClean = false
        connectionFailure = nil
        addresses?.presentServed()
        if addresses?.isEmpty == true { addresses = nil }
        if !connAck.isSessionPresent { durable?.sessionLost() }
        version5.store(driver.protocolVersion >= .v5, ordering: .releasing)
        agreement.withLock { $0.accepted(connAck) }
        let place = info.map { SessionPlace(options: $0, cluster: lastCluster) }
        subscriptions.connected(connAck, isOtherSession: mayBeOtherSession(at: place))
        if let place, let lastPlace, !place.hasSession(of: lastPlace) { suspicion.sessionChanged() }
        suspicion.connected(now: loop.now)
        lastPlace = place
        unansweredConnects = 0
        // Enable the outgoing queue before resuming the callers that wait for the connection, because these callers may
        // publish at once.
        publishing.queue.connected()
        loop.enqueue(driver)
        tell(.accepted(connAck, driver.protocolVersion))
        suspicionChanged()
        keepAliveBegan(connAck)
        subscriptionsChanged()
    }

    /// True if the broker's session may differ from the session of the last connection. The client id or the broker may
    /// have changed. Or another client, or an earlier CONNECT that received no CONNACK, may have replaced the session.
    private func mayBeOtherSession(at place: SessionPlace?) -> Bool {
        if unansweredConnects > 1 || supervisor.wasTakenOver { return true }
        guard let place, let lastPlace else { return false }
        return !place.hasSession(of: lastPlace)
    }

    func lost() {
        endedMessageFlow()
        connectionName = nil
        subscriptions.disconnected()
        distributor.connectionLost()
        scheduleExpiry()
    }

    func finishIfReleased() {
        guard isReleased, connectionName == nil, !isPerforming else { return }
        let error = CourierError(.clientDestroyed, "The client has ended.")
        environment = nil
        let timers = [timer?.token, batchTimer, suspicionTimer?.token, expiryTimer?.token, cleanupTimer]
        for token in timers.compactMap({ $0 }) { loop.cancel(token) }
        timer = nil
        batchTimer = nil
        suspicionTimer = nil
        expiryTimer = nil
        cleanupTimer = nil
        connectionWaiters.callAll(.failure(error))
        answerCloseWaiters()
        subscriptions.end(error)
        durable?.finish(error)
        distributor.finish()
        readers.finish()
        publishing.report(publishing.queue.finish(error), error)
        events.finish()
        state.send(completion: .finished)
        status.send(completion: .finished)
        relay.target = nil
    }
}
