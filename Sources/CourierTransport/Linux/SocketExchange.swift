import Glibc

/// Runs a ``ProxyHandshake`` over a connected socket, before the socket becomes a stream.
///
/// It reads no byte more than the handshake wants: what follows stays in the socket for whoever gets it. On the loop only.
final class SocketExchange: Selectable {
    /// How many reads follow each other before the other connections of the loop have their turn.
    private static let readsPerTurn = 256
    /// How many bytes are read at a time; answers are short.
    private static let bufferSize = 512

    private var socket: Int32
    private var handshake: any ProxyHandshake
    private let loop: EventLoop
    private let name: String
    private let calls: SystemCalls
    private var outgoing: [UInt8] = []
    private var registration: Selector.Registration?
    private var finished: ((Result<Int32, TransportError>) -> Void)?

    /// An exchange over `socket`, which is its own until `finished` gets it back, or until it fails. `name` is how messages
    /// call the other side.
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

    /// Gives up without a word.
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
            if result == -Int(EINTR) { continue }
            if result == -Int(EAGAIN) { return }
            // What the other side said before it closed may say why, so that is read.
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
            case -Int(EINTR): break
            case -Int(EAGAIN): return
            case -Int(ECONNRESET): return finish(.failure(reset))
            default: return finish(.failure(.system(Int32(-count), name)))
            }
        }
        // Nothing is announced twice, so the rest has to be asked for.
        loop.runLater { [weak self] in self?.read() }
    }

    /// A reset is an end with less ceremony.
    private var reset: TransportError {
        let closed = handshake.closedError
        return TransportError(closed.code, closed.message, errno: ECONNRESET)
    }

    private func received(_ bytes: [UInt8]) {
        do throws(TransportError) {
            switch try handshake.received(bytes.span) {
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
        if socket >= 0 { close(socket) }
        socket = -1
    }
}
