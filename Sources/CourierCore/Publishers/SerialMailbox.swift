import Synchronization

/// Makes any number of senders one: what is put in comes out one at a time, in order, without a lock held.
///
/// ```
/// idle ──claim──▶ delivering ──queue empty──▶ idle
///                      ▲ │ put: the one who delivers takes it later
///                      └─┘
/// ```
///
/// `put` may be called under an owner's lock, which fixes the order among several mailboxes. `claim` and `deliver`
/// are called outside of any lock.
final class SerialMailbox<Output: Sendable, Failure: Error>: Sendable {
    typealias Signal = PublisherSignal<Output, Failure>

    private enum Phase { case open, ended, closed }

    /// Not generic on purpose: while nobody is busy, a value passes with this lock only, and generic code that is not
    /// specialized looks up type metadata at each use of a generic lock.
    private struct Control {
        var phase = Phase.open
        var isDelivering = false
        var waiting = 0  // The queue's count.
    }

    private let control = Mutex(Control())
    private let queue: Mutex<BoundedQueue<Signal>>  // Used inside of `control`'s lock only.
    private let policy: BufferPolicy
    private let measure: (@Sendable (Signal) -> Int)?
    private let receive: @Sendable (Signal) -> Void

    init(_ policy: BufferPolicy, receive: @escaping @Sendable (Signal) -> Void) {
        measure = Self.measure
        queue = Mutex(BoundedQueue(policy, measure: measure))
        self.policy = policy
        self.receive = receive
    }

    /// Puts a signal in; nothing is accepted after a completion.
    ///
    /// - Returns: The signals given up for it, for the caller to release outside of its locks and to report.
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

    /// Takes the right to deliver; `true` obliges the caller to call ``deliver(atMost:)`` until it returns `false`.
    func claim() -> Bool {
        control.withLock { control in
            guard !control.isDelivering, control.waiting > 0 else { return false }
            control.isDelivering = true
            return true
        }
    }

    /// Takes the right to deliver a value that need not wait, as nothing is waiting or under way; `true` obliges the
    /// caller to call ``deliverHere(first:)``.
    func claimIdle() -> Bool {
        control.withLock { control in
            guard control.phase == .open, !control.isDelivering, control.waiting == 0 else { return false }
            control.isDelivering = true
            return true
        }
    }

    /// Hands out signals; the caller has the claim.
    ///
    /// - Returns: Whether more are waiting and the claim stays; when `false`, the claim is given back.
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

    /// `nil` when the mailbox was closed in between.
    private func pop() -> Signal? {
        control.withLock { control in
            let signal = queue.withLock { $0.popFirst() }
            if signal != nil { control.waiting -= 1 }
            return signal
        }
    }

    /// Delivers a signal that did not have to wait, then what has come in meanwhile; the caller has the claim.
    func deliverHere(first signal: Signal) {
        receive(signal)
        while deliver(atMost: .max) {}
    }

    /// Delivers on this thread what is waiting, unless another thread is at it already.
    func deliverHere() {
        guard claim() else { return }
        while deliver(atMost: .max) {}
    }

    /// Accepts nothing more and forgets what is waiting.
    func close() {
        let forgotten = control.withLock { control in
            control.phase = .closed
            control.waiting = 0
            return queue.withLock { queue in
                defer { queue = BoundedQueue(policy, measure: measure) }
                return queue
            }
        }
        _ = forgotten  // Released here, after the lock: its values may run app code when they go.
    }
}
