import Synchronization

/// Counts the traffic of a client on all its connections. The event loop adds to the counts, and any thread may read
/// them.
package final class TrafficCounters: Sendable {
    private let sentBytes = Atomic(0)
    private let receivedBytes = Atomic(0)
    private let messages = Atomic(0)
    private let connections = Atomic(0)

    var sentByteCount: Int { sentBytes.load(ordering: .relaxed) }
    var receivedByteCount: Int { receivedBytes.load(ordering: .relaxed) }
    /// The number of received messages.
    var messageCount: Int { messages.load(ordering: .relaxed) }
    /// The number of connections that brokers accepted.
    var connectionCount: Int { connections.load(ordering: .relaxed) }

    func sent(byteCount: Int) { sentBytes.add(byteCount, ordering: .relaxed) }
    func received(byteCount: Int) { receivedBytes.add(byteCount, ordering: .relaxed) }
    func received(messageCount: Int) { messages.add(messageCount, ordering: .relaxed) }
    func connected() { connections.add(1, ordering: .relaxed) }
}
