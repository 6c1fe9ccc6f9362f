#if os(Linux)
    import CLinux
    import Glibc

    /// Checks the machine's networks once: requests links, addresses and routes from the kernel until the result is
    /// clear.
    ///
    /// The kernel creates its answer while the answer is read, so the check saves work when it ends early. Reading
    /// never blocks the loop. Only the loop uses this object.
    final class NetworkLook: Selectable {
        /// The maximum number of datagrams that are read before the loop does its other work.
        private static let datagramsPerTurn = 16
        /// The maximum number of messages that are read. A machine with more links and routes surely has a network, so the
        /// result is then `true`.
        private static let messageLimit = 100_000

        private let loop: EventLoop
        private let makeSocket: NetlinkSource.MakeSocket
        private var ended: ((NetworkWatchState.Finding) -> Void)?
        private var socket: Int32?
        private var registration: Selector.Registration?
        private var remaining = [UInt16(RTM_GETLINK), UInt16(RTM_GETADDR), UInt16(RTM_GETROUTE)][...]
        private var picture = NetworkPicture()
        private var messageCount = 0
        private var wasInterrupted = false
        private var isTurnQueued = false

        /// Prepares a check of the networks. `ended` receives the result once, unless the check is cancelled before it ends.
        init(
            _ loop: EventLoop, makeSocket: @escaping NetlinkSource.MakeSocket,
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
                case -Int(EAGAIN): return loop.selector.rearm(registration, .readable)
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

        /// Ends the check after an error. If descriptors or memory are short, this may be temporary. The result is then
        /// `inconsistent`, which causes another check.
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
            if let socket { Sockets.close(socket) }
            socket = nil
        }
    }
#endif
