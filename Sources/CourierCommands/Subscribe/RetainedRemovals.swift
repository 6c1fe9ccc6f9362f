import CourierCore
import Dispatch
import Synchronization

/// Removes retained messages from the broker by publishing empty messages, as fast as the client accepts them.
///
/// Safe to share: mutable state is atomic, or is used only on the connection's queue.
final class RetainedRemovals: @unchecked Sendable {
    /// The maximum size of the waiting topics in bytes. When it is reached, messages of further topics are not removed
    /// from the broker.
    static let waitingLimit = 64 << 20

    private let connection: CommandConnection
    private let answered: @Sendable (CourierError?) -> Void
    /// The topics that wait until the client accepts more messages, oldest first.
    private var waiting: ArraySlice<String> = []
    private var waitingSize = 0
    private var isAwaitingRoom = false
    private var sentCount = 0
    /// The number of removals that have succeeded or failed.
    private(set) var answeredCount = 0
    /// The number of requested removals that have neither succeeded nor failed. A removal that is not sent, because too
    /// many topics wait, is counted too.
    private let openCount = Atomic(0)

    /// Creates an object that removes messages through the client of a connection.
    ///
    /// - Parameters:
    ///   - connection: The connection.
    ///   - answered: Called on the queue for each message, with the error if it was not removed.
    init(_ connection: CommandConnection, answered: @escaping @Sendable (CourierError?) -> Void) {
        self.connection = connection
        self.answered = answered
    }

    /// True if some requested removal has neither succeeded nor failed. May be called from any thread.
    var isAnyOpen: Bool { openCount.load(ordering: .relaxed) > 0 }

    /// True if no topic waits, and every sent removal has succeeded or failed.
    var isIdle: Bool { waiting.isEmpty && sentCount == answeredCount }

    /// Removes the retained message of a topic, unless too many topics wait.
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
        // The slice is replaced by a new array, because the memory of the slice still contains the topics that were
        // already sent.
        waiting = []
    }

    private func awaitRoom() {
        isAwaitingRoom = true
        Task { [self] in
            // If this call throws, its error is ignored here, because the next `publish` throws too and reports the
            // error.
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
