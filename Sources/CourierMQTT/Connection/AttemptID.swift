/// Names one attempt to connect, from asking for credentials to its end. A supervisor never uses one twice.
struct AttemptID: Hashable, Sendable {
    /// Counts from 1.
    let number: Int
}
