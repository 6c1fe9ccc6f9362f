/// A publisher that sends the values of ``send(_:)`` to its present subscribers.
///
/// ```swift
/// let taps = PassthroughSubject<Int, Never>()
/// taps.eraseToAnyPublisher().sink { print($0) }.store(in: &cancellables)
/// taps.send(1)
/// ```
///
/// Any thread may send, also from inside a sink; ``AnyPublisher`` says how values are ordered. What cannot be
/// delivered at once waits in a mailbox per subscriber, bounded by the ``BufferPolicy``. When the subject goes, its
/// subscribers receive `finished`.
public final class PassthroughSubject<Output: Sendable, Failure: Error>: Sendable {
    private let core: SubjectCore<Output, Failure>

    /// Makes a subject.
    ///
    /// - Parameter buffer: What may wait for a busy subscriber; ``BufferPolicy/mailbox`` by default.
    public init(buffer: BufferPolicy = .mailbox) { core = SubjectCore(current: nil, policy: buffer) }

    deinit { core.send(.finished) }

    /// Sends a value; does nothing after a completion.
    ///
    /// - Parameter value: The value.
    public func send(_ value: Output) { core.send(value) }

    /// Ends the publisher; only the first completion counts.
    ///
    /// - Parameter completion: How it ends.
    public func send(completion: PublisherCompletion<Failure>) { core.send(completion) }

    /// The same as a publisher, which cannot send.
    ///
    /// - Returns: The publisher.
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> {
        AnyPublisher { [core] receive in core.subscribe(receive) }
    }
}

extension PassthroughSubject where Output == Void {
    /// Sends a signal that carries nothing.
    public func send() { send(()) }
}
