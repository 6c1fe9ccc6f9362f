/// Identifies one attempt to connect, from the request for credentials to the end of the attempt. A supervisor uses
/// each id only once.
struct AttemptID: Hashable, Sendable {
    /// The number of the attempt, starting at 1.
    let number: Int
}
