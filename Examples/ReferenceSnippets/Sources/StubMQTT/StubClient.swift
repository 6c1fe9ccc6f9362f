import CourierCore
import Foundation

/// A client without a network: it shows that a mock needs `CourierCore` alone, and how little it must implement.
final class StubClient: CourierClient {
    private let state = CurrentValueSubject<ConnectionState, Never>(.disconnected)
    private let received = PassthroughSubject<Message, Never>()
    private let happened = PassthroughSubject<CourierEvent, Never>()

    var hasExistingSession: Bool { false }
    var connectionState: ConnectionState { state.value }
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { state.eraseToAnyPublisher() }
    var eventPublisher: AnyPublisher<CourierEvent, Never> { happened.eraseToAnyPublisher() }

    func connect(source: String) {}
    func disconnect() {}
    func destroy() {}

    func addEventHandler(_ handler: any ICourierEventHandler) {}
    func removeEventHandler(_ handler: any ICourierEventHandler) {}

    func subscribe(_ topics: [(topic: String, qos: QoS)]) {}
    func unsubscribe(_ topics: [String]) {}
    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws { _ = try TopicName(topic) }

    func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never> {
        received.eraseToAnyPublisher().compactMap { message in
            message.topic == topic ? try? JSONMessageAdapter().fromMessage(message.data, topic: message.topic) : nil
        }
    }

    func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never> {
        messagePublisher(topic: topic).map { (value: D) in .success(value) }
    }

    func messagePublisher() -> AnyPublisher<Message, Never> { received.eraseToAnyPublisher() }

    func connected() async throws { throw Self.refusal }

    nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt {
        throw Self.refusal
    }

    func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value> {
        MessageSequence { EmptySource() }
    }

    private static var refusal: CourierError { CourierError(.connectionFailed, "The stub client has no network.") }
}

private final class EmptySource<Element: Sendable>: MessageSource {
    nonisolated(nonsending) func nextBatch() async throws -> [Element] { [] }
    func cancel() {}
}
