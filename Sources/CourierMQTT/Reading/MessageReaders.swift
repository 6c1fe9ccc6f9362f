import CourierCore
import CourierTransport
import Foundation
import Synchronization

/// Makes the readers of a client: publishers and `for await` loops. The sinks of publishers run on the delivery queue.
final class MessageReaders: Sendable {
    let distributor: MessageDistributor
    private let registry: AdapterRegistry
    let events: EventHub
    private let waiterCount: WaiterCount
    let deliveryQueue: DispatchQueue
    private let tracing: MessageTracing?
    let loop: EventLoop
    /// The subject of dead letters; `nil` until the app uses `deadLetters` for the first time.
    let deadLetters = Mutex<DeadLetterSubject?>(nil)
    /// The connect options that are attached to events; `nil` if there are none.
    let options = Mutex<ConnectOptions?>(nil)
    /// True if a log line about a message that could not be used is scheduled, and the event loop has not written it
    /// yet.
    let isWarning = Atomic(false)

    init(
        _ distributor: MessageDistributor, registry: AdapterRegistry, events: EventHub, waiterCount: WaiterCount,
        deliveryQueue: DispatchQueue, tracing: MessageTracing?, on loop: EventLoop
    ) {
        self.distributor = distributor
        self.registry = registry
        self.events = events
        self.waiterCount = waiterCount
        self.deliveryQueue = deliveryQueue
        self.tracing = tracing
        self.loop = loop
    }

    /// Sets the connect options that are attached to events.
    func use(_ options: ConnectOptions?) { self.options.withLock { $0 = options } }

    /// Completes the publisher of dead letters, because the client has ended.
    func finish() { deadLetters.withLock { $0 }?.finish() }

    // MARK: Publishers

    /// Returns a publisher of all received messages.
    func publisher() -> AnyPublisher<Message, Never> { publisher(of: nil) { $0.message() } }

    /// Returns a publisher of the messages of a topic or filter, decoded to `Value`.
    func publisher<Value: Sendable>(of topic: String, _ type: Value.Type) -> AnyPublisher<Value, Never> {
        let decoder = ValueDecoder<Value>(registry)
        return publisher(of: topic) { [self] message in
            do {
                return try decoder.decode(message.message())
            } catch {
                report(message, error)
                return nil
            }
        }
    }

    /// Returns a publisher of the messages of a topic or filter. If a message cannot be decoded to `Value`, the message
    /// is decoded to `Problem`, and the problem is published as a failure.
    func publisher<Value: Sendable, Problem>(
        of topic: String, errorDecodeHandler: @escaping @Sendable (Problem) -> any Error
    ) -> AnyPublisher<Result<Value, NSError>, Never> {
        let decoder = ValueDecoder<Value>(registry)
        return publisher(of: topic) { [self] message in
            do {
                return .success(try decoder.decode(message.message()))
            } catch {
                guard let problem = self.problem(Problem.self, in: message.message()) else {
                    report(message, error)
                    return nil
                }
                return .failure(NSError.carrying(errorDecodeHandler(problem)))
            }
        }
    }

    /// Decodes a message to a `Problem`; returns `nil` if that fails. If `Problem` is a `ValueWithMessage`, the result
    /// also contains the message.
    private func problem<Problem>(_ type: Problem.Type, in message: Message) -> Problem? {
        guard let whole = type as? any ValueWithMessage.Type else {
            return try? registry.decode(type, from: message)
        }
        return self.whole(whole, of: message) as? Problem
    }

    private func whole<Whole: ValueWithMessage>(_: Whole.Type, of message: Message) -> (any ValueWithMessage)? {
        try? ValueDecoder<Whole>(registry).decode(message)
    }

    private func publisher<Output: Sendable>(
        of topic: String?, _ transform: @escaping @Sendable (ReceivedMessage) -> Output?
    ) -> AnyPublisher<Output, Never> {
        AnyPublisher { [self] receive in
            let filter: TopicFilter?
            do {
                filter = try topic.map { try TopicFilter($0) }
            } catch {
                tellDead(topic ?? "", error)
                return AnyCancellable {}
            }
            // A publisher has no overflow option, so use the policy `pause`: if its buffer is full, reading from the
            // broker pauses.
            let registration = ReaderRegistration(ReadBuffer(overflow: .pause), distributor, on: loop)
            QueueDelivery(
                registration.queue, on: deliveryQueue, tracing: tracing, transform: transform, receive: receive
            ).start()
            loop.execute { registration.open(filter, .onReceipt) }
            return AnyCancellable { [loop] in
                let left = registration.queue.close().worthKeeping
                loop.execute { registration.close(left) }
            }
        }
    }

    /// Reports, as an event and in the log, that a publisher sends no messages because its filter is invalid.
    private func tellDead(_ topic: String, _ error: any Error) {
        events.tell(.messageReceiveFailure(topic: topic, error: error, sizeBytes: 0), options.withLock { $0 })
        let text =
            "A message publisher sends no messages, because its topic filter is invalid: "
            + "\(CourierError.summary(of: error))"
        loop.execute { [distributor] in distributor.dependencies.warn(text) }
    }

    // MARK: Sequences

    /// Makes the source of one `for await` loop. `opened` is called on the event loop. `closed` is called on the thread
    /// that ends the `for await` loop. `connected` waits for the client's connection.
    func source<Value: Sendable>(
        _ type: Value.Type, _ request: SubscriptionRequest,
        opened: @escaping @Sendable (ReaderRegistration) -> Void,
        connected: @escaping @Sendable () async throws -> Void,
        closed: @escaping @Sendable (ReaderRegistration, [ReceivedMessage]) -> Void
    ) -> SequenceSource<Value> {
        let grant = Waiter<Void>(waiterCount)
        let registration = ReaderRegistration(request.buffer, distributor, on: loop, grant: grant)
        loop.execute { opened(registration) }
        return SequenceSource(
            registration.queue, acknowledge: request.acknowledge, decoder: ValueDecoder(registry),
            waiterCount: waiterCount,
            report: { [self] in report($0, $1) },
            opened: {
                // Throw if the connection fails, because then the wait for the broker's SUBACK would never end.
                try await connected()
                try await grant.value()
            },
            closed: { closed(registration, $0) })
    }

    /// Makes the registration of a reader that takes its messages directly from the reader's queue. `grant` resumes its
    /// caller when the broker has granted the subscription.
    func registration(_ request: SubscriptionRequest, grant: Waiter<Void>) -> ReaderRegistration {
        ReaderRegistration(request.buffer, distributor, on: loop, grant: grant)
    }
}
