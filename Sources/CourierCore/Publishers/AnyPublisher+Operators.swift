import Synchronization

extension AnyPublisher {
    /// Replaces each value with the result of a closure.
    ///
    /// - Parameter transform: Returns the new value. It runs on the thread that delivers the value, one call at a time
    ///   per subscription.
    /// - Returns: A publisher of the new values.
    @preconcurrency
    @inlinable
    public func map<Result: Sendable>(
        transform: @escaping @Sendable (Output) -> Result
    ) -> AnyPublisher<Result, Failure> {
        compactMap(transform: transform)
    }

    /// Delivers only the values that satisfy a condition.
    ///
    /// - Parameter predicate: Returns `true` for a value to deliver. It runs on the thread that delivers the value, one
    ///   call at a time per subscription.
    /// - Returns: A publisher of the values that satisfy the condition.
    @preconcurrency
    @inlinable
    public func filter(predicate: @escaping @Sendable (Output) -> Bool) -> AnyPublisher<Output, Failure> {
        compactMap { predicate($0) ? $0 : nil }
    }

    /// Replaces each value with the result of a closure, and leaves out values whose result is `nil`.
    ///
    /// - Parameter transform: Returns the new value, or `nil` to leave the value out. It runs on the thread that
    ///   delivers the value, one call at a time per subscription.
    /// - Returns: A publisher of the new values.
    @preconcurrency
    @inlinable
    public func compactMap<Result: Sendable>(
        transform: @escaping @Sendable (Output) -> Result?
    ) -> AnyPublisher<Result, Failure> {
        AnyPublisher<Result, Failure> { receive in
            subscribe { signal in
                switch signal {
                case .value(let value): if let result = transform(value) { receive(.value(result)) }
                case .completion(let completion): receive(.completion(completion))
                }
            }
        }
    }

    /// Leaves out each value that is equal to the previous value.
    ///
    /// - Parameter areEqual: Returns whether two values are equal. It runs on the thread that delivers the values, one
    ///   call at a time per subscription.
    /// - Returns: A publisher without repeated values.
    @preconcurrency
    public func removeDuplicates(
        by areEqual: @escaping @Sendable (Output, Output) -> Bool
    ) -> AnyPublisher<Output, Failure> {
        AnyPublisher { receive in
            let previous = Previous<Output>()
            return subscribe { signal in
                if case .value(let value) = signal, previous.isRepetition(value, by: areEqual) { return }
                receive(signal)
            }
        }
    }
}

extension AnyPublisher where Output: Equatable {
    /// Leaves out each value that is equal to the previous value.
    ///
    /// - Returns: A publisher without repeated values.
    public func removeDuplicates() -> AnyPublisher<Output, Failure> { removeDuplicates(by: ==) }
}

/// Stores the last value of one subscription. Only one thread at a time calls `isRepetition(_:by:)`. The compiler
/// cannot check this rule, so a lock guards the value. The app's comparison runs without the lock.
private final class Previous<Output: Sendable>: Sendable {
    private let value = Mutex<Output?>(nil)

    func isRepetition(_ next: Output, by areEqual: (Output, Output) -> Bool) -> Bool {
        if let last = value.withLock({ $0 }), areEqual(last, next) { return true }
        let old = value.withLock { value in
            defer { value = next }
            return value
        }
        _ = old  // Release the old value after the lock is released.
        return false
    }
}
