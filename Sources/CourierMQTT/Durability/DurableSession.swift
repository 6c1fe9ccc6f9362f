import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// The session of a client in its message store: loads the rows of the earlier process, and prepares rows for the next one.
///
/// ```
/// closed ──open()──▶ reading ──▶ open ──removeAll()──▶ closed
/// ```
///
/// Safe to share: everything is touched on the client's loop only, which each entry checks.
final class DurableSession: @unchecked Sendable {
    /// How long a store that could not be read is left alone, 1 s.
    static let retryInterval = Duration.seconds(1)

    let outgoing: OutgoingStore
    let inbox: DurableInbox
    /// The steps of outgoing deliveries, and the ends of rows: they free rows, and wait for nothing that needs one.
    let steps: StoreCommitQueue
    /// Commits of subscriptions.
    let subscriptionCommits: StoreCommitQueue
    /// Whose rows they are, where that is known before there are any options.
    let knownScope: StoreScope?

    private let store: any MessageStore
    private let loop: EventLoop
    /// Called with the rows of an earlier process when the session begins.
    private let began: (StoredSession) -> Void
    /// Called for the first of several failures in a row.
    private let failed: (CourierError) -> Void
    /// Whose rows they are; known from the first attempt to read them on.
    private(set) var scope: StoreScope?
    /// Whether the rows of an earlier process have been read.
    private(set) var isOpen = false
    /// Whose packet ids the rows have: a client id at a broker, as scopes are named.
    private var session: StoreScope?
    /// Whose rows they would be by the last options.
    private var namedScope: StoreScope?
    /// The messages in flight of the earlier process, until the first connection.
    private var unfinished: (messages: [ClientEngine.UnfinishedMessage], incoming: Set<UInt16>)?
    private var isReading = false
    private var loading: Task<Void, Never>?
    /// The number of started reads. The result of an earlier read is ignored.
    private var readingCount = 0
    private var waiters: [(Result<Void, CourierError>) -> Void] = []
    private var isFailing = false
    private var retryTimer: TimerToken?
    /// The scopes of destroyed sessions. Their rows are removed before any row is read.
    private var destroyed: Set<StoreScope> = []
    /// Whether the app has destroyed a session before anybody knew whose it was.
    private var isNextDestroyed = false
    /// Whether it was known once whose rows they are.
    private var hadScope = false

    init(
        _ store: any MessageStore, _ knownScope: StoreScope?, outgoing: OutgoingStore, inbox: DurableInbox,
        steps: StoreCommitQueue, subscriptionCommits: StoreCommitQueue, on loop: EventLoop,
        failed: @escaping (CourierError) -> Void,
        began: @escaping (StoredSession) -> Void
    ) {
        self.store = store
        self.knownScope = knownScope
        self.outgoing = outgoing
        self.inbox = inbox
        self.steps = steps
        self.subscriptionCommits = subscriptionCommits
        self.loop = loop
        self.failed = failed
        self.began = began
    }

    /// Reads what an earlier process left, if it is known whose it is, and again and again until the store can be read.
    func openIfKnown() {
        loop.preconditionOnLoop()
        guard let knownScope, !isOpen, !isReading, retryTimer == nil else { return }
        open(knownScope) { _ in }
    }

    /// Reads what an earlier process left under `scope`, and continues with it, unless that is done already; `done` is called
    /// on the loop.
    func open(_ scope: StoreScope, _ done: @escaping (Result<Void, CourierError>) -> Void) {
        loop.preconditionOnLoop()
        guard !isOpen else { return done(.success(())) }
        waiters.append(done)
        guard !isReading else { return }
        isReading = true
        self.scope = scope
        if isNextDestroyed { destroyed.insert(scope) }
        isNextDestroyed = false
        readingCount += 1
        removeDestroyed(readingCount, thenLoad: scope)
    }

    private func removeDestroyed(_ number: Int, thenLoad scope: StoreScope) {
        guard let gone = destroyed.first else { return load(scope, number) }
        store.commit([.removeAll], in: gone) { [loop] result in
            loop.execute { [self] in
                guard isReading, number == readingCount else { return }  // Given up meanwhile.
                switch result {
                case .success:
                    destroyed.remove(gone)
                    removeDestroyed(number, thenLoad: scope)
                case .failure(let error): failedToOpen(.reading(error))
                }
            }
        }
    }

    private func load(_ scope: StoreScope, _ number: Int) {
        let (store, loop) = (store, loop)
        loading = Task { [weak self] in
            let session: Result<StoredSession, CourierError>
            do {
                session = .success(try await StoredSession.load(scope, from: store))
            } catch {
                session = .failure(.reading(error))
            }
            loop.execute { [self] in
                guard let self, isReading, number == readingCount else { return }
                switch session {
                case .success(let session): begin(session, scope)
                case .failure(let error): failedToOpen(error)
                }
            }
        }
    }

    private func failedToOpen(_ error: CourierError) {
        isReading = false
        if !isFailing { failed(error) }
        isFailing = true
        answer(.failure(error))
        guard knownScope != nil, retryTimer == nil else { return }
        retryTimer = loop.schedule(at: loop.now.advanced(by: Self.retryInterval)) { [weak self] in
            self?.retryTimer = nil
            self?.openIfKnown()
        }
    }

