#if os(Linux)
    import CLinux
    import Glibc

    /// Reports changes of the networks with the kernel's messages about links, addresses and routes.
    ///
    /// The messages are only a hint. Single messages are unreliable: the kernel does not report the routes that it removes
    /// with a link, and it drops messages if there are too many. ``NetworkPicture`` defines what counts as a network.
    final class NetlinkSource: NetworkSource, Selectable {
        /// Creates a routing socket that receives changes of the given netlink groups. Returns a negative error number on
        /// failure.
        typealias MakeSocket = @Sendable (_ groups: UInt32) -> Int32

        /// The maximum number of datagrams that are discarded before the loop does its other work.
        private static let datagramsPerTurn = 64
        private static let groups =
            RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE

        private let loop: EventLoop
        private let makeSocket: MakeSocket
        private var changed: (() -> Void)?
        private var failed: ((Int32?) -> Void)?
        private var socket: Int32?
        private var registration: Selector.Registration?
        private var currentLook: NetworkLook?
        private var isTurnQueued = false

        /// Prepares a source on `loop`. Tests replace `makeSocket`.
        init(_ loop: EventLoop, makeSocket: @escaping MakeSocket = { courier_routing_socket($0) }) {
            self.loop = loop
            self.makeSocket = makeSocket
        }

        func start(
            changed: @escaping () -> Void, failed: @escaping (_ number: Int32?) -> Void
        ) throws(TransportError) {
            self.changed = changed
            self.failed = failed
            let socket = makeSocket(UInt32(Self.groups))
            guard socket >= 0 else { throw TransportError.system(-socket, "the kernel's messages about networks") }
            self.socket = socket
            registration = try loop.selector.register(socket, reads: true, writes: false, self)
        }

        func look(_ ended: @escaping (NetworkWatchState.Finding) -> Void) {
            let look = NetworkLook(loop, makeSocket: makeSocket) { [weak self] finding in
                self?.currentLook = nil
                ended(finding)
            }
            currentLook = look
            look.begin()
        }

        func stop() {
            changed = nil
            failed = nil
            currentLook?.cancel()
            currentLook = nil
            if let registration { loop.selector.remove(registration) }
            registration = nil
            if let socket { Sockets.close(socket) }
            socket = nil
        }

        func ready(_ events: ReadyEvents) { readTurn() }

        private func readTurn() {
            for _ in 0..<Self.datagramsPerTurn {
                guard let socket else { return }
                let result = courier_routing_receive(socket, loop.readBuffer.baseAddress, loop.readBuffer.count)
                switch result {
                // ENOBUFS: the socket had no space for all messages. A lost message also means that the networks have
                // changed.
                case 0..., -Int(ENOBUFS), -Int(EMSGSIZE): changed?()
                case -Int(EINTR), -Int(EBADMSG): continue
                case -Int(EAGAIN): return loop.selector.rearm(registration, .readable)
                // ENOMEM: the system has no memory to deliver the waiting messages now. They are read when the next
                // message arrives.
                case -Int(ENOMEM):
                    changed?()
                    return loop.selector.rearm(registration, .readable)
                default:
                    failed?(Int32(clamping: -result))
                    return
                }
            }
            guard !isTurnQueued else { return }
            isTurnQueued = true
            loop.runLater { [self] in
                isTurnQueued = false
                readTurn()
            }
        }
    }

    extension NetworkWatcher {
        /// Starts a watcher that creates its routing sockets with `makeSocket`, for tests.
        static func start(
            on loop: EventLoop, settleTime: Duration, makeSocket: @escaping NetlinkSource.MakeSocket,
            report: @escaping @Sendable (_ isAvailable: Bool) -> Void
        ) -> NetworkWatcher {
            start(
                on: loop, settleTime: settleTime, makeSource: { NetlinkSource($0, makeSocket: makeSocket) },
                report: report)
        }
    }
#endif
