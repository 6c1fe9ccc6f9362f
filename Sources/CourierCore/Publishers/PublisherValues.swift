/// An asynchronous sequence of a publisher's values.
///
/// ```swift
/// for await state in client.connectionStatePublisher.values { show(state) }
/// ```
///
/// Each loop subscribes when it starts, and has its own buffer. A loop ends when the publisher ends or when its task is
/// cancelled. If the task is cancelled, the values in the buffer are dropped.
public struct PublisherValues<Output: Sendable, Failure: Error>: AsyncSequence, Sendable {
    /// The type of the values.
    public typealias Element = Output

    private let publisher: AnyPublisher<Output, Failure>
    private let policy: BufferPolicy

    init(_ publisher: AnyPublisher<Output, Failure>, _ policy: BufferPolicy) {
        self.publisher = publisher
        self.policy = policy
    }

    /// Subscribes to the publisher, and returns an iterator over its values.
    public func makeAsyncIterator() -> Iterator { Iterator(publisher, policy) }

    /// The subscription of one loop. It ends when the iterator is released.
    public struct Iterator: AsyncIteratorProtocol {
        private let buffer: ValueBuffer<Output, Failure>
        private let subscription: AnyCancellable

        init(_ publisher: AnyPublisher<Output, Failure>, _ policy: BufferPolicy) {
            let buffer = ValueBuffer<Output, Failure>(policy)
            self.buffer = buffer
            subscription = publisher.subscribe { buffer.receive($0) }
        }

        /// Waits for the next value. Returns `nil` if the publisher has ended or the task is cancelled.
        ///
        /// - Returns: The next value, or `nil`.
        /// - Throws: The failure that ended the publisher, once.
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

        /// Does the same as ``next()``, on the given actor.
        ///
        /// - Parameter actor: The caller's actor.
        /// - Returns: The next value, or `nil`.
        /// - Throws: The failure that ended the publisher, once.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Output? {
            try await next()
        }
    }
}

extension AnyPublisher {
    /// The publisher's values as a sequence. Each loop has a buffer with the limits of ``BufferPolicy/values``.
    public var values: PublisherValues<Output, Failure> { values(buffer: .values) }

    /// Returns the publisher's values as a sequence.
    ///
    /// - Parameter buffer: The limits for values that wait for the loop.
    /// - Returns: The sequence. Each loop has its own subscription, which begins when the loop starts.
    public func values(buffer: BufferPolicy) -> PublisherValues<Output, Failure> { PublisherValues(self, buffer) }
}
