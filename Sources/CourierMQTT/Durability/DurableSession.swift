import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// The session of a client in its message store: loads the rows of an earlier process, and stores the session for the
/// next process.
///
/// ```
/// closed ──open()──▶ reading ──▶ open ──removeAll()──▶ closed
/// ```
///
/// Safe to share between threads: all state is used on the client's event loop only, and the methods check this.
final class DurableSession: @unchecked Sendable {
    /// The wait before a failed read or removal is repeated, 1 s.
    static let retryInterval = Duration.seconds(1)

    let outgoing: OutgoingStore
    let inbox: DurableInbox
    /// Commits the progress of outgoing messages and the removal of rows. These changes have their own queue, so that
    /// they never wait for changes that need room in the store.
    let steps: StoreCommitQueue
    /// Commits changes of subscriptions.
    let subscriptionCommits: StoreCommitQueue
    /// The scope of the rows, if it is known before the provider returns connect options; otherwise `nil`. A scope is a
    /// client id and a broker.
    let knownScope: StoreScope?

    private let store: any MessageStore
    private let loop: EventLoop
    /// Called with the rows of an earlier process when a session begins.
    private let began: (StoredSession) -> Void
    /// Called for the first of several consecutive failures to read or remove rows.
    private let failed: (CourierError) -> Void
    /// The scope (client id and broker) of the rows; `nil` until the first attempt to read them.
    private(set) var scope: StoreScope?
    /// True if the rows of an earlier process have been read.
    private(set) var isOpen = false
    /// The session to which the packet ids of the rows belong, identified by a client id and a broker.
    private var session: StoreScope?
    /// The scope of the last connect options: a client id and a broker.
    private var namedScope: StoreScope?
    /// The messages in flight of an earlier process. `nil` after they were passed to the driver.
    private var unfinished: (messages: [ClientEngine.UnfinishedMessage], incoming: Set<UInt16>)?
    /// True while the rows of an earlier process are being read.
    private(set) var isReading = false
    /// The error of the last read of the rows; `nil` if the read succeeded or no row was read yet.
    private(set) var readFailure: CourierError?
    private var loading: Task<Void, Never>?
    /// The number of reads that were started. The result of a read is ignored if a newer read was started.
    private var readingCount = 0
    private var waiters: [(Result<Void, CourierError>) -> Void] = []
    /// Called when the running read of the rows has ended; set by ``whenRead(_:)``.
    private var afterRead: (() -> Void)?
    private var isFailing = false
    private var retryTimer: TimerToken?
    /// The scopes (client id and broker) of destroyed sessions. Their rows are removed before any row is read.
    private var destroyed: Set<StoreScope> = []
    /// True if the app destroyed a session whose scope (client id and broker) was not known yet. When the next session
    /// loads its rows, all earlier rows in its scope are first removed.
    private var isNextDestroyed = false
    /// True if the app has destroyed at least one session whose scope (client id and broker) was known at that time.
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

    /// Loads the rows of an earlier process if the client id and broker of the rows are known. Repeats a failed read
    /// until it succeeds.
    func openIfKnown() {
        loop.preconditionOnLoop()
        guard let knownScope, !isOpen, !isReading, retryTimer == nil else { return }
        open(knownScope) { _ in }
    }

    /// Loads the rows that an earlier process stored in `scope`, unless they are loaded already. `done` is called on
    /// the event loop.
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

    /// If the rows of an earlier process are being read, calls `done` when the read has succeeded or failed. Otherwise,
    /// calls `done` at once. If the method is called several times during one read, only the last `done` is called.
    func whenRead(_ done: @escaping () -> Void) {
        loop.preconditionOnLoop()
        guard isReading else { return done() }
        afterRead = done
    }

