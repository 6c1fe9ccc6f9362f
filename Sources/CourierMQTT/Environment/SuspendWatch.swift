import CourierTransport

/// Reports to all clients of an event loop that the machine was suspended and runs again. Calls the listeners on this
/// event loop.
final class SuspendWatch: Sendable {
    /// A function that starts a watcher on a loop.
    typealias Start = (EventLoop, _ resumed: @escaping @Sendable (Duration) -> Void) -> SuspendWatcher

    private static let share = LoopShare<SuspendWatch>()

    let listeners = Listeners<Void>()
    private let loop: EventLoop
    private let watcher: SuspendWatcher

    /// Returns the shared watch of `loop`, which runs as long as a client references it. If the watch failed to start
    /// before, this call tries again, for all clients that share the watch.
    static func shared(
        on loop: EventLoop, start: Start = { SuspendWatcher.start(on: $0, resumed: $1) }
    ) -> SuspendWatch {
        var isNew = false
        let watch = share.part(of: loop) {
            isNew = true
            return SuspendWatch(loop, start)
        }
        if !isNew { watch.watcher.tryAgain() }
        return watch
    }

    private init(_ loop: EventLoop, _ start: Start) {
        self.loop = loop
        watcher = start(loop) { [listeners] _ in listeners.tell(()) }
    }

    deinit {
        watcher.stop()
        Self.share.ended(on: loop)
    }
}
