import CLinux
import Glibc

/// One look at the machine's networks: asks the kernel for links, addresses and routes, until the answer is clear.
///
/// The kernel makes its answer as it is read, so leaving early saves the rest, and it never lets the loop wait.
/// Touched on the loop only.
final class NetworkLook: Selectable {
    /// How many datagrams one turn reads before others have theirs.
    private static let datagramsPerTurn = 16
    /// A machine that tells more than this has so many links and routes that it surely is on a network.
    private static let messageLimit = 100_000

    private let loop: EventLoop
    private let makeSocket: NetworkWatcher.MakeSocket
    private var ended: ((NetworkWatchState.Finding) -> Void)?
    private var socket: Int32?
    private var registration: Selector.Registration?
    private var remaining = [UInt16(RTM_GETLINK), UInt16(RTM_GETADDR), UInt16(RTM_GETROUTE)][...]
    private var picture = NetworkPicture()
    private var messageCount = 0
    private var wasInterrupted = false
    private var isTurnQueued = false

    /// Prepares a look; `ended` is told what it found, once, unless it is cancelled before.
    init(
        _ loop: EventLoop, makeSocket: @escaping NetworkWatcher.MakeSocket,
        _ ended: @escaping (NetworkWatchState.Finding) -> Void
    ) {
        self.loop = loop
        self.makeSocket = makeSocket
        self.ended = ended
    }

    func begin() {
        let socket = makeSocket(0)
        guard socket >= 0 else { return fail(-socket) }
        self.socket = socket
        do throws(TransportError) {
            registration = try loop.selector.register(socket, reads: true, writes: false, self)
        } catch {
            return fail(error.errno)
        }
        askNext()
        readTurn()
    }

    func cancel() {
        ended = nil
        close()
    }

    func ready(_ events: ReadyEvents) { readTurn() }

    private func readTurn() {
        for _ in 0..<Self.datagramsPerTurn {
            guard let socket else { return }
            let result = courier_routing_receive(socket, loop.readBuffer.baseAddress, loop.readBuffer.count)
            switch result {
            case 0...: take(UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<Int(result)]).bytes)
            case -Int(EAGAIN): return
            case -Int(EINTR), -Int(EBADMSG): continue
            default: return fail(Int32(clamping: -result))
            }
        }
        guard !isTurnQueued else { return }
        isTurnQueued = true
        loop.runLater { [self] in
            isTurnQueued = false
            readTurn()
        }
    }

    private func take(_ datagram: RawSpan) {
        NetlinkMessage.parse(datagram) { message in
            messageCount += 1
            switch message {
            case .link, .address, .route: picture.add(message)
            case .interrupted: wasInterrupted = true
            case .done: askNext()
            case .refused(0), .other: break
            case .refused(let number): fail(number)
            }
            if picture.isAvailable || messageCount >= Self.messageLimit { end(.seen(isAvailable: true)) }
            return socket != nil
        }
    }

    private func askNext() {
        guard let socket else { return }
        guard let kind = remaining.popFirst() else {
            return end(wasInterrupted ? .inconsistent : .seen(isAvailable: false))
        }
        let result = courier_routing_dump(socket, kind, UInt32(kind))
        if result < 0 { fail(-result) }
    }

    /// The kernel does not tell, for this error number. What it lacks now it may have the next time.
    private func fail(_ number: Int32?) {
        end(number.map(TransportError.isShortage) == true ? .inconsistent : .unknown)
    }

    private func end(_ finding: NetworkWatchState.Finding) {
        close()
        let ended = ended.take()
        ended?(finding)
    }

    private func close() {
        if let registration { loop.selector.remove(registration) }
        registration = nil
        if let socket { _ = Glibc.close(socket) }
        socket = nil
    }
}
