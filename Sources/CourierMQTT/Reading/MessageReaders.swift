import CourierCore
import CourierTransport
import Foundation
import Synchronization

/// Makes the readers of a client: publishers, whose sinks run on the delivery queue, and sources of `for await` loops.
final class MessageReaders: Sendable {
    private let distributor: MessageDistributor
    private let registry: AdapterRegistry
    private let events: EventHub
    private let waiterCount: WaiterCount
    private let deliveryQueue: DispatchQueue
    private let loop: EventLoop
    /// Exists from the first subscriber on.
    private let deadLetters = Mutex<DeadLetterSubject?>(nil)
    /// The options that events carry.
    private let options = Mutex<ConnectOptions?>(nil)
    /// Whether a log line about an unusable message is scheduled on the loop.
    private let isWarning = Atomic(false)

    init(
        _ distributor: MessageDistributor, registry: AdapterRegistry, events: EventHub, waiterCount: WaiterCount,
        deliveryQueue: DispatchQueue, on loop: EventLoop
    ) {
        self.distributor = distributor
        self.registry = registry
        self.events = events
        self.waiterCount = waiterCount
        self.deliveryQueue = deliveryQueue
        self.loop = loop
    }

    /// Notes the options that events carry.
    func use(_ options: ConnectOptions?) { self.options.withLock { $0 = options } }

    /// Messages that a reader could not decode.
    var deadLetterPublisher: AnyPublisher<DeadLetter, Never> {
        let buffer = BufferPolicy(
            limit: BufferPolicy.queue.limit, onDrop: { [weak self] in self?.tellOfDroppedLetters() })
        return deadLetters.part { DeadLetterSubject() }.publisher.receive(on: deliveryQueue, buffer: buffer)
    }

    private func tellOfDroppedLetters() {
        tellLog("Dead letters are dropped: whoever listens to deadLetters takes longer than the messages.")
    }

    /// The client has ended: ends the publisher of dead letters.
    func finish() { deadLetters.withLock { $0 }?.finish() }

    // MARK: Publishers

    /// Every message.
    func publisher() -> AnyPublisher<Message, Never> { publisher(of: nil) { $0.message() } }

    /// The messages of a topic or filter, decoded.
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

    /// The messages of a topic or filter as values, or as the errors that a server describes.
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

    /// The problem that a message describes, with the message where its type wants that; `nil` if it describes none.
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
            // A sink has no option for losses, so it loses no message.
            let registration = ReaderRegistration(ReadBuffer(overflow: .pause), distributor, on: loop)
            QueueDelivery(registration.queue, on: deliveryQueue, transform: transform, receive: receive).start()
            loop.execute { registration.open(filter, .onReceipt) }
            return AnyCancellable { [loop] in
                let left = registration.queue.close().worthKeeping
                loop.execute { registration.close(left) }
            }
        }
    }

    /// Reports a publisher that never sends a message, because its filter is wrong: as an event and in the log.
    private func tellDead(_ topic: String, _ error: any Error) {
        events.tell(.messageReceiveFailure(topic: topic, error: error, sizeBytes: 0), options.withLock { $0 })
        let text = "A publisher of messages brings none: \(CourierError.summary(of: error))"
        loop.execute { [distributor] in distributor.dependencies.warn(text) }
    }

    // MARK: Sequences

    /// A source for one loop. `opened` is called on the event loop, and `closed` on the thread that leaves the loop. `connected`
    /// waits for the client's connection.
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
                // Its error is better than to wait for a connection that cannot come.
                try await connected()
                try await grant.value()
            },
            closed: { closed(registration, $0) })
    }

    /// Reports that a reader could not use a message.
    func report(_ message: ReceivedMessage, _ error: any Error) { report(message.message(), error) }

    /// Reports that a reader could not use a message.
    func report(_ message: Message, _ error: any Error) {
        let error =
            (error as? CourierError)
            ?? CourierError(
                .decodingFailed, "A message on \(message.topic.quoted()) could not be decoded.", cause: error)
        let letters = deadLetters.withLock { $0 }.flatMap { $0.isListenedTo ? $0 : nil }
        if letters == nil, !events.isHeard {
            return tellLog(
                "A message on \(message.topic.quoted()) could not be used, and nobody listens to deadLetters or to "
                    + "events: \(error)")
        }
        letters?.send(DeadLetter(message: message.detached(), error: error))
        tellFailure(of: message, error)
    }

    /// Reports a request without a response, because its handler or the publish of the response failed.
    func reportUnanswered(_ request: Message, _ error: any Error) {
        guard !events.isHeard else { return tellFailure(of: request, error) }
        tellLog(
            "A request on \(request.topic.quoted()) got no response, and nobody listens to events: "
                + CourierError.summary(of: error))
    }

    /// Logs an unusable message, because there is no listener for it.
    private func tellLog(_ makeText: @autoclosure () -> String) {
        guard !isWarning.exchange(true, ordering: .relaxed) else { return }
        let text = makeText()
        loop.execute { [self] in
            distributor.warnOfUndecodable(text)
            isWarning.store(false, ordering: .relaxed)
        }
    }

    /// Reports the event of an unusable message.
    private func tellFailure(of message: Message, _ error: any Error) {
        events.tell(
            .messageReceiveFailure(topic: message.topic, error: error, sizeBytes: message.byteCount),
            options.withLock { $0 })
    }
}
