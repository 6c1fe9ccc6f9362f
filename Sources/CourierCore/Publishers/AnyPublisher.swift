/// A source of values over time that can be transformed, moved to a queue, and subscribed to.
///
/// ```swift
/// client.messagePublisher(topic: "chat/+/notes")
///     .filter { (note: Note) in note.isUrgent }
///     .receive(on: .main)
///     .sink { [weak self] note in self?.show(note) }
///     .store(in: &cancellables)
/// ```
///
/// Each subscription receives its values one at a time, in the order in which they were sent. The last `receive(on:)`
/// before the sink selects the queue that delivers the values. Without `receive(on:)`, a sending thread delivers the
/// values. When two threads send at the same time, one of these threads delivers the values of both. A value that is
/// sent from inside a sink is delivered after that sink returns. No lock is held while app code runs.
///
/// The closures of operators are `@Sendable`, because they run on any sending thread. The compiler checks this only in
/// Swift 6 mode, with warnings. The closures of `sink` are not `@Sendable`. So they may use an object that is not
/// `Sendable`, or that belongs to the main actor. In this case, use `receive(on:)` with a queue that may use the
/// object.
public struct AnyPublisher<Output: Sendable, Failure: Error>: Sendable {
    @usableFromInline package typealias Receive = @Sendable (PublisherSignal<Output, Failure>) -> Void

    @usableFromInline let attach: @Sendable (@escaping Receive) -> AnyCancellable

    @inlinable
    package init(_ attach: @escaping @Sendable (@escaping Receive) -> AnyCancellable) { self.attach = attach }

    @inlinable
    package func subscribe(_ receive: @escaping Receive) -> AnyCancellable { attach(receive) }

    /// Calls a closure with each value until the publisher ends or the subscription is cancelled.
    ///
    /// - Parameter receiveValue: Receives the values, one call at a time. ``AnyPublisher`` describes the thread or
    ///   queue. The closure is released when the subscription ends.
    /// - Returns: The subscription. It ends when this object is released.
    @inlinable
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
        sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
    }

    /// Calls one closure with each value, and another closure when the publisher ends.
    ///
    /// - Parameters:
    ///   - receiveCompletion: Receives the end, after the last value. It is called at most once, and is not called if
    ///     the subscription is cancelled.
    ///   - receiveValue: Receives the values, one call at a time. ``AnyPublisher`` describes the thread or queue.
    /// - Returns: The subscription. It ends when this object is released.
    @inlinable
    public func sink(
        receiveCompletion: @escaping (PublisherCompletion<Failure>) -> Void,
        receiveValue: @escaping (Output) -> Void
    ) -> AnyCancellable {
        let sink = Sink<Output, Failure>(receiveValue: receiveValue, receiveCompletion: receiveCompletion)
        let upstream = subscribe { sink.receive($0) }
        return AnyCancellable {
            // Cancel the upstream subscription first. If the sink stopped first, it would ignore a value that another
            // thread is delivering now, and this value would be lost.
            upstream.cancel()
            sink.stop()
        }
    }
}
