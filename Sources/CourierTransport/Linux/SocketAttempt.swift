import CLinux
import Glibc

/// One attempt to connect one socket to one address.
final class SocketAttempt: Selectable {
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
        let made = courier_stream_socket(address.family)
        guard made >= 0 else { return finish(.failure(.system(-made, address.text))) }
        socket = made
        do throws(TransportError) {
            try local?.bind(socket)
        } catch {
            return finish(.failure(error))
        }
        while true {
            let result = address.bytes.withUnsafeBytes { bytes -> Int32 in
                guard let base = bytes.baseAddress else { return -EINVAL }
                return calls.connect(socket, base, UInt32(bytes.count))
            }
            switch -result {
            case 0: return finish(.success(socket))
            // After an interruption, the system continues to connect in the background. A second call would report
            // EALREADY.
            case EINPROGRESS, EINTR, EALREADY: return waitUntilWritable()
            // The queue of the Unix listener is full. No event reports when the queue has space again, so the attempt
            // fails.
            case EAGAIN:
                return finish(
                    .failure(
                        TransportError(
                            .connectionRefused, "connection refused: \(address.text) is overloaded", errno: EAGAIN)))
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
        let number = courier_socket_error(socket)
        if number != 0 { return finish(.failure(.system(number, address.text))) }
        // Some systems report a hang-up for a socket that has not yet begun to connect. The report is ignored.
        if events.contains(.inputEnded), !isConnected { return }
        finish(.success(socket))
    }

    private var isConnected: Bool {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout.size(ofValue: address))
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) == 0 }
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
        case .failure, nil: if socket >= 0 { close(socket) }
        }
        socket = -1
        let finished = self.finished
        self.finished = nil
        if let result { finished?(self, result) }
    }
}
