/// The simulated outage: how the broker fails and returns. All times are in milliseconds.
struct Scene: Sendable {
    /// The broker's reaction to a connection when its backlog is full.
    enum Overflow: String, Sendable {
        /// The broker refuses the connection, and the client learns that at once.
        case refuse
        /// The broker does not answer, like a full listen queue of Linux. The client gives up after ``connectTimeout``.
        case silence
    }

    var clientCount = 1_000_000
    /// How long the broker is down. Connections are refused during this time.
    var downTime = 30_000
    /// The number of connections that the broker accepts per millisecond.
    var acceptedPerMillisecond = 10
    /// The largest number of connections that wait to be accepted.
    var backlog = 4_096
    var connectTimeout = 10_000
    /// The range of the random time that a packet takes to the broker or back.
    var latency = 10...60
    var overflow = Overflow.refuse
    /// The time at which the simulation stops, even if not all clients are connected.
    var end = 1_800_000
}
