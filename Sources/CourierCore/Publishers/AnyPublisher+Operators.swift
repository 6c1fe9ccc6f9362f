import Synchronization

extension AnyPublisher {
    /// Turns every value into another.
    ///
    /// - Parameter transform: Makes the new value; runs where values are sent, one call at a time per subscription.
    /// - Returns: A publisher of the new values.
    @preconcurrency
    @inlinable
    public func map<Result: Sendable>(
        transform: @escaping @Sendable (Output) -> Result
    ) -> AnyPublisher<Result, Failure> {
        compactMap(transform: transform)
    }

    /// Lets only some values through.
    ///
    /// - Parameter predicate: Whether a value passes; runs where values are sent, one call at a time per
    ///   subscription.
    /// - Returns: A publisher of the values that pass.
    @preconcurrency
    @inlinable
    public func filter(predicate: @escaping @Sendable (Output) -> Bool) -> AnyPublisher<Output, Failure> {
        compactMap { predicate($0) ? $0 : nil }
    }

    /// Turns every value into another or leaves it out.
    ///
    /// - Parameter transform: Makes the new value, or `nil`; runs where values are sent, one call at a time per
    ///   subscription.
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

    /// Leaves out values that are equal to the one before.
    ///
    /// - Parameter areEqual: Whether two values are the same; runs where values are sent, one call at a time per
    ///   subscription.
    /// - Returns: A publisher without repetitions.
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
    /// Leaves out values that are equal to the one before.
    ///
    /// - Returns: A publisher without repetitions.
    public func removeDuplicates() -> AnyPublisher<Output, Failure> { removeDuplicates(by: ==) }
}

/// The last value of one subscription. Its calls are serial; the lock only shows that to the compiler, and the app's
/// comparison runs outside of it.
private final class Previous<Output: Sendable>: Sendable {
    private let value = Mutex<Output?>(nil)

    func isRepetition(_ next: Output, by areEqual: (Output, Output) -> Bool) -> Bool {
        if let last = value.withLock({ $0 }), areEqual(last, next) { return true }
        let old = value.withLock { value in
            defer { value = next }
            return value
        }
        _ = old  // Released after the lock.
        return false
    }
}