    private func answer(_ result: Result<Void, CourierError>) {
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter(result) }
    }

    private func begin(_ session: StoredSession, _ scope: StoreScope) {
        (isReading, isFailing, isOpen) = (false, false, true)
        (self.session, namedScope) = (session.session ?? scope, scope)
        steps.begin(scope)
        subscriptionCommits.begin(scope)
        inbox.begin(session.incomingCount, scope)
        unfinished = (outgoing.begin(session, scope), session.packetIDs)
        began(session)
        answer(.success(()))
    }

    /// Whose rows they are, if those of `scope` are others; once for each change.
    func keepsRowsElsewhere(than scope: StoreScope) -> StoreScope? {
        loop.preconditionOnLoop()
        guard isOpen, scope != namedScope else { return nil }
        namedScope = scope
        return scope == self.scope ? nil : self.scope
    }

    /// Prepares the rows for a connection with this client id to this broker. `reconfigure` configures the driver for the
    /// connection. `done` is called on the loop when the store has the session.
    ///
    /// A packet id is valid only in its session. If the session changes, rows lose their packet ids, and messages in flight are
    /// sent again: now if the client id changes, and by the next process in any case. Then the new session is stored, and the
    /// connection waits for that. So a process that is killed in between never uses packet ids of another session.
    func prepare(
        for next: StoreScope, _ driver: SessionDriver, reconfigure: () -> Void,
        _ done: @escaping (Result<Void, CourierError>) -> Void
    ) {
        loop.preconditionOnLoop()
        guard next != session else {
            reconfigure()
            restore(driver)
            return done(.success(()))
        }
        let hasSameID = session.map { TopicRules.sameBytes($0.clientID, next.clientID) } ?? false
        let isSameClient = hasSameID && unfinished == nil
        session = next
        restore(driver)  // Before it is told, which ends what it is given.
        if isSameClient { outgoing.forgetStoredPacketIDs() } else { outgoing.sessionLost() }
        reconfigure()
        let number = readingCount
        inbox.forgetPacketIDs { [self] result in
            guard case .success = result, isOpen, number == readingCount else {
                return done(.failure(CourierError(.clientDestroyed, "The session was destroyed meanwhile.")))
            }
            // Behind the steps of the last session, which may name its packet ids.
            steps.add([.rememberSession(next)], settled: done)
        }
    }

    /// Gives the session what an earlier process left of it; before its first connection.
    private func restore(_ driver: SessionDriver) {
        guard let (messages, incoming) = unfinished else { return }
        unfinished = nil
        driver.restore(messages, incoming: incoming.compactMap { PacketID(rawValue: $0) })
    }

    /// The broker has lost the session.
    func sessionLost() {
        loop.preconditionOnLoop()
        outgoing.sessionLost()
        inbox.forgetPacketIDs()
    }

    /// The app has destroyed the session: the rows go, read or not, and the next session reads its own.
    func removeAll(_ error: CourierError) {
        loop.preconditionOnLoop()
        stopReading()
        unfinished = nil
        steps.removeAll(error)
        subscriptionCommits.removeAll(error)
        outgoing.endSession()
        inbox.removeAll(error)
        remove(scope ?? knownScope)
        hadScope = hadScope || scope != nil
        scope = nil
        isOpen = false
        isFailing = false
        answer(.failure(error))
    }

    /// Removes the rows of a session now; what cannot be removed, or is not known, before the next one begins.
    private func remove(_ scope: StoreScope?) {
        guard let scope else {
            isNextDestroyed = !hadScope  // Else the next one's are not those of this one.
            return
        }
        destroyed.insert(scope)
        remove(scope, before: readingCount)
    }

    /// Removes rows, and again and again until it succeeds or the next session is about to do it.
    private func remove(_ scope: StoreScope, before number: Int) {
        store.commit([.removeAll], in: scope) { [loop] result in
            loop.execute { [self] in
                guard number == readingCount else { return }
                guard case .failure(let error) = result else {
                    isFailing = false
                    destroyed.remove(scope)
                    return
                }
                if !isFailing { failed(error) }
                isFailing = true
                loop.schedule(at: loop.now.advanced(by: Self.retryInterval)) { [weak self] in
                    guard let self, number == readingCount else { return }
                    remove(scope, before: number)
                }
            }
        }
    }

    /// The client has ended. Rows stay.
    func finish(_ error: CourierError) {
        loop.preconditionOnLoop()
        stopReading()
        answer(.failure(error))
        outgoing.finish()
        inbox.finish(error)
        steps.finish(error)
        subscriptionCommits.finish(error)
    }

    private func stopReading() {
        loading?.cancel()
        isReading = false
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
    }
}

extension StoreScope {
    /// The scope of a client with these options. The client id is the real one: a template gives each client another id, so that
    /// no client uses the rows of another.
    package init(_ options: ConnectOptions) {
        self.init(clientID: options.clientId, broker: "\(options.host):\(options.port)")
    }
}
