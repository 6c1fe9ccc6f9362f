import Synchronization

/// The end of a chain: the app's closures, until the subscription ends.
final class Sink<Output: Sendable, Failure: Error>: Sendable {
    private struct Closures {
        let receiveValue: (Output) -> Void
        let receiveCompletion: (PublisherCompletion<Failure>) -> Void
    }

    private let closures: Mutex<Confined<Closures>?>

    init(
        receiveValue: @escaping (Output) -> Void,
        receiveCompletion: @escaping (PublisherCompletion<Failure>) -> Void
    ) {
        closures = Mutex(Confined(Closures(receiveValue: receiveValue, receiveCompletion: receiveCompletion)))
    }

    /// Called by the chain's one mailbox, hence serially: the one delivering place that ``Confined`` asks for.
    func receive(_ signal: PublisherSignal<Output, Failure>) {
        switch signal {
        case .value(let value): closures.withLock { $0 }?.use { $0.receiveValue(value) }
        case .completion(let completion): take()?.use { $0.receiveCompletion(completion) }
        }
    }

    func stop() { _ = take() }

    private func take() -> Confined<Closures>? { closures.withLock { $0.take() } }
}