    private func removeDestroyed(_ number: Int, thenLoad scope: StoreScope) {
        guard let gone = destroyed.first else { return load(scope, number) }
        store.commit([.removeAll], in: gone) { [loop] result in
            loop.execute { [self] in
                guard isReading, number == readingCount else { return }  // The read was abandoned before it ended.
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
        readFailure = error
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
        let afterRead = exchange(&afterRead, with: nil)
        afterRead?()
    }

    private func begin(_ session: StoredSession, _ scope: StoreScope) {
        (isReading, isFailing, isOpen) = (false, false, true)
        readFailure = nil
        (self.session, namedScope) = (session.session ?? scope, scope)
        steps.begin(scope)
        subscriptionCommits.begin(scope)
        inbox.begin(session.incomingCount, scope)
        unfinished = (outgoing.begin(session, scope), session.packetIDs)
        began(session)
        answer(.success(()))
    }

    /// Returns the scope (client id and broker) of the rows if it differs from `scope`; otherwise `nil`. The caller
    /// then logs a warning. If the function is called again with the same `scope`, it returns `nil`, so that the
    /// warning is logged once.
    func keepsRowsElsewhere(than scope: StoreScope) -> StoreScope? {
        loop.preconditionOnLoop()
        guard isOpen, scope != namedScope else { return nil }
        namedScope = scope
        return scope == self.scope ? nil : self.scope
    }

    /// Prepares the rows for a connection with this client id to this broker. `reconfigure` configures the driver for
    /// the connection. `done` is called on the event loop when the session is stored.
    ///
    /// A packet id is valid only in its session. If the session changes, stored messages lose their packet ids. The
    /// messages in flight are handled in one of these ways:
    ///
    /// - If the client id changes, or if the messages are from an earlier process, they are sent again now.
    /// - Otherwise, this process continues their exchanges. Only the next process sends the messages again.
    ///
    /// The connection waits until the new session is stored. So no packet id is used in another session, even if the
    /// process is killed at any moment.
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
        // Restore the messages in flight before calling `reconfigure()`. If the client id has changed, `reconfigure()`
        // fails these messages or returns them to the queue.
        restore(driver)
        if isSameClient { outgoing.forgetStoredPacketIDs() } else { outgoing.sessionLost() }
        reconfigure()
        let number = readingCount
        inbox.forgetPacketIDs { [self] result in
            guard case .success = result, isOpen, number == readingCount else {
                return done(.failure(CourierError(.clientDestroyed, "The session was destroyed during the request.")))
            }
            // Add this step after the waiting steps, because they may contain packet ids of the last session.
            steps.add([.rememberSession(next)], settled: done)
        }
    }

    /// Passes the messages in flight of an earlier process to the driver, before its first connection.
    private func restore(_ driver: SessionDriver) {
        guard let (messages, incoming) = unfinished else { return }
        unfinished = nil
        driver.restore(messages, incoming: incoming.compactMap { PacketID(rawValue: $0) })
    }

    /// Removes the packet ids of all rows, because the broker has lost the session.
    func sessionLost() {
        loop.preconditionOnLoop()
        outgoing.sessionLost()
        inbox.forgetPacketIDs()
    }

    /// Removes all rows from the store, even rows that were not loaded, because the app has destroyed the session. The
    /// next session loads its own rows.
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
        readFailure = nil
        answer(.failure(error))
    }

    /// Removes the rows of a destroyed session now. If the removal fails or the scope is unknown, the rows are removed
    /// before the next session begins.
    private func remove(_ scope: StoreScope?) {
        guard let scope else {
            // The scope is not known, so the next session must remove the rows. This is not necessary if an earlier
            // destroyed session had a known scope, because the removal of its rows has already begun.
            isNextDestroyed = !hadScope
            return
        }
        destroyed.insert(scope)
        remove(scope, before: readingCount)
    }

    /// Removes the rows of `scope`. Repeats a failed removal until it succeeds or the next session opens. The next
    /// session removes these rows before it loads its own rows.
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

    /// Stops all work, because the client has ended. The rows stay in the store for the next process.
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
    /// Makes the scope of a client with these options. For a client id that was made from a template, the scope
    /// contains the final client id. So no client uses the rows of another client.
    package init(_ options: ConnectOptions) {
        self.init(clientID: options.clientId, broker: "\(options.host):\(options.port)")
    }
}
