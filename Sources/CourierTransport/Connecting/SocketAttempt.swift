/// One attempt to connect one socket to one address.
final class SocketAttempt: Selectable {
    /// The pause before the selector is rearmed, if it reported a hang-up of a socket that has not yet begun to
    /// connect.
    private static let hangUpPause = Duration.milliseconds(10)

    let address: SocketAddress
    private let loop: EventLoop
    private let calls: SystemCalls
    private let local: LocalBinding?
    private var socket: Int32 = -1
    private var registration: Selector.Registration?
    private var finished: ((SocketAttempt, Result<Int32, TransportError>) -> Void)?

    init(
        _ address: SocketAddress, loop: EventLoop, calls: SystemCalls, from local: LocalBinding? = nil,
        finished: @escaping (SocketAttempt, Result<Int32, TransportError>) -> Void
    ) {
        self.address = address
        self.loop = loop
        self.calls = calls
        self.local = local
        self.finished = finished
    }

    /// Starts the attempt. `finished` receives an error or a connected socket, which `finished` then owns. `finished`
    /// may be called before this function returns.
    func start() {
        let made = Platform.current.makeStreamSocket(family: address.family)
        guard made >= 0 else { return finish(.failure(.system(-made, address.text))) }
        socket = made
        do throws(TransportError) {
            try local?.bind(socket)
        } catch {
            return finish(.failure(error))
        }
        while true {
            let result = address.withSystemAddress { calls.connect(socket, $0, $1) }
            switch -result {
            case 0: return finish(.success(socket))
            // After an interruption, the call is not repeated: the system continues to connect in the background, and a
            // second call would report EALREADY.
            case ErrorNumber.inProgress, ErrorNumber.interrupted, ErrorNumber.alreadyConnecting:
                return waitUntilWritable()
            // The queue of the Unix listener is full. No event reports when the queue has space again, so the attempt
            // fails.
            case ErrorNumber.again:
                return finish(
                    .failure(
                        TransportError(
                            .connectionRefused, "connection refused: \(address.text) is overloaded",
                            errno: ErrorNumber.again)))
            default: return finish(.failure(.system(-result, address.text)))
            }
        }
    }

    private func waitUntilWritable() {
        do throws(TransportError) {
            registration = try loop.selector.register(socket, reads: false, writes: true, self)
        } catch {
            finish(.failure(error))
        }
    }

    func ready(_ events: ReadyEvents) {
        let number = Sockets.pendingError(socket)
        if number != 0 { return finish(.failure(.system(number, address.text))) }
        // This report is ignored, because some systems report a hang-up for a socket that has not yet begun to connect.
        if events.contains(.inputEnded), !Sockets.isConnected(socket) { return rearmLater() }
        finish(.success(socket))
    }

    /// Rearms the selector after a pause, because the selector may report the same hang-up again at once.
    private func rearmLater() {
        guard loop.selector.needsRearming else { return }
        loop.schedule(at: loop.clock.now + Self.hangUpPause) { [weak self] in
            guard let self else { return }
            loop.selector.rearm(registration, .writable)
        }
    }

    func cancel() {
        finished = nil
        finish(nil)
    }

    private func finish(_ result: Result<Int32, TransportError>?) {
        if let registration { loop.selector.remove(registration) }
        registration = nil
        switch result {
        case .success: break
        case .failure, nil: if socket >= 0 { Sockets.close(socket) }
        }
        socket = -1
        let finished = self.finished
        self.finished = nil
        if let result { finished?(self, result) }
    }
}
