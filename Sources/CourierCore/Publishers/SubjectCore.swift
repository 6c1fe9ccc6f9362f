import Synchronization

/// Stores the subscribers of a subject, and its current value if it has one.
///
/// A sender adds the value to every subscriber's mailbox while it holds the lock. So all subscribers receive the values
/// in the same order, and a subscriber gets all values that are sent after it subscribed. Values are delivered after
/// the lock is released.
final class SubjectCore<Output: Sendable, Failure: Error>: Sendable {
    typealias Signal = PublisherSignal<Output, Failure>
    typealias Mailbox = SerialMailbox<Output, Failure>

    private struct Subscriber {
        let id: UInt64
        let mailbox: Mailbox
    }

    private struct State {
        var subscribers: [Subscriber] = []
        var lastID: UInt64 = 0
        var current: Output?
        var completion: PublisherCompletion<Failure>?
    }

    private let state: Mutex<State>
    private let keepsCurrent: Bool
    private let policy: BufferPolicy

    init(current: Output?, policy: BufferPolicy) {
        state = Mutex(State(current: current))
        keepsCurrent = current != nil
        self.policy = policy
    }

    var current: Output? { state.withLock { $0.current } }

    /// The work that must wait until the lock is released: delivering signals (values and completions), reporting
    /// dropped values, and releasing these values.
    private struct DeferredWork {
        var subscribers: [Subscriber] = []
        var dropped: [(subscriber: Subscriber, signals: [Signal])] = []

        mutating func put(_ signal: Signal, to subscriber: Subscriber) {
            let signals = subscriber.mailbox.put(signal)
            if !signals.isEmpty { dropped.append((subscriber, signals)) }
        }

        func perform() {
            for subscriber in subscribers { subscriber.mailbox.deliverHere() }
            for (subscriber, signals) in dropped { subscriber.mailbox.report(signals) }
        }
    }

    func send(_ value: Output) {
        let (plan, old) = state.withLock { state -> (Plan, Output?) in
            guard state.completion == nil else { return (.nobody, nil) }
            let old = state.current
            if keepsCurrent { state.current = value }
            return (self.plan(for: value, to: state.subscribers), old)
        }
        switch plan {
        case .nobody: break
        case .direct(let mailbox): mailbox.deliverHere(first: .value(value))
        case .waiting(let deferredWork): deferredWork.perform()
        }
        _ = old  // Release the old value after the lock is released.
    }

    /// The way in which a value is delivered.
    private enum Plan {
        case nobody
        case direct(Mailbox)  // The only subscriber is idle, so the value skips its queue.
        case waiting(DeferredWork)
    }

    private func plan(for value: Output, to subscribers: [Subscriber]) -> Plan {
        guard let first = subscribers.first else { return .nobody }
        if subscribers.count == 1, first.mailbox.claimIdle() { return .direct(first.mailbox) }
        var deferredWork = DeferredWork(subscribers: subscribers)
        for subscriber in subscribers { deferredWork.put(.value(value), to: subscriber) }
        return .waiting(deferredWork)
    }

    func send(_ completion: PublisherCompletion<Failure>) {
        let deferredWork = state.withLock { state in
            guard state.completion == nil else { return DeferredWork() }
            state.completion = completion
            var deferredWork = DeferredWork(subscribers: state.subscribers)
            state.subscribers = []
            for subscriber in deferredWork.subscribers { deferredWork.put(.completion(completion), to: subscriber) }
            return deferredWork
        }
        deferredWork.perform()
    }

    func subscribe(_ receive: @escaping @Sendable (Signal) -> Void) -> AnyCancellable {
        let mailbox = Mailbox(policy, receive: receive)
        let id = state.withLock { state in
            state.lastID += 1
            // The new mailbox is empty, so the value and the completion fit, and `put` returns no dropped signals.
            if let current = state.current { _ = mailbox.put(.value(current)) }
            if let completion = state.completion {
                _ = mailbox.put(.completion(completion))
            } else {
                state.subscribers.append(Subscriber(id: state.lastID, mailbox: mailbox))
            }
            return state.lastID
        }
        mailbox.deliverHere()
        return AnyCancellable { [weak self] in
            self?.remove(id)
            mailbox.close()
        }
    }

    private func remove(_ id: UInt64) {
        let removed = state.withLock { state -> Subscriber? in
            guard let index = state.subscribers.firstIndex(where: { $0.id == id }) else { return nil }
            return state.subscribers.remove(at: index)
        }
        _ = removed  // Release the subscriber after the lock is released.
    }
}
