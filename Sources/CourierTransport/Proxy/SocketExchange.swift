/// Runs a ``ProxyHandshake`` over a connected socket, before a stream uses the socket.
///
/// The exchange reads only the bytes that the handshake needs. Later bytes stay in the socket for its next owner. Only
/// the loop uses this object.
final class SocketExchange: Selectable {
    /// The maximum number of reads before the loop serves its other connections.
    private static let readsPerTurn = 256
    /// The maximum number of bytes per read. It is small, because the proxy's answers are short.
    private static let bufferSize = 512

    private var socket: Int32
    private var handshake: any ProxyHandshake
    private let loop: EventLoop
    private let name: String
    private let calls: SystemCalls
    private var outgoing: [UInt8] = []
    private var registration: Selector.Registration?
    private var finished: ((Result<Int32, TransportError>) -> Void)?

    /// Creates an exchange. It owns `socket` until the exchange fails or `finished` receives the socket. `name` is the
    /// peer's name in error messages.
    init(
        _ socket: Int32, _ handshake: any ProxyHandshake, loop: EventLoop, name: String, calls: SystemCalls,
        finished: @escaping (Result<Int32, TransportError>) -> Void
    ) {
        self.socket = socket
        self.handshake = handshake
        self.loop = loop
        self.name = name
        self.calls = calls
        self.finished = finished
    }

    var progress: String { handshake.progress }

    var hasAskedForTarget: Bool { handshake.hasAskedForTarget }

    func start() {
        do throws(TransportError) {
            registration = try loop.selector.register(socket, reads: true, writes: true, self)
        } catch {
            return finish(.failure(error))
        }
        outgoing = handshake.begin()
        advance()
    }

    func ready(_ events: ReadyEvents) { advance() }

    /// Stops the exchange and closes the socket. `finished` is not called.
    func cancel() {
        finished = nil
        release()
        closeSocket()
    }

    private func advance() {
        write()
        read()
    }

    private func write() {
        while !outgoing.isEmpty, finished != nil {
            let result = outgoing.withUnsafeBytes { bytes -> Int in
                guard let base = bytes.baseAddress else { return 0 }
                return calls.send(socket, base, bytes.count)
            }
            if result == -Int(ErrorNumber.interrupted) { continue }
            if result == -Int(ErrorNumber.again) { return loop.selector.rearm(registration, .writable) }
            // Writing failed, but the peer may have sent a reason before it closed the connection. So the received
            // bytes are still read.
            guard result >= 0 else { return outgoing.removeAll() }
            outgoing.removeFirst(result)
        }
    }

    private func read() {
        for _ in 0..<Self.readsPerTurn {
            guard finished != nil else { return }
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: min(handshake.wantedCount, Self.bufferSize)) {
                space, initialized in
                guard let base = space.baseAddress else { return }
                count = calls.receive(socket, base, space.count)
                initialized = max(0, count)
            }
            switch count {
            case 1...: received(bytes)
            case 0: return finish(.failure(handshake.closedError))
            case -Int(ErrorNumber.interrupted): break
            case -Int(ErrorNumber.again): return loop.selector.rearm(registration, .readable)
            case -Int(ErrorNumber.connectionReset): return finish(.failure(reset))
            default: return finish(.failure(.system(Int32(-count), name)))
            }
        }
        // The remaining bytes are read later, at the end of this round, because the system does not report the socket's
        // event again.
        loop.runLater { [weak self] in self?.read() }
    }

    /// The error for a reset. It equals the error for a closed connection, but contains the
    /// error number of a reset.
    private var reset: TransportError {
        let closed = handshake.closedError
        return TransportError(closed.code, closed.message, errno: ErrorNumber.connectionReset)
    }

    private func received(_ bytes: [UInt8]) {
        do throws(TransportError) {
            let action = try bytes.withUnsafeBufferPointer { bytes throws(TransportError) in
                try handshake.received(bytes.span)
            }
            switch action {
            case .none: break
            case .send(let answer):
                outgoing += answer
                write()
            case .done: finish(.success(socket))
            }
        } catch {
            finish(.failure(error))
        }
    }

    private func finish(_ result: Result<Int32, TransportError>) {
        guard let finished else { return }
        self.finished = nil
        release()
        switch result {
        case .success: socket = -1
        case .failure: closeSocket()
        }
        finished(result)
    }

    private func release() {
        if let registration { loop.selector.remove(registration) }
        registration = nil
    }

    private func closeSocket() {
        if socket >= 0 { Sockets.close(socket) }
        socket = -1
    }
}
