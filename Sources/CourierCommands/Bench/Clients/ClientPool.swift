import CourierCore
import CourierMQTT
import CourierTransport
import Dispatch

/// The clients of a bench run: opens their connections, counts problems, and closes the connections.
///
/// All clients share one delivery queue and the event loop of the process, so that a client needs no thread.
///
/// Safe to share: mutable state is used only on the queue.
final class ClientPool: @unchecked Sendable {
    /// The events that the pool reports to the run, on the queue.
    struct Callbacks: Sendable {
        /// Receives each message of each subscriber.
        var received: @Sendable (Message) -> Void = { _ in }
        /// Called after a client has failed, or has lost its connection.
        var ended: @Sendable (BenchClient, ClientProblem) -> Void = { _, _ in }
        /// Called once, after the last connection attempt has ended.
        var settled: @Sendable () -> Void = {}
    }

    /// The interval at which the pool starts the connection attempts that are due.
    private static let pace = DispatchTimeInterval.milliseconds(5)

    private let settings: BenchArguments
    private let plan: LoadPlan
    private let queue: DispatchQueue
    private let callbacks: Callbacks
    private let isVersion5: Bool
    /// The TLS contexts, which all clients share, because a context with many certificates needs almost 1 MB.
    private let tlsContexts = TLSContextCache()

    // MARK: State, used only on the queue

    private(set) var figures = ConnectionFigures()
    private var clients: [BenchClient] = []
    private var readyCounts: [BenchClient.Role: Int] = [:]
    private var schedule: AttemptSchedule
    private var begunAt = BenchClock.now
    private var timer: (any DispatchSourceTimer)?
    private var isSettled = false
    private var isClosing = false

    /// Creates a pool without clients.
    ///
    /// - Parameters:
    ///   - settings: The checked options.
    ///   - plan: The clients to make.
    ///   - queue: The serial queue of all callbacks.
    ///   - callbacks: The callbacks.
    /// - Throws: ``CourierError`` if the options do not allow a connection.
    init(_ settings: BenchArguments, _ plan: LoadPlan, on queue: DispatchQueue, _ callbacks: Callbacks) throws {
        self.settings = settings
        self.plan = plan
        self.queue = queue
        self.callbacks = callbacks
        isVersion5 = settings.connection.version == .v5
        schedule = AttemptSchedule(count: settings.clients, rampUp: settings.rampUp)
        figures.publisherCount = settings.publishers
        figures.subscriberCount = settings.subscribers
        try CourierClientFactory().validate(configuration(settings.subscribers > 0 ? .subscriber : .publisher, 0))
    }

    /// The clients of this role that are connected and, if they are subscribers, subscribed.
    func ready(_ role: BenchClient.Role) -> [BenchClient] {
        clients.filter { $0.role == role && $0.phase == .ready }
    }

    /// The number of clients that ``ready(_:)`` returns.
    func readyCount(_ role: BenchClient.Role) -> Int { readyCounts[role, default: 0] }

    // MARK: Opening connections

    /// Begins to open the connections. Runs on the queue.
    func open() {
        begunAt = BenchClock.now
        clients.reserveCapacity(settings.clients)
        if settings.rampUp > .zero {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            timer.schedule(deadline: .now() + Self.pace, repeating: Self.pace)
            timer.setEventHandler { [weak self] in self?.beginAttempts() }
            timer.resume()
            self.timer = timer
        }
        beginAttempts()
    }

    private func beginAttempts() {
        guard !isClosing, !isSettled else { return }
        while let attempt = schedule.next(after: BenchClock.elapsed(since: begunAt)) { begin(attempt) }
        guard schedule.isDone else { return }
        isSettled = true
        timer?.cancel()
        callbacks.settled()
    }

    /// Makes a client and begins its attempt to connect.
    private func begin(_ attempt: Int) {
        let (role, index) = plan.client(of: attempt)
        let config = configuration(role, index)
        let client = BenchClient(role, index, CourierClientFactory().makeMQTTClient(config: config))
        clients.append(client)
        client.cancellables.append(
            client.client.connectionStatusPublisher.sink { [weak self, weak client] status in
                if let self, let client { changed(client, status) }
            })
        if role == .subscriber {
            client.cancellables.append(client.client.messagePublisher().sink(receiveValue: callbacks.received))
            client.client.subscribe(plan.filters[index].string, qos: settings.connection.level) {
                [weak self, weak client] result in
                if let self, let client { subscribed(client, result) }
            }
        }
        figures.tried()
        client.client.connect()
    }

    private func configuration(_ role: BenchClient.Role, _ index: Int) -> MQTTClientConfig {
        var connection = settings.connection
        connection.clientID = plan.clientID(role, index)
        var config = connection.configuration()
        config.deliveryQueue = queue
        config.tlsContexts = tlsContexts
        config.tls?.resumesSessions = false  // A resumed session would make later connections cheaper.
        return config
    }

    // MARK: Changes of a client

    private func changed(_ client: BenchClient, _ status: ConnectionStatus) {
        guard client.phase == .connecting || client.phase == .ready else { return }
        if status.state == .connected, !client.isOpen {
            client.isOpen = true
            figures.opened(in: BenchClock.now - client.begunAt, after: BenchClock.elapsed(since: begunAt))
            becomeReady(client)
        } else if let error = status.failure {
            end(client, ClientProblem(error, isLost: client.isOpen, isVersion5: isVersion5), isLost: client.isOpen)
        }
    }

    private func subscribed(_ client: BenchClient, _ result: Result<QoS, CourierError>) {
        guard client.phase == .connecting else { return }
        switch result {
        case .success:
            client.isSubscribed = true
            becomeReady(client)
        case .failure(let error):
            // A lost connection is not handled here, because it also changes the connection status, and the handler of
            // the status ends the client.
            if error.code != .connectionLost { end(client, .refusal(error.message), isLost: false) }
        }
    }

    private func becomeReady(_ client: BenchClient) {
        guard client.isOpen, client.isSubscribed else { return }
        client.phase = .ready
        readyCounts[client.role, default: 0] += 1
        schedule.ended(isSuccess: true)
        beginAttempts()
    }

    private func end(_ client: BenchClient, _ problem: ClientProblem, isLost: Bool) {
        guard !isClosing else { return }
        let wasConnecting = client.phase == .connecting
        if client.phase == .ready { readyCounts[client.role, default: 0] -= 1 }
        client.phase = isLost ? .lost : .failed
        if isLost { figures.lost(problem) } else { figures.failed(problem) }
        client.client.disconnect()  // The client would otherwise connect again.
        callbacks.ended(client, problem)
        guard wasConnecting else { return }
        schedule.ended(isSuccess: false)
        beginAttempts()
    }

    // MARK: Closing connections

    /// Closes all connections. Runs on the queue.
    ///
    /// - Parameter done: Called once on the queue, when all connections have ended.
    func close(_ done: @escaping @Sendable () -> Void) {
        isClosing = true
        timer?.cancel()
        let group = DispatchGroup()
        for client in clients where client.phase == .connecting || client.phase == .ready {
            group.enter()
            client.client.disconnect { _ in group.leave() }
        }
        group.notify(queue: queue, execute: done)
    }
}
