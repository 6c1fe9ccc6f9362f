import CourierCore
import Dispatch
import Synchronization

/// Removes retained messages from the broker by publishing empty ones, at the rate that the client accepts.
///
/// Safe to share: mutable state is atomic, or is used only on the connection's queue.
final class RetainedRemovals: @unchecked Sendable {
    /// The maximum size of waiting topics in bytes. Messages of further topics remain on the broker.
    static let waitingLimit = 64 << 20

    private let connection: CommandConnection
    private let answered: @Sendable (CourierError?) -> Void
    /// The topics that wait until the client accepts more messages, in order.
    private var waiting: ArraySlice<String> = []
    private var waitingSize = 0
    private var isAwaitingRoom = false
    private var sentCount = 0
    /// The number of messages that are removed or that will certainly remain.
    private(set) var answeredCount = 0
    /// The number of messages whose removal is not confirmed.
    private let openCount = Atomic(0)

    /// Removes messages by the client of a connection.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - answered: Called on the queue for each message, with the error if it was not removed.
    init(_ connection: CommandConnection, answered: @escaping @Sendable (CourierError?) -> Void) {
        self.connection = connection
        self.answered = answered
    }

    /// Whether any removal is not confirmed. May be called from any thread.
    var isAnyOpen: Bool { openCount.load(ordering: .relaxed) > 0 }

    /// Whether no removal is waiting or unanswered.
    var isIdle: Bool { waiting.isEmpty && sentCount == answeredCount }

    /// Removes the message of a topic.
    func remove(_ topic: String) {
        openCount.add(1, ordering: .relaxed)
        let size = Self.size(of: topic)
        guard waitingSize + size <= Self.waitingLimit else { return }
        waiting.append(topic)
        waitingSize += size
        if !isAwaitingRoom { sendWaiting() }
    }

    /// Stops sending removals.
    ///
    /// - Returns: The number of messages whose removal is not confirmed.
    func stop() -> Int {
        waiting = []
        return openCount.load(ordering: .relaxed)
    }

    private func sendWaiting() {
        while let topic = waiting.first {
            do {
                try connection.client.publish(
                    bytes: [], to: topic, qos: .one, retain: true, properties: MessageProperties()
                ) { [weak self] result in
                    if case .failure(let error) = result { self?.end(error) } else { self?.end(nil) }
                }
            } catch {
                let error = (error as? CourierError) ?? CourierError(.invalidMessage, "\(error)", cause: error)
                if error.code == .queueFull { return awaitRoom() }
                connection.queue.async { [weak self] in self?.end(error) }
            }
            sentCount += 1
            waiting.removeFirst()
            waitingSize -= Self.size(of: topic)
        }
        // Those that were sent are still in its memory.
        waiting = []
    }

    private func awaitRoom() {
        isAwaitingRoom = true
        Task { [self] in
            // If the call throws, the next `publish` also throws, and reports the error.
            try? await connection.client.readyToPublish()
            connection.queue.async { [self] in
                isAwaitingRoom = false
                sendWaiting()
            }
        }
    }

    private func end(_ error: CourierError?) {
        answeredCount += 1
        openCount.subtract(1, ordering: .relaxed)
        answered(error)
    }

    private static func size(of topic: String) -> Int { MemoryLayout<String>.stride + topic.utf8.count }
}
