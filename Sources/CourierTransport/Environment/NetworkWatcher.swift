/// Reports on a loop whether the machine has a network that leads to other machines, and reports each change.
///
/// The platform's ``NetworkSource`` defines what counts as a network. The loopback does not count. Connections within
/// the machine need no network, and the watcher does not report on them.
///
/// A change that the system reports is only a hint. Each group of such changes causes a new check of the networks.
///
/// If the system refuses to report changes, as in some sandboxes, the watcher reports `true` once and then nothing
/// more. If no descriptor or memory is left, the watcher also reports only `true`, but ``tryAgain()`` can start it
/// again.
///
/// Safe to share: all state is constant, except state that only the loop uses.
package final class NetworkWatcher: @unchecked Sendable {
    typealias MakeSource = @Sendable (EventLoop) -> any NetworkSource

    /// The default time between a change and the check of the networks. The check waits, because further changes often
    /// follow the first change.
    package static let defaultSettleTime = Duration.milliseconds(250)

    /// The phases: `starting`, then `watching`. `failed` follows if no descriptor or memory is left. `stopped` is
    /// final.
    private enum Phase { case starting, watching, failed, stopped }

    private let loop: EventLoop
    private let makeSource: MakeSource
    private let report: @Sendable (_ isAvailable: Bool) -> Void
    // Only the loop uses the following state.
    private var state: NetworkWatchState
    private var source: (any NetworkSource)?
    private var timer: TimerToken?
    private var phase = Phase.starting

    /// Starts a watcher on `loop`, which keeps the watcher alive until ``stop()``. On Linux, it watches the networks in
    /// the network namespace of the loop's thread.
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
        start(
            on: loop, settleTime: settleTime, makeSource: { Platform.current.makeNetworkSource(on: $0) }, report: report
        )
    }

    static func start(
        on loop: EventLoop, settleTime: Duration, makeSource: @escaping MakeSource,
        report: @escaping @Sendable (_ isAvailable: Bool) -> Void
    ) -> NetworkWatcher {
        let watcher = NetworkWatcher(loop, settleTime, makeSource, report)
        loop.execute { watcher.begin() }
        return watcher
    }

    private init(
        _ loop: EventLoop, _ settleTime: Duration, _ makeSource: @escaping MakeSource,
        _ report: @escaping @Sendable (Bool) -> Void
    ) {
        self.loop = loop
        self.makeSource = makeSource
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
        let source = makeSource(loop)
        self.source = source
        do throws(TransportError) {
            try source.start(changed: { [weak self] in self?.changed() }, failed: { [weak self] in self?.fail($0) })
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

    /// Stops watching and reports `true`: without information about the networks, the client should try to connect.
    private func fail(_ number: Int32?) {
        phase = number.map(TransportError.isShortage) == true ? .failed : .stopped
        release()
        report(true)
    }

    private func takeLook() {
        source?.look { [weak self] finding in self?.lookEnded(finding) }
    }

    private func lookEnded(_ finding: NetworkWatchState.Finding) {
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

    private func end() {
        guard phase != .stopped else { return }
        phase = .stopped
        release()
    }

    private func release() {
        if let timer { loop.cancel(timer) }
        timer = nil
        source?.stop()
        source = nil
        loop.leave(self)
    }
}

extension NetworkWatcher: LoopResident {
    func loopWillShutDown() { end() }
}
