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
/// The order of calls: each subscription gets its values one at a time and in the order in which they were sent, on
/// the queue of the nearest `receive(on:)` above it, else on a sending thread. When two threads send at once, one of
/// them delivers for both. A value sent from inside a sink is delivered when that sink has returned. No lock is held
/// while app code runs.
///
/// The closures of operators are `@Sendable`, as they run wherever values are sent (Swift 5 mode does not ask, Swift 6
/// mode warns). The closures of `sink` are not:
/// an object that is not `Sendable`, or that belongs to the main actor, may be used in them when the delivering place
/// is its place.
public struct AnyPublisher<Output: Sendable, Failure: Error>: Sendable {
    @usableFromInline package typealias Receive = @Sendable (PublisherSignal<Output, Failure>) -> Void

    @usableFromInline let attach: @Sendable (@escaping Receive) -> AnyCancellable

    @inlinable
    package init(_ attach: @escaping @Sendable (@escaping Receive) -> AnyCancellable) { self.attach = attach }

    @inlinable
    package func subscribe(_ receive: @escaping Receive) -> AnyCancellable { attach(receive) }

    /// Calls a closure with each value until the publisher ends or the subscription is cancelled.
    ///
    /// - Parameter receiveValue: Takes the values, one call at a time; see ``AnyPublisher`` for where. Released
    ///   when the subscription ends.
    /// - Returns: The subscription, which ends when this is dropped.
    @inlinable
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
        sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
    }

    /// Calls a closure with each value, and another one when the publisher ends by itself.
    ///
    /// - Parameters:
    ///   - receiveCompletion: Called at most once with the end, after the last value; not if the subscription is
    ///     cancelled.
    ///   - receiveValue: Takes the values, one call at a time; see ``AnyPublisher`` for where.
    /// - Returns: The subscription, which ends when this is dropped.
    @inlinable
    public func sink(
        receiveCompletion: @escaping (PublisherCompletion<Failure>) -> Void,
        receiveValue: @escaping (Output) -> Void
    ) -> AnyCancellable {
        let sink = Sink<Output, Failure>(receiveValue: receiveValue, receiveCompletion: receiveCompletion)
        let upstream = subscribe { sink.receive($0) }
        return AnyCancellable {
            // In this order: another thread that delivers meanwhile would lose what the sink does not take any more.
            upstream.cancel()
            sink.stop()
        }
    }
}
