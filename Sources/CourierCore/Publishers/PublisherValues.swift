/// A publisher as an asynchronous sequence.
///
/// ```swift
/// for await state in client.connectionStatePublisher.values { show(state) }
/// ```
///
/// Each loop subscribes when it starts and has a buffer of its own. It ends when the publisher ends, and when its
/// task is cancelled; what waits in the buffer then is dropped.
public struct PublisherValues<Output: Sendable, Failure: Error>: AsyncSequence, Sendable {
    /// What the loop gets.
    public typealias Element = Output

    private let publisher: AnyPublisher<Output, Failure>
    private let policy: BufferPolicy

    init(_ publisher: AnyPublisher<Output, Failure>, _ policy: BufferPolicy) {
        self.publisher = publisher
        self.policy = policy
    }

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator { Iterator(publisher, policy) }

    /// One loop's place in the sequence; the subscription ends when it is dropped.
    public struct Iterator: AsyncIteratorProtocol {
        private let buffer: ValueBuffer<Output, Failure>
        private let subscription: AnyCancellable

        init(_ publisher: AnyPublisher<Output, Failure>, _ policy: BufferPolicy) {
            let buffer = ValueBuffer<Output, Failure>(policy)
            self.buffer = buffer
            subscription = publisher.subscribe { buffer.receive($0) }
        }

        /// The next value, `nil` at the end or when the task is cancelled.
        ///
        /// - Returns: The value.
        /// - Throws: The failure with which the publisher ended, once.
        public nonisolated(nonsending) mutating func next() async throws(Failure) -> Output? {
            switch await buffer.next() {
            case .value(let value): return value
            case .completion(.finished):
                subscription.cancel()
                return nil
            case .completion(.failure(let failure)):
                subscription.cancel()
                throw failure
            }
        }

        /// The same as ``next()``, on the given actor.
        ///
        /// - Parameter actor: The caller's actor.
        /// - Returns: The value.
        /// - Throws: The failure with which the publisher ended, once.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Output? {
            try await next()
        }
    }
}

extension AnyPublisher {
    /// The values from now on as a sequence, with a buffer of ``BufferPolicy/values``.
    public var values: PublisherValues<Output, Failure> { values(buffer: .values) }

    /// The values from now on as a sequence.
    ///
    /// - Parameter buffer: What may wait for the next turn of the loop.
    /// - Returns: The sequence; each loop subscribes for itself.
    public func values(buffer: BufferPolicy) -> PublisherValues<Output, Failure> { PublisherValues(self, buffer) }
}
