/// How a publisher ended; no value comes after it.
public enum PublisherCompletion<Failure: Error>: Sendable {
    /// In order: whoever sends has nothing more to send, or is gone.
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
