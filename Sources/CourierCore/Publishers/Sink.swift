public import Synchronization

/// The end of a chain: the app's closures, until the subscription ends.
///
/// Inlinable with all that leads to it, because code that does not know its types looks them up for each value.
@usableFromInline
final class Sink<Output: Sendable, Failure: Error>: Sendable {
    @usableFromInline
    struct Closures {
        @usableFromInline let receiveValue: (Output) -> Void
        @usableFromInline let receiveCompletion: (PublisherCompletion<Failure>) -> Void

        @inlinable
        init(
            receiveValue: @escaping (Output) -> Void,
            receiveCompletion: @escaping (PublisherCompletion<Failure>) -> Void
        ) {
            self.receiveValue = receiveValue
            self.receiveCompletion = receiveCompletion
        }
    }

    @usableFromInline let closures: Mutex<NonSendableBox<Closures>?>

    @inlinable
    init(
        receiveValue: @escaping (Output) -> Void,
        receiveCompletion: @escaping (PublisherCompletion<Failure>) -> Void
    ) {
        closures = Mutex(NonSendableBox(Closures(receiveValue: receiveValue, receiveCompletion: receiveCompletion)))
    }

    /// Called by the chain's one mailbox, hence serially: the one delivering place that ``NonSendableBox`` asks for.
    @inlinable
    func receive(_ signal: PublisherSignal<Output, Failure>) {
        switch signal {
        case .value(let value): closures.withLock { $0 }?.use { $0.receiveValue(value) }
        case .completion(let completion): take()?.use { $0.receiveCompletion(completion) }
        }
    }

    @inlinable
    func stop() { _ = take() }

    @inlinable
    func take() -> NonSendableBox<Closures>? { closures.withLock { $0.take() } }
}
