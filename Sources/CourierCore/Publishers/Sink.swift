public import Synchronization

/// The last element of a chain of operators, which calls the app's closures until the subscription ends.
///
/// This type and the code that calls it are inlinable, so that the compiler can specialize them for the app's types.
/// Unspecialized generic code would look up type metadata for each value.
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

    /// Calls the closure for a signal (a value or the completion). Only the mailbox of this chain of operators calls
    /// this method, one call at a time, as ``NonSendableBox`` requires.
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
