import Synchronization

/// Queues the signals (values and completions) of any number of senders. Delivers the signals one at a time, in the
/// order of the `put` calls, without holding a lock.
///
/// ```
/// idle ──claim──▶ delivering ──queue empty──▶ idle
///                      ▲ │ put: the delivering thread takes the signal later
///                      └─┘
/// ```
///
/// `put` may be called while the lock of the mailbox's owner is held, so that several mailboxes receive signals in the
/// same order. `claim` and `deliver` must be called without a lock.
final class SerialMailbox<Output: Sendable, Failure: Error>: Sendable {
    typealias Signal = PublisherSignal<Output, Failure>

    /// Whether the mailbox accepts signals (`open`), has received the completion (`ended`), or drops everything
    /// (`closed`).
    private enum Phase { case open, ended, closed }

    /// The state that the lock `control` guards. If no signal (value or completion) waits, a new signal needs only this
    /// lock.
    ///
    /// The struct is not generic, for speed. If the lock were generic, unspecialized code would look up type metadata
    /// at each use.
    private struct Control {
        var phase = Phase.open
        var isDelivering = false
        var waiting = 0  // The number of signals in `queue`.
    }

    private let control = Mutex(Control())
    private let queue: Mutex<BoundedQueue<Signal>>  // Locked only while `control` is locked.
    private let policy: BufferPolicy
    private let measure: (@Sendable (Signal) -> Int)?
    private let receive: @Sendable (Signal) -> Void

    init(_ policy: BufferPolicy, receive: @escaping @Sendable (Signal) -> Void) {
        measure = Self.measure
        queue = Mutex(BoundedQueue(policy, measure: measure))
        self.policy = policy
        self.receive = receive
    }

    /// Adds a signal (a value or the completion) to the queue. Does nothing after the completion.
    ///
    /// - Returns: The signals that were dropped because there was no room. The caller must release and report them
    ///   without holding a lock.
    func put(_ signal: Signal) -> [Signal] {
        control.withLock { control in
            guard control.phase == .open else { return [] }
            switch signal {
            case .value:
                let (dropped, count) = queue.withLock { ($0.append(signal), $0.count) }
                control.waiting = count
                return dropped
            case .completion:
                control.phase = .ended
                control.waiting += 1
                queue.withLock { $0.appendBeyondLimit(signal) }
                return []
            }
        }
    }

    private static var measure: (@Sendable (Signal) -> Int)? {
        guard let measure = memoryMeasure(of: Output.self) else { return nil }
        return { if case .value(let value) = $0 { measure(value) } else { 0 } }
    }

    func report(_ dropped: [Signal]) { for _ in dropped { policy.onDrop?() } }

    /// Claims the right to deliver the queued signals (values and completions). If the result is `true`, the caller
    /// must call ``deliver(atMost:)`` until that method returns `false`. The result is `false` if no signal waits, or
    /// if another caller has the right.
    func claim() -> Bool {
        control.withLock { control in
            guard !control.isDelivering, control.waiting > 0 else { return false }
            control.isDelivering = true
            return true
        }
    }

    /// Claims the right to deliver a value directly, so that the value need not wait in the queue. If the result is
    /// `true`, the caller must call ``deliverHere(first:)``. The result is `false` if a value waits or is being
    /// delivered, or if the mailbox has received the completion.
    func claimIdle() -> Bool {
        control.withLock { control in
            guard control.phase == .open, !control.isDelivering, control.waiting == 0 else { return false }
            control.isDelivering = true
            return true
        }
    }

    /// Delivers waiting signals (values and completions). The caller must have claimed the right with `claim()` or
    /// `claimIdle()`.
    ///
    /// - Returns: `true` if `limit` signals were delivered. The caller then still has the right, and must call this
    ///   method again. `false` if no signal waits. The caller then no longer has the right.
    func deliver(atMost limit: Int) -> Bool {
        for _ in 0..<limit {
            guard mayGoOn() else { return false }
            if let signal = pop() { receive(signal) }
        }
        return true
    }

    private func mayGoOn() -> Bool {
        control.withLock { control in
            control.isDelivering = control.waiting > 0
            return control.isDelivering
        }
    }

    /// Removes and returns the next signal (value or completion); `nil` if the mailbox was closed.
    private func pop() -> Signal? {
        control.withLock { control in
            let signal = queue.withLock { $0.popFirst() }
            if signal != nil { control.waiting -= 1 }
            return signal
        }
    }

    /// Delivers a signal (a value or the completion) that is not in the queue, and then the signals that arrive during
    /// the delivery. The caller must have claimed the right with `claimIdle()`.
    func deliverHere(first signal: Signal) {
        receive(signal)
        while deliver(atMost: .max) {}
    }

    /// Delivers the waiting signals on this thread, unless another thread is delivering.
    func deliverHere() {
        guard claim() else { return }
        while deliver(atMost: .max) {}
    }

    /// Drops the waiting signals (values and completion), and ignores all later signals.
    func close() {
        let forgotten = control.withLock { control in
            control.phase = .closed
            control.waiting = 0
            return queue.withLock { queue in
                defer { queue = BoundedQueue(policy, measure: measure) }
                return queue
            }
        }
        _ = forgotten  // Release the signals after the lock is released, because their deinitializers may run app code.
    }
}
