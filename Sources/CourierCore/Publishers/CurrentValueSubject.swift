/// A publisher with a current value: a new subscriber gets this value first, then every change.
///
/// ```swift
/// let state = CurrentValueSubject<ConnectionState, Never>(.disconnected)
/// state.send(.connecting)
/// state.value  // .connecting
/// ```
///
/// Any thread may read and send, also from inside a sink; ``AnyPublisher`` says how values are ordered. What cannot
/// be delivered at once waits in a mailbox per subscriber, bounded by the ``BufferPolicy``. When the subject goes,
/// its subscribers receive `finished`; later subscribers get the last value and the completion.
public final class CurrentValueSubject<Output: Sendable, Failure: Error>: Sendable {
    private let core: SubjectCore<Output, Failure>
    private let initial: Output

    /// Makes a subject.
    ///
    /// - Parameters:
    ///   - value: The first value.
    ///   - buffer: What may wait for a busy subscriber; ``BufferPolicy/mailbox`` by default.
    public init(_ value: Output, buffer: BufferPolicy = .mailbox) {
        initial = value
        core = SubjectCore(current: value, policy: buffer)
    }

    deinit { core.send(.finished) }

    /// The last value sent, or the first one. Setting it is the same as ``send(_:)``.
    public var value: Output {
        get { core.current ?? initial }
        set { core.send(newValue) }
    }

    /// Sends a value and remembers it; does nothing after a completion.
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
