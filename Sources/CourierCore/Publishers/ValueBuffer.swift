import Synchronization

/// Stores values until a `for await` loop reads them, and suspends the loop while there is no value.
final class ValueBuffer<Output: Sendable, Failure: Error>: Sendable {
    typealias Signal = PublisherSignal<Output, Failure>
    private typealias Waiter = CheckedContinuation<Signal, Never>

    private struct State {
        var queue: BoundedQueue<Output>
        var completion: PublisherCompletion<Failure>?
        var isClosed = false

        // The loops that wait for a value. There is at most one waiter, unless an iterator was copied and several tasks
        // read from the copies. Each waiter is resumed exactly once.
        var waiters: [Waiter] = []

        /// Removes and returns the next signal (value or completion) if the reader need not wait; otherwise returns
        /// `nil`.
        mutating func takeReady() -> Signal? {
            if isClosed { return .completion(.finished) }
            if let value = queue.popFirst() { return .value(value) }
            guard let completion else { return nil }
            isClosed = true  // Later calls return `.finished`, so that a failure is thrown only once.
            return .completion(completion)
        }
    }

    private let state: Mutex<State>
    private let policy: BufferPolicy
    private let measure: (@Sendable (Output) -> Int)?

    init(_ policy: BufferPolicy) {
        measure = memoryMeasure(of: Output.self)
        state = Mutex(State(queue: BoundedQueue(policy, measure: measure)))
        self.policy = policy
    }

    func receive(_ signal: Signal) {
        switch signal {
        case .value(let value): receive(value)
        case .completion(let completion): finish(completion)
        }
    }

    private func receive(_ value: Output) {
        let (waiter, dropped) = state.withLock { state -> (Waiter?, [Output]) in
            if state.isClosed || state.completion != nil { return (nil, []) }
            if !state.waiters.isEmpty { return (state.waiters.removeFirst(), []) }
            return (nil, state.queue.append(value))
        }
        waiter?.resume(returning: .value(value))
        for _ in dropped { policy.onDrop?() }
    }

    private func finish(_ completion: PublisherCompletion<Failure>) {
        let waiters = state.withLock { state in
            guard state.completion == nil, !state.isClosed else { return [Waiter]() }
            state.completion = completion
            defer { state.waiters = [] }
            if !state.waiters.isEmpty { state.isClosed = true }
            return state.waiters
        }
        for (index, waiter) in waiters.enumerated() {
            waiter.resume(returning: .completion(index == 0 ? completion : .finished))
        }
    }

    /// Waits for the next value or the end of the publisher. If the task is cancelled, the method returns
    /// `.completion(.finished)` at once.
    nonisolated(nonsending) func next() async -> Signal {
        if Task.isCancelled { close() }
        if let ready = state.withLock({ $0.takeReady() }) { return ready }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let ready = state.withLock { state in
                    let ready = state.takeReady()
                    if ready == nil { state.waiters.append(waiter) }
                    return ready
                }
                if let ready { waiter.resume(returning: ready) }
            }
        } onCancel: {
            close()
        }
    }

    private func close() {
        let (waiters, forgotten) = state.withLock { state in
            state.isClosed = true
            defer {
                state.waiters = []
                state.queue = BoundedQueue(policy, measure: measure)
            }
            return (state.waiters, state.queue)
        }
        _ = forgotten  // Release the queued values after the lock is released.
        for waiter in waiters { waiter.resume(returning: .completion(.finished)) }
    }
}
