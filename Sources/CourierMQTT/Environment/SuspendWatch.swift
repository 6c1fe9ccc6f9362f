import CourierTransport

/// Tells the clients of a loop, on the loop, that the machine was suspended and is awake again; one watcher serves all of
/// them.
final class SuspendWatch: Sendable {
    private static let share = LoopShare<SuspendWatch>()

    let listeners = Listeners<Void>()
    private let loop: EventLoop
    private let watcher: SuspendWatcher

    /// What watches on `loop` as long as somebody holds it.
    static func shared(on loop: EventLoop) -> SuspendWatch { share.part(of: loop) { SuspendWatch(loop) } }

    private init(_ loop: EventLoop) {
        self.loop = loop
        watcher = SuspendWatcher.start(on: loop) { [listeners] _ in listeners.tell(()) }
    }

    deinit {
        watcher.stop()
        Self.share.ended(on: loop)
    }
}
