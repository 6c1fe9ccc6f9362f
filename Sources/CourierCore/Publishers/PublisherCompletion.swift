/// How a publisher ended; no value comes after it.
public enum PublisherCompletion<Failure: Error>: Sendable {
    /// The end without an error: the sender has no further values, or was released.
    case finished

    /// With an error.
    case failure(Failure)
}

/// What travels from a subject to a sink.
@usableFromInline
package enum PublisherSignal<Output: Sendable, Failure: Error>: Sendable {
    case value(Output)
    case completion(PublisherCompletion<Failure>)
}
