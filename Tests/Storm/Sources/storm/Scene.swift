/// What happens to the broker. All times are in milliseconds.
struct Scene: Sendable {
    /// What the broker does with a connection for which its backlog has no place.
    enum Overflow: String, Sendable {
        /// Refuses it, which the client knows at once.
        case refuse
        /// Says nothing, as a full listen queue of Linux does, and the client gives up after ``connectTimeout``.
        case silence
    }

    var clientCount = 1_000_000
    /// How long nobody listens. Connections are refused meanwhile.
    var downTime = 30_000
    /// How many connections the broker accepts in a millisecond.
    var acceptedPerMillisecond = 10
    /// How many connections wait to be accepted at most.
    var backlog = 4_096
    var connectTimeout = 10_000
    /// The time that a packet takes to the broker or back is chance within this.
    var latency = 10...60
    var overflow = Overflow.refuse
    /// When to give up: the policy does not get everybody back.
    var end = 1_800_000
}
