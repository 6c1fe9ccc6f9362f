import CourierCore
import Synchronization

/// The result of a publish for its caller.
enum WalkEnd: Equatable, Sendable {
    case succeeded
    case failed(CourierError.Code)
    /// The task was cancelled. The message may still be delivered.
    case cancelled
}

/// One entry of a walk's transcript. The checker uses only these entries.
enum WalkEntry: Sendable {
    /// The app publishes a message.
    case offered(Int)
    /// The call failed at once.
    case refused(Int, CourierError.Code)
    /// A completion was called, or an await returned.
    case ended(Int, WalkEnd)
    /// An event reported the end of the message.
    case reported(Int, isFailure: Bool)
    /// The broker accepted a connection.
    case connected(receiveMaximum: Int, isSessionPresent: Bool)
    /// The client sent a PUBLISH with this packet id, 0 for QoS 0. A broker that does not read has not received it.
    case sent(Int, UInt16, isDuplicate: Bool)
    /// The client read the broker's answer to a message's PUBLISH.
    case answered(Int)
    /// The exchange of a packet id has ended in the broker.
    case completed(packetID: UInt16)
    /// The broker stopped reading.
    case stalled
    /// `disconnect()` was called. Later bytes of this connection do not count for the client.
    case disconnected
    /// `destroy()` was called.
    case destroyed
    /// All work that needs no time was done.
    case settled
    /// A correct broker had enough time to answer all messages.
    case finished
}

/// A message that a walk publishes.
struct WalkMessage: Sendable {
    /// The call by which the app publishes.
    enum Form: CaseIterable, Sendable { case completion, nobody, task, enqueue }

    let number: Int
    let topic: String
    let qos: QoS
    let byteCount: Int
    let form: Form
    let isLatestOnly: Bool
    /// The maximum time that the message may wait.
    let age: Duration?
    /// True if the caller may have to wait for room. Then only the client knows when the message is accepted.
    var mayWaitForRoom = false
}

/// The events of a walk in order, with their times, from all threads.
final class WalkTranscript: Sendable {
    struct Line: Sendable {
        let time: Duration
        let entry: WalkEntry
    }

    private let state = Mutex<[Line]>([])
    private let clock: WalkClock
    private let start: Duration

    init(_ clock: WalkClock) {
        self.clock = clock
        start = clock.elapsed
    }

    var lines: [Line] { state.withLock { $0 } }
    var count: Int { state.withLock { $0.count } }

    func append(_ entry: WalkEntry) {
        let time = clock.elapsed - start
        state.withLock { $0.append(Line(time: time, entry: entry)) }
    }
}
