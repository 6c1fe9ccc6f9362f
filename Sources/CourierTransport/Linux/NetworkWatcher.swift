import CLinux
import Glibc

/// Reports on a loop whether the machine has a network that leads to other machines, and reports each change.
///
/// ``NetworkPicture`` defines what counts as a network. The loopback does not count. Connections within the machine
/// need no network, and the watcher does not report on them.
///
/// The kernel's messages about links, addresses and routes are only a hint: each group of messages causes a new
/// ``NetworkLook``. Single messages are unreliable. The kernel does not report the routes that it removes with a link,
/// and it drops messages if there are too many.
///
/// If the kernel refuses a routing socket, as in some sandboxes, the watcher reports `true` once and then nothing more.
/// It does the same if no descriptor or memory is left, but then ``tryAgain()`` can start the watcher again.
///
/// Safe to share: all state is constant, except state that only the loop uses.
package final class NetworkWatcher: @unchecked Sendable {
    /// Creates a routing socket that receives changes of the given netlink groups. Returns a negative error number on
    /// failure.
    typealias MakeSocket = @Sendable (_ groups: UInt32) -> Int32

    /// The default time between a change and the check of the networks. Further changes may follow in this time.
    package static let defaultSettleTime = Duration.milliseconds(250)
    /// The maximum number of datagrams discarded in one turn. After that, the loop does its other work first.
    private static let datagramsPerTurn = 64
    private static let groups =
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE

    /// The phases: `starting`, then `watching`. `failed` follows if no descriptor or memory is left. `stopped` is
    /// final.
    private enum Phase { case starting, watching, failed, stopped }

    private let loop: EventLoop
    private let makeSocket: MakeSocket
    private let report: @Sendable (_ isAvailable: Bool) -> Void
    // Only the loop uses the following state.
    private var state: NetworkWatchState
    private var socket: Int32?
    private var registration: Selector.Registration?
    private var timer: TimerToken?
    private var look: NetworkLook?
    private var isTurnQueued = false
    private var phase = Phase.starting

    /// Starts a watcher on `loop`, which keeps the watcher alive until ``stop()``. It watches the networks that the
    /// loop's thread sees.
    ///
    /// - Parameters:
    ///   - loop: The loop that runs the watcher and the reports.
    ///   - settleTime: The time between a change and the check of the networks; by default 250 ms.
    ///   - report: Called on the loop with the availability of a network: once at the start, then after every change.
    /// - Returns: The watcher.
    package static func start(
        on loop: EventLoop, settleTime: Duration = defaultSettleTime,
        report: @escaping @Sendable (_ isAvailable: Bool) -> Void
    ) -> NetworkWatcher {
        start(on: loop, settleTime: settleTime, makeSocket: { courier_routing_socket($0) }, report: report)
    }

    static func start(
        on loop: EventLoop, settleTime: Duration, makeSocket: @escaping MakeSocket,
        report: @escaping @Sendable (_ isAvailable: Bool) -> Void
    ) -> NetworkWatcher {
        let watcher = NetworkWatcher(loop, settleTime, makeSocket, report)
        loop.execute { watcher.begin() }
        return watcher
    }

    private init(
        _ loop: EventLoop, _ settleTime: Duration, _ makeSocket: @escaping MakeSocket,
        _ report: @escaping @Sendable (Bool) -> Void
    ) {
        self.loop = loop
        self.makeSocket = makeSocket
        self.report = report
        state = NetworkWatchState(settleTime: settleTime)
    }

    /// Starts watching again if the watcher failed because no descriptor or memory was left. May be called from any
    /// thread.
    package func tryAgain() {
        if loop.isOnLoop { beginAgain() } else { loop.execute { self.beginAgain() } }
    }

    /// Stops watching. May be called from any thread. If it is called on the loop, no report follows after it returns.
    package func stop() {
        if loop.isOnLoop { end() } else { loop.execute { self.end() } }
    }

    // MARK: Called on the event loop

    private func begin() {
        guard phase == .starting else { return }
        phase = .watching
        loop.settle(self)
        let socket = makeSocket(UInt32(Self.groups))
        guard socket >= 0 else { return fail(-socket) }
        self.socket = socket
        do throws(TransportError) {
            registration = try loop.selector.register(socket, reads: true, writes: false, self)
        } catch {
            return fail(error.errno)
        }
        takeLook()
    }

    private func beginAgain() {
        guard phase == .failed else { return }
        phase = .starting
        begin()
    }

    /// Stops watching and reports `true`: without information from the kernel, the client should try to connect.
    private func fail(_ number: Int32?) {
        phase = number.map(TransportError.isShortage) == true ? .failed : .stopped
        release()
        report(true)
    }

    private func takeLook() {
        let look = NetworkLook(loop, makeSocket: makeSocket) { [weak self] finding in self?.lookEnded(finding) }
        self.look = look
        look.begin()
    }

    private func lookEnded(_ finding: NetworkWatchState.Finding) {
        look = nil
        let consequence = state.lookEnded(finding, now: loop.clock.now)
        if let deadline = consequence.timer { setTimer(deadline) }
        if let isAvailable = consequence.isAvailable { report(isAvailable) }
    }

    private func setTimer(_ deadline: ContinuousClock.Instant) {
        timer = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            if state.timerFired() { takeLook() }
        }
    }

    private func changed() {
        if let deadline = state.changed(now: loop.clock.now) { setTimer(deadline) }
    }

    private func readTurn() {
        for _ in 0..<Self.datagramsPerTurn {
            guard let socket else { return }
            let result = courier_routing_receive(socket, loop.readBuffer.baseAddress, loop.readBuffer.count)
            switch result {
            // ENOBUFS: the socket had no space for all messages. Lost messages show that the networks changed, as
            // received messages do.
            case 0..., -Int(ENOBUFS), -Int(EMSGSIZE): changed()
            case -Int(EINTR), -Int(EBADMSG): continue
            case -Int(EAGAIN): return
            // The waiting messages cannot be read now. They are read when the next message arrives.
            case -Int(ENOMEM): return changed()
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

    private func end() {
        guard phase != .stopped else { return }
        phase = .stopped
        release()
    }

    private func release() {
        if let timer { loop.cancel(timer) }
        timer = nil
        look?.cancel()
        look = nil
        if let registration { loop.selector.remove(registration) }
        registration = nil
        if let socket { _ = Glibc.close(socket) }
        socket = nil
        loop.leave(self)
    }
}

extension NetworkWatcher: Selectable {
    func ready(_ events: ReadyEvents) { readTurn() }
}

extension NetworkWatcher: LoopResident {
    func loopWillShutDown() { end() }
}
