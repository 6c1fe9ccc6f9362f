import CourierTransport
import Synchronization

/// A middlebox between a client and its broker. It forgets a connection without traffic after a time limit, as NATs,
/// firewalls and load balancers do.
///
/// It uses the clock of its event loop, which may be a virtual clock.
final class ForgetfulPath: Sendable {
    /// The effect on a forgotten connection.
    enum Manner: Sendable {
        /// Its bytes are dropped. Neither end is notified.
        case drops
        /// The next bytes cause a reset.
        case resets
        /// Both ends are closed when the time limit has passed.
        case closes
    }

    private struct State {
        var limit: Duration?
        var longestSurvived = Duration.zero
        var fatal: [Duration] = []
    }

    let manner: Manner
    private let state: Mutex<State>

    init(limit: Duration?, _ manner: Manner = .drops) {
        self.manner = manner
        state = Mutex(State(limit: limit))
    }

    /// The longest time without traffic that a connection survives; `nil` for no limit.
    var limit: Duration? {
        get { state.withLock { $0.limit } }
        set { state.withLock { $0.limit = newValue } }
    }

    /// The longest time without traffic after which a connection still existed.
    var longestSurvived: Duration { state.withLock { $0.longestSurvived } }
    /// The times without traffic after which connections were forgotten.
    var fatalSilences: [Duration] { state.withLock { $0.fatal } }

    /// Returns one end of a connection in memory. The path forwards its bytes to `broker`, on `loop`.
    func endpoint(to broker: TransportEndpoint, on loop: EventLoop) -> TransportEndpoint {
        let (near, far) = MemoryStream.pair()
        ByteChannel.accept(far, on: loop) { accept($0, to: broker) }
        return .stream(near)
    }

    /// Accepts connections at `port` of 127.0.0.1, and forwards their bytes to `broker`.
    func listen(port: UInt16, to broker: TransportEndpoint, on loop: EventLoop) throws {
        _ = try ChannelListener.listen(on: .tcp(port: port), loop: loop) { self.accept($0, to: broker) }
    }

    private func accept(_ channel: ByteChannel, to broker: TransportEndpoint) -> any ChannelHandler {
        let flow = Flow(self, loop: channel.loop)
        flow.begin(channel, to: broker)
        return flow.near
    }

    /// Returns true if a connection is forgotten after this time without traffic. Records the time.
    fileprivate func forgets(after silence: Duration) -> Bool {
        state.withLock { state in
            let isOver = state.limit.map { silence > $0 } ?? false
            if isOver {
                state.fatal.append(silence)
            } else {
                state.longestSurvived = max(state.longestSurvived, silence)
            }
            return isOver
        }
    }
}

/// One connection through a ``ForgetfulPath``.
///
/// Safe to share: used only on the event loop, which calls both ends.
private final class Flow: @unchecked Sendable {
    let near = FlowEnd()
    private let far = FlowEnd()
    private let path: ForgetfulPath
    private let loop: EventLoop
    private var lastBytes: ContinuousClock.Instant
    private var isForgotten = false
    private var timer: TimerToken?

    init(_ path: ForgetfulPath, loop: EventLoop) {
        self.path = path
        self.loop = loop
        lastBytes = loop.clock.now
    }

    /// Each end retains the flow until the end is closed.
    func begin(_ channel: ByteChannel, to broker: TransportEndpoint) {
        near.begin(self, channel)
        far.begin(self, ByteChannel.connect(to: broker, on: loop, handler: far))
        if path.manner == .closes { watch() }
    }

    func carry(_ bytes: RawSpan, from end: FlowEnd) {
        let silence = lastBytes.duration(to: loop.clock.now)
        if isForgotten { return }
        guard !path.forgets(after: silence) else { return forget() }
        lastBytes = loop.clock.now
        (end === near ? far : near).channel?.write(bytes)
    }

    func closed(_ end: FlowEnd) {
        end.channel = nil
        // A path that drops bytes does not report the end of a forgotten connection.
        if isForgotten, path.manner == .drops { return }
        let other = end === near ? far : near
        other.channel?.close()
        stopWatching()
    }

    private func forget() {
        isForgotten = true
        guard path.manner != .drops else { return }
        stopWatching()
        for end in [near, far] {
            if path.manner == .resets { end.channel?.abort() } else { end.channel?.close() }
        }
    }

    private func watch() {
        guard let limit = path.limit else { return }
        let due = lastBytes + limit + .milliseconds(1)
        timer = loop.schedule(at: due) { [weak self] in
            guard let self else { return }
            timer = nil
            let silence = lastBytes.duration(to: loop.clock.now)
            if silence > limit, path.forgets(after: silence) { forget() } else { watch() }
        }
    }

    private func stopWatching() {
        if let timer { loop.cancel(timer) }
        timer = nil
    }
}

/// Safe to share: used only on the event loop.
private final class FlowEnd: ChannelHandler, @unchecked Sendable {
    /// The channel; `nil` after it was closed.
    var channel: ByteChannel?
    private var flow: Flow?

    func begin(_ flow: Flow, _ channel: ByteChannel) {
        self.flow = flow
        self.channel = channel
    }

    func received(_ bytes: RawSpan) -> Int {
        flow?.carry(bytes, from: self)
        return bytes.byteCount
    }

    func closed(_ reason: ChannelCloseReason) {
        flow?.closed(self)
        flow = nil
    }
}
