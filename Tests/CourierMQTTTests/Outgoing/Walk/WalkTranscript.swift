import CourierCore
import Synchronization

/// How a publish ended, for its caller.
enum WalkEnd: Equatable, Sendable {
    case succeeded
    case failed(CourierError.Code)
    /// Its task was cancelled; what becomes of the message is another matter.
    case cancelled
}

/// One thing that happened in a walk. The checker knows nothing else.
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
    /// `disconnect()` was called: what the client reads from this connection afterwards does not count.
    case disconnected
    /// `destroy()` was called.
    case destroyed
    /// Everything that follows without time has happened.
    case settled
    /// A good broker had all the time that it needs.
    case finished
}

/// What a walk publishes.
struct WalkMessage: Sendable {
    /// How the app publishes.
    enum Form: CaseIterable, Sendable { case completion, nobody, task, enqueue }

    let number: Int
    let topic: String
    let qos: QoS
    let byteCount: Int
    let form: Form
    let isLatestOnly: Bool
    /// How long it may wait.
    let age: Duration?
    /// Whether the caller may have to wait for room, so that nobody outside knows when the message is accepted.
    var mayWaitForRoom = false
}

/// What happened in a walk, in order and with its time, from all threads.
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
