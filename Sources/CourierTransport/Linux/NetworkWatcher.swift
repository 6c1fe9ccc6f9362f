import CLinux
import Glibc

/// Tells, on a loop, whether the machine is on a network that leads to other machines, and when that changes.
///
/// ``NetworkPicture`` says what counts as a network. The loopback does not: a connection within the machine needs
/// none, and is not spoken of here.
///
/// The kernel's messages about links, addresses and routes serve as a hint only; each burst of them is answered by
/// a fresh ``NetworkLook``. Following them one by one would go wrong, because the kernel removes the routes of
/// a link that goes down without a word, and drops messages when there are too many.
///
/// Where the kernel refuses (a sandbox may forbid routing sockets), `true` is reported once and nothing more. Where it has no
/// descriptor or memory left, the same until ``tryAgain()``.
///
/// Safe to share: constant, but for what is touched on the loop only.
package final class NetworkWatcher: @unchecked Sendable {
    /// Makes a routing socket that is told of these groups of changes; a negative error number if there is none.
    typealias MakeSocket = @Sendable (_ groups: UInt32) -> Int32

    /// How long to wait for more changes before looking.
    package static let defaultSettleTime = Duration.milliseconds(250)
    /// How many datagrams one turn throws away before others have theirs.
    private static let datagramsPerTurn = 64
    private static let groups =
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE

    /// `starting → watching`, or `failed` for want of a descriptor or memory; `stopped` is final.
    private enum Phase { case starting, watching, failed, stopped }

    private let loop: EventLoop
    private let makeSocket: MakeSocket
    private let report: @Sendable (_ isAvailable: Bool) -> Void
    // Touched on the loop only.
    private var state: NetworkWatchState
    private var socket: Int32?
    private var registration: Selector.Registration?
    private var timer: TimerToken?
    private var look: NetworkLook?
    private var isTurnQueued = false
    private var phase = Phase.starting

    /// Watches on `loop`, which keeps the watcher alive until ``stop()``; the networks are those that the loop's
    /// thread sees.
    ///
    /// - Parameters:
    ///   - loop: Where it watches and reports.
    ///   - settleTime: How long to wait for more changes before looking, 250 ms by default.
    ///   - report: Told on the loop whether there is a network: once at the beginning, then every change.
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

    /// Watches from now on if it could not before for want of a descriptor or memory. From any thread.
    package func tryAgain() {
        if loop.isOnLoop { beginAgain() } else { loop.execute { self.beginAgain() } }
    }

    /// Stops watching. From any thread; called on the loop, nothing is reported after it has returned.
    package func stop() {
        if loop.isOnLoop { end() } else { loop.execute { self.end() } }
    }

    // MARK: The loop's side

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

    /// Without the kernel's word, nothing speaks against connecting.
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
            // ENOBUFS: there were more than the socket holds, and the lost ones are as good a hint.
            case 0..., -Int(ENOBUFS), -Int(EMSGSIZE): changed()
            case -Int(EINTR), -Int(EBADMSG): continue
            case -Int(EAGAIN): return
            // What waits is read with the next message.
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
