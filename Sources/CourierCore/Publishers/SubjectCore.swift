import Synchronization

/// The subscribers of a subject, and the current value of one that has it.
///
/// Sending puts the value into every subscriber's mailbox under the lock, which gives all of them one order and
/// decides who is there in time; delivering happens after it.
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

    /// What has to happen after the lock: deliver, report, and release the values that went.
    private struct Aftermath {
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
        case .waiting(let aftermath): aftermath.perform()
        }
        _ = old  // Released here, after the lock.
    }

    private enum Plan {
        case nobody
        case direct(Mailbox)  // A single subscriber that is idle: the value need not enter its queue.
        case waiting(Aftermath)
    }

    private func plan(for value: Output, to subscribers: [Subscriber]) -> Plan {
        guard let first = subscribers.first else { return .nobody }
        if subscribers.count == 1, first.mailbox.claimIdle() { return .direct(first.mailbox) }
        var aftermath = Aftermath(subscribers: subscribers)
        for subscriber in subscribers { aftermath.put(.value(value), to: subscriber) }
        return .waiting(aftermath)
    }

    func send(_ completion: PublisherCompletion<Failure>) {
        let aftermath = state.withLock { state in
            guard state.completion == nil else { return Aftermath() }
            state.completion = completion
            var aftermath = Aftermath(subscribers: state.subscribers)
            state.subscribers = []
            for subscriber in aftermath.subscribers { aftermath.put(.completion(completion), to: subscriber) }
            return aftermath
        }
        aftermath.perform()
    }

    func subscribe(_ receive: @escaping @Sendable (Signal) -> Void) -> AnyCancellable {
        let mailbox = Mailbox(policy, receive: receive)
        let id = state.withLock { state in
            state.lastID += 1
            // An empty mailbox has room for both.
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
        _ = removed  // Released here, after the lock.
    }
}
