import CourierCore
import Synchronization

/// Sends messages that a reader could not decode to the subscribers of `client.deadLetters`.
final class DeadLetterSubject: Sendable {
    private let letters = PassthroughSubject<DeadLetter, Never>()
    private let listenerCount = Atomic<Int>(0)

    init() {}

    /// True while the publisher has a subscriber.
    var isListenedTo: Bool { listenerCount.load(ordering: .relaxed) > 0 }

    /// Publishes each dead letter to the subscribers that exist when it is sent.
    var publisher: AnyPublisher<DeadLetter, Never> {
        AnyPublisher<DeadLetter, Never> { [self] receive in
            listenerCount.add(1, ordering: .relaxed)
            let upstream = letters.eraseToAnyPublisher().subscribe(receive)
            return AnyCancellable { [self] in
                listenerCount.subtract(1, ordering: .relaxed)
                upstream.cancel()
            }
        }
    }

    func send(_ letter: DeadLetter) { letters.send(letter) }

    /// Completes the publisher. No dead letters follow.
    func finish() { letters.send(completion: .finished) }
}
