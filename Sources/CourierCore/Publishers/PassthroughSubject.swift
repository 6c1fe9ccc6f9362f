/// A publisher that delivers each sent value to its current subscribers, and does not store the value.
///
/// ```swift
/// let taps = PassthroughSubject<Int, Never>()
/// taps.eraseToAnyPublisher().sink { print($0) }.store(in: &cancellables)
/// taps.send(1)
/// ```
///
/// Any thread may send, even from inside a sink; ``AnyPublisher`` describes the order of values. While a subscriber is
/// busy, its values wait in a queue with the limits of the ``BufferPolicy``. When the subject is released, its
/// subscribers receive `finished`.
public final class PassthroughSubject<Output: Sendable, Failure: Error>: Sendable {
    private let core: SubjectCore<Output, Failure>

    /// Makes a subject.
    ///
    /// - Parameter buffer: The limits for values that wait for a busy subscriber; ``BufferPolicy/mailbox`` by default.
    public init(buffer: BufferPolicy = .mailbox) { core = SubjectCore(current: nil, policy: buffer) }

    deinit { core.send(.finished) }

    /// Sends a value. Does nothing after a completion.
    ///
    /// - Parameter value: The value to send.
    public func send(_ value: Output) { core.send(value) }

    /// Ends the publisher. Only the first call has an effect.
    ///
    /// - Parameter completion: The end of the publisher: finished or failed.
    public func send(completion: PublisherCompletion<Failure>) { core.send(completion) }

    /// Returns a publisher of this subject's values. The publisher has no method to send values.
    ///
    /// - Returns: The publisher.
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> {
        AnyPublisher { [core] receive in core.subscribe(receive) }
    }
}

extension PassthroughSubject where Output == Void {
    /// Sends an empty value.
    public func send() { send(()) }
}
