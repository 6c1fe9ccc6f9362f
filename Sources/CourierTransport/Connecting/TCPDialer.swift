/// The dependencies of a dialer. Tests replace some of them.
struct DialTools: Sendable {
    var resolver = HostResolver.shared
    var calls = SystemCalls.real
    /// The proxy for connections to hosts.
    var proxy = ProxySetting.direct
    /// Returns the value of an environment variable; `nil` if it is not set.
    var variable: @Sendable (String) -> String? = SystemEnvironment.value(of:)
    /// Remembers the addresses that failed for earlier connections; `nil` if failures are not remembered.
    var history: AddressHistory?
}

/// Connects to a host over TCP: looks up its name, then tries its addresses in a race.
final class TCPDialer: Dialer {
    private let host: String
    private let port: UInt16
    private let resolver: HostResolver
    private let calls: SystemCalls
    private let history: AddressHistory?
    private let loop: EventLoop
    private let options: ChannelOptions
    /// Receives an error or a connected socket, which the receiver then owns. `nil` after it was called or after
    /// `cancel()`.
    private var finished: ((Result<Int32, TransportError>) -> Void)?

    /// The look-up of the host name; `nil` after the look-up has answered.
    private var search: LookUpTicket?
    private var race = HappyEyeballs(count: 0, attemptDelay: .zero)
    private var addresses: [SocketAddress] = []
    private var attempts: [Int: SocketAttempt] = [:]
    private var failures: [TransportError] = []
    private var timer: TimerToken?

    init(
        host: String, port: UInt16, loop: EventLoop, options: ChannelOptions, tools: DialTools,
        finished: @escaping (Result<Int32, TransportError>) -> Void
    ) {
        self.host = host
        self.port = port
        self.loop = loop
        self.options = options
        self.finished = finished
        resolver = tools.resolver
        calls = tools.calls
        history = tools.history
    }

    /// Creates a dialer that passes the connected socket to a channel.
    convenience init(host: String, port: UInt16, channel: ByteChannel, tools: DialTools) {
        self.init(host: host, port: port, loop: channel.loop, options: channel.options, tools: tools) {
            [weak channel] result in
            switch (result, channel) {
            case (.success(let socket), let channel?):
                channel.attach(
                    DescriptorStream(reading: socket, writing: socket, name: channel.peerName, calls: tools.calls))
            case (.success(let socket), nil): Sockets.close(socket)
            case (.failure(let error), _): channel?.finish(.failed(error))
            }
        }
    }

    var progress: String {
        addresses.isEmpty ? "the lookup of the host name did not finish" : "no answer"
    }

    func start() {
        // If the host is an address, no look-up and no other thread is needed.
        if let numeric = try? SocketAddress.lookUp(host: host, port: port, isNumeric: true) {
            return begin(numeric)
        }
        guard !host.isEmpty, !host.utf8.contains(0) else {
            return finish(
                .failure(TransportError(.invalidConfiguration, "a host name must have a character and no NUL")))
        }
        // A look-up that has begun cannot be interrupted. So the dialer may no longer exist when the answer arrives.
        let box = WeakDialer(self)
        let loop = loop
        search = resolver.resolve(host: host, port: port) { answer in
            loop.execute { box.dialer?.resolved(answer) }
        }
    }

    func cancel() {
        // Connecting took too long or is no longer needed. The newest attempt may have had too little time, so it does
        // not count as failed. The earlier attempts had enough time, so they count as failed.
        if let newest = attempts.keys.max() {
            for overtaken in attempts.keys where overtaken < newest { remember(failureOf: overtaken) }
        }
        finished = nil
        stop()
    }

    private func resolved(_ answer: HostResolver.Answer) {
        search = nil
        guard finished != nil else { return }
        switch answer {
        case .success(let addresses): begin(addresses)
        case .failure(let error): finish(.failure(error))
        }
    }

    private func begin(_ all: [SocketAddress]) {
        let found: [SocketAddress]
        do throws(TransportError) {
            found = try options.localBinding?.reachable(all, host: host) ?? all
        } catch {
            return finish(.failure(error))
        }
        let order = HappyEyeballs.order(found.map { $0.kind == .ipv6 ? .ipv6 : .ipv4 })
        addresses = order.map { found[$0] }
        if let history { addresses = history.sorted(addresses, now: loop.clock.now) }
        race = HappyEyeballs(count: addresses.count, attemptDelay: options.attemptDelay)
        perform(race.begin(now: loop.clock.now))
    }

    private func perform(_ action: HappyEyeballs.Action) {
        switch action {
        case .none: armTimer()
        case .start(let number):
            armTimer()
            let attempt = SocketAttempt(
                addresses[number], loop: loop, calls: calls, from: options.localBinding
            ) { [weak self] attempt, result in
                self?.attemptFinished(number, attempt, result)
            }
            attempts[number] = attempt
            attempt.start()
        case .win: break  // `attemptFinished` handles a win, because it has the socket.
        case .fail: finish(.failure(summary))
        }
    }

    private func attemptFinished(_ number: Int, _ attempt: SocketAttempt, _ result: Result<Int32, TransportError>) {
        attempts[number] = nil
        switch result {
        case .success(let socket):
            guard case .win = race.succeeded(number), finished != nil else {
                Sockets.close(socket)
                return
            }
            Self.configure(socket, options)
            if addresses.count > 1 { history?.reached(addresses[number]) }
            for overtaken in attempts.keys where overtaken < number { remember(failureOf: overtaken) }
            finish(.success(socket))
        case .failure(let error):
            failures.append(error)
            remember(failureOf: number)
            perform(race.failed(number, now: loop.clock.now))
        }
    }

    private func remember(failureOf number: Int) {
        if addresses.count > 1 { history?.failed(addresses[number], now: loop.clock.now) }
    }

    private func armTimer() {
        if let timer { loop.cancel(timer) }
        timer = race.deadline.map { deadline in
            loop.schedule(at: deadline) { [weak self] in
                guard let self else { return }
                timer = nil
                perform(race.timerFired(now: deadline))
            }
        }
    }

    private func stop() {
        search?.cancel()
        search = nil
        if let timer { loop.cancel(timer) }
        timer = nil
        for attempt in attempts.values { attempt.cancel() }
        attempts = [:]
    }

    private func finish(_ result: Result<Int32, TransportError>) {
        let finished = finished
        self.finished = nil
        stop()
        finished?(result)
    }

    /// The error that reports all failed attempts. Its text begins with the most informative error. If several attempts
    /// failed, the tried addresses follow.
    private var summary: TransportError {
        func rank(_ error: TransportError) -> Int {
            switch error.code {
            case .connectionRefused: 0
            case .permissionDenied, .tooManyDescriptors: 1
            case .timedOut: 2
            default: 3
            }
        }
        guard let first = failures.min(by: { rank($0) < rank($1) }) else {
            return TransportError(.hostNotFound, "the host name “\(host)” has no address")
        }
        guard failures.count > 1 else { return first }
        return TransportError(
            first.code,
            "\(first.message) (tried for \(host):\(port): \(addresses.map(\.text).joined(separator: ", ")))",
            errno: first.errno)
    }

    /// Sets the `options` of a TCP socket. The connection continues even if the system does not support an option.
    static func configure(_ socket: Int32, _ options: ChannelOptions) {
        if options.sendsAtOnce { Sockets.setNoDelay(socket) }
        if let idle = options.keepAliveIdle {
            Sockets.setKeepAlive(socket, idle: Int32(clamping: max(1, idle.components.seconds)))
        }
    }
}
