import CourierCore
import Synchronization

/// Sends dead letters to the subscribers of `client.deadLetters`. A dead letter is a received message that a reader
/// could not use, for example because it could not be decoded.
final class DeadLetterSubject: Sendable {
    private let letters = PassthroughSubject<DeadLetter, Never>()
    private let listenerCount = Atomic<Int>(0)

    init() {}

    /// True while the publisher has a subscriber.
    var isListenedTo: Bool { listenerCount.load(ordering: .relaxed) > 0 }

    /// A publisher of dead letters. A new subscriber receives no earlier dead letters.
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

    /// Completes the publisher. No dead letters are sent after this call.
    func finish() { letters.send(completion: .finished) }
}
