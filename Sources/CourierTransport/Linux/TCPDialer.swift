import CLinux
import Glibc

/// What a dialer works with; a test brings its own.
struct DialTools: Sendable {
    var resolver = HostResolver.shared
    var calls = SystemCalls.real
    /// Which proxy hosts are reached through.
    var proxy = ProxySetting.direct
    /// Reads a variable of the environment.
    var variable: @Sendable (String) -> String? = SystemEnvironment.value(of:)
    /// What earlier connections have found out about addresses; `nil` where nobody remembers.
    var history: AddressHistory?
}

/// Connects to a host over TCP: looks the name up, then lets its addresses race.
final class TCPDialer: Dialer {
    private let host: String
    private let port: UInt16
    private let resolver: HostResolver
    private let calls: SystemCalls
    private let history: AddressHistory?
    private let loop: EventLoop
    private let options: ChannelOptions
    /// Gets a connected socket, to own it, or why there is none. `nil` once it was told, or nobody wants to know any more.
    private var finished: ((Result<Int32, TransportError>) -> Void)?

    /// The look-up of the name, until its answer is here.
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

    /// For a channel, which gets the socket.
    convenience init(host: String, port: UInt16, channel: ByteChannel, tools: DialTools) {
        self.init(host: host, port: port, loop: channel.loop, options: channel.options, tools: tools) {
            [weak channel] result in
            switch (result, channel) {
            case (.success(let socket), let channel?):
                channel.attach(
                    DescriptorStream(reading: socket, writing: socket, name: channel.peerName, calls: tools.calls))
            case (.success(let socket), nil): close(socket)
            case (.failure(let error), _): channel?.finish(.failed(error))
            }
        }
    }

    var progress: String {
        addresses.isEmpty ? "the look-up of the host name did not finish" : "no answer"
    }

    func start() {
        // An address needs no look-up, and so no other thread.
        if let numeric = try? SocketAddress.lookUp(host: host, port: port, isNumeric: true) {
            return begin(numeric)
        }
        guard !host.isEmpty, !host.utf8.contains(0) else {
            return finish(
                .failure(TransportError(.invalidConfiguration, "a host name may not be empty or hold a NUL")))
        }
        // The channel may be gone when the answer comes: a look-up that has begun cannot be interrupted.
        let box = WeakDialer(self)
        let loop = loop
        search = resolver.resolve(host: host, port: port) { answer in
            loop.execute { box.dialer?.resolved(answer) }
        }
    }

    func cancel() {
        // Time is over, or nobody wants it: the newest attempt may have had none, the others did.
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
        case .win: break  // Performed where the socket is at hand.
        case .fail: finish(.failure(summary))
        }
    }

    private func attemptFinished(_ number: Int, _ attempt: SocketAttempt, _ result: Result<Int32, TransportError>) {
        attempts[number] = nil
        switch result {
        case .success(let socket):
            guard case .win = race.succeeded(number), finished != nil else {
                close(socket)
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

    /// One sentence for all failed attempts: the most telling of them leads, the others are named.
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

    /// Sets what `options` say on a TCP socket. That an option is not there is no reason not to connect.
    static func configure(_ socket: Int32, _ options: ChannelOptions) {
        if options.sendsAtOnce { _ = courier_set_option(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1) }
        if let idle = options.keepAliveIdle {
            let seconds = Int32(clamping: max(1, idle.components.seconds))
            _ = courier_set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1)
            _ = courier_set_option(socket, Int32(IPPROTO_TCP), TCP_KEEPIDLE, seconds)
            _ = courier_set_option(socket, Int32(IPPROTO_TCP), TCP_KEEPINTVL, max(1, seconds / 4))
            _ = courier_set_option(socket, Int32(IPPROTO_TCP), TCP_KEEPCNT, 4)
        }
    }
}
