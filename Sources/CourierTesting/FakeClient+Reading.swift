public import CourierCore
public import Foundation
import Synchronization

/// The methods that return received messages: as a sequence for loops, or as a publisher.
extension FakeClient {
    /// Returns the values that the test sends to topics that match a filter. A loop gets the values that are sent after
    /// the loop starts, or after `subscribed()` if that was called.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - request: The filter.
    /// - Returns: A sequence. Each loop over it is a separate reader.
    public func messages<Value: Sendable>(
        _ type: Value.Type, as request: SubscriptionRequest
    ) -> MessageSequence<Value> {
        MessageSequence { [self] in
            FakeReader(Result { try request.topic.filter(for: nil) }) { filter in
                values(of: filter) { [coding] in coding.decode(type, from: $0) }
            } changed: { [self] reader, loop in
                state.withLock { $0.loops[reader] = loop }
                changed()
            }
        }
    }

    /// Returns the values that the test sends to a topic, or to the topics of a filter. The publisher sends nothing if
    /// the filter is invalid.
    ///
    /// - Parameter topic: A topic name, or a filter with `+` and `#`.
    /// - Returns: The publisher.
    public func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never> {
        values(of: try? TopicFilter(topic)) { [coding] in coding.decode(D.self, from: $0) }
    }

    /// Returns the values that the test sends to a topic or filter. If a message decodes as `E` instead of `D`, it
    /// becomes an error.
    ///
    /// - Parameters:
    ///   - topic: A topic name, or a filter with `+` and `#`.
    ///   - errorDecodeHandler: Turns an `E` into an error.
    /// - Returns: A publisher of values and errors.
    public func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never> {
        values(of: try? TopicFilter(topic)) { [coding] message in
            if let value = coding.decode(D.self, from: message) { return .success(value) }
            return coding.decode(E.self, from: message).map { .failure(NSError.carrying(errorDecodeHandler($0))) }
        }
    }

    /// Returns a publisher of every message that the test sends.
    ///
    /// - Returns: The publisher.
    public func messagePublisher() -> AnyPublisher<Message, Never> { incoming.eraseToAnyPublisher() }

    /// Returns the decoded messages of a filter; no messages if the filter is invalid.
    private func values<Value: Sendable>(
        of filter: TopicFilter?, decode: @escaping @Sendable (Message) -> Value?
    ) -> AnyPublisher<Value, Never> {
        messagePublisher().compactMap { message in
            filter?.matches(message) == true ? decode(message) : nil
        }
    }
}

/// The source of the values for one loop over `messages`, from the loop's start to its end.
private final class FakeReader<Value: Sendable>: MessageSource {
    /// A closure for changes of one loop over `messages`. It is called with the loop when the loop begins, and with
    /// `nil` when the loop ends.
    typealias Changed = @Sendable (ObjectIdentifier, FakeClient.Loop?) -> Void

    private let values: AsyncThrowingStream<Value, any Error>
    private let sink: AnyCancellable?
    private let changed: Changed

    init(
        _ filter: Result<TopicFilter, any Error>, values: (TopicFilter) -> AnyPublisher<Value, Never>,
        changed: @escaping Changed
    ) {
        let (stream, continuation) = AsyncThrowingStream<Value, any Error>.makeStream()
        self.values = stream
        self.changed = changed
        switch filter {
        case .success(let filter):
            sink = values(filter).sink { continuation.yield($0) }
            changed(ObjectIdentifier(self), (filter, { continuation.finish() }))
        case .failure(let error):
            sink = nil
            continuation.finish(throwing: error)
        }
    }

    nonisolated(nonsending) func nextBatch() async throws -> [Value] {
        var iterator = values.makeAsyncIterator()
        return try await iterator.next().map { [$0] } ?? []
    }

    func cancel(unread count: Int) {
        sink?.cancel()
        changed(ObjectIdentifier(self), nil)
    }
}
