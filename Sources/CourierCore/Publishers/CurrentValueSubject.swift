/// A publisher with a current value. A new subscriber receives this value first, and then every change.
///
/// ```swift
/// let state = CurrentValueSubject<ConnectionState, Never>(.disconnected)
/// state.send(.connecting)
/// state.value  // .connecting
/// ```
///
/// Any thread may read and send, even from inside a sink; ``AnyPublisher`` describes the order of values. While a
/// subscriber is busy, its values wait in a queue with the limits of the ``BufferPolicy``. When the subject is
/// released, its subscribers receive `finished`. A subscriber that subscribes after the end receives the last value and
/// the completion.
public final class CurrentValueSubject<Output: Sendable, Failure: Error>: Sendable {
    private let core: SubjectCore<Output, Failure>
    private let initial: Output

    /// Makes a subject with its initial value.
    ///
    /// - Parameters:
    ///   - value: The initial value.
    ///   - buffer: The limits for values that wait for a busy subscriber; ``BufferPolicy/mailbox`` by default.
    public init(_ value: Output, buffer: BufferPolicy = .mailbox) {
        initial = value
        core = SubjectCore(current: value, policy: buffer)
    }

    deinit { core.send(.finished) }

    /// The last sent value, or the initial value if no value was sent. Setting this property has the same effect as
    /// ``send(_:)``.
    public var value: Output {
        get { core.current ?? initial }
        set { core.send(newValue) }
    }

    /// Sends a value, which becomes the current value. Does nothing after a completion.
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
