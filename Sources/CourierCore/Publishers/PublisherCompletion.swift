/// The end of a publisher: finished or failed. A publisher sends no value after its end.
public enum PublisherCompletion<Failure: Error>: Sendable {
    /// The publisher ended without an error: the sender has no more values, or was released.
    case finished

    /// The publisher ended with an error.
    case failure(Failure)
}

/// A value or a completion on its way from a subject to a sink.
@usableFromInline
package enum PublisherSignal<Output: Sendable, Failure: Error>: Sendable {
    case value(Output)
    case completion(PublisherCompletion<Failure>)
}
