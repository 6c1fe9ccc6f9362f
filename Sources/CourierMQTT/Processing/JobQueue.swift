import CourierCore
import Foundation
import MQTTEngine

/// The jobs of one processor, and the rules for them: which handler starts next, when a failed attempt is repeated, and
/// when a message is parked. A job is a received message that a handler must handle.
///
/// The queue does no work itself. Each call appends ``steps``, which the processor performs and whose results it
/// reports.
///
/// ```
/// storing ──▶ ready ──▶ running ──▶ recording ──▶ (removed)
///               ▲          ├──▶ waiting ──▶ ready
///               │          └──▶ parking ──▶ (parked)
///            loading
/// ```
struct JobQueue: Sendable {
    typealias Instant = MonotonicInstant
    /// The number of a job in this queue; later jobs have higher numbers.
    typealias JobID = Int

    /// The settings of a queue.
    struct Settings: Sendable {
        var concurrency = 4
        var retries = RetrySchedule()
        var handlerTimeout = Duration.seconds(300)
        var waiting = ProcessingLimits()
        var parked = ParkingLimits()
        /// How long keys of handled messages are remembered, and how many; `nil` if copies are not recognized.
        var keys: (time: Duration, maximumCount: Int)?
        /// True if the jobs are stored. False if they are only in memory.
        var isStored = false
        /// The name of the processor.
        var processor = ""
    }

    /// The state of a job.
    enum Stage: Hashable, Sendable {
        /// The job is being stored. The message is not acknowledged yet.
        case storing
        /// The job waits for a free handler, or for an earlier job with the same order key.
        case ready
        /// The message of the job is being read from the store.
        case loading
        /// The handler runs.
        case running
        /// The job waits for its next attempt.
        case waiting(until: Instant)
        /// The job must be parked, and waits for room among the parked messages.
        case parking
        /// The handler has returned, and the job is being removed from the store.
        case recording
    }

    /// One job.
    ///
    /// Safe to share between threads: only one queue has the job, and a processor uses its queue and the jobs under its
    /// lock.
    final class Job: @unchecked Sendable {
        /// The number of the job; 0 until it is added to a queue.
        var id: JobID = 0
        /// The row in the store. Without a store, a number that is unique in the client. `nil` until the job is stored.
        var row: StoredMessage.ID?
        /// The id of the row that is being stored. A refused job is stored again with this id, so that the rows of the
        /// jobs have the order of their arrival.
        var plannedRow: StoredMessage.ID?
        /// The message; `nil` if it is only in the store.
        var message: Message?
        /// The received message, whose ticket acknowledges it; `nil` after the acknowledgement.
        var received: ReceivedMessage?
        /// True from the step ``JobQueue/Step/store(_:)`` until its result is reported.
        var isBeingStored = false
        /// True while the job counts as a parked message; see ``JobQueue/reserved``.
        var isReserved = false
        /// True if the broker has sent the message again since the job was last passed to the store.
        var isSentAgain = false
        let topic: String
        let byteCount: Int
        /// Jobs with the same order key are handled one after the other; `nil` if the job may be handled in any order.
        let orderKey: String?
        let deduplicationKey: String?
        let receivedAt: StoreTime
        var attempts = 0
        var lastError: String?
        var stage: Stage
        /// The lane of the order key; `nil` if the job may be handled in any order, and before the job is added to a
        /// queue.
        var lane: Lane?

        /// Creates the job of a message that is only in memory until it is stored.
        init(
            _ received: ReceivedMessage, _ orderKey: String?, _ deduplicationKey: String?, receivedAt: StoreTime
        ) {
            let received = received.detached()
            (message, self.received) = (received.message(), received)
            topic = received.topic
            byteCount = received.page.byteCount + JobQueue.jobByteCount
            (self.orderKey, self.deduplicationKey) = (orderKey, deduplicationKey)
            self.receivedAt = receivedAt
            stage = .storing
        }

        /// Creates the job of a row. `message` is `nil` if it stays in the store only.
        init(
            _ row: StoredMessage.ID, _ message: Message?, topic: String, byteCount: Int, orderKey: String?,
            _ state: StoredJob.State, receivedAt: StoreTime
        ) {
            (self.row, self.message) = (row, message)
            (self.topic, self.byteCount) = (topic, byteCount)
            (self.orderKey, deduplicationKey) = (orderKey, state.deduplicationKey)
            self.receivedAt = receivedAt
            (attempts, lastError) = (state.attempts, state.lastError)
            stage = .ready
        }
    }

    /// A step that the processor must perform.
    enum Step: Sendable {
        /// Store the job. Report ``JobQueue/stored(_:as:now:time:)`` or ``JobQueue/notStored(_:_:now:time:)``.
        case store(JobID)
        /// Read the message of the job. Report ``JobQueue/loaded(_:_:now:)``.
        case load(JobID, StoredMessage.ID)
        /// Start the handler. Report ``JobQueue/finished(_:_:now:time:random:)``.
        case start(JobID)
        /// Cancel the handler, because it takes too long.
        case cancel(JobID)
        /// Write changes to the store. If there is a job, report ``JobQueue/recorded(_:now:)``.
        case write([StoreChange], for: JobID?)
        /// Acknowledge a message that was handled, parked or recognized as a copy.
        case acknowledge(ReceivedMessage)
        /// Pass a message to the next reader of its topic, because the store has refused it after the end of the
        /// processor.
        case giveBack(ReceivedMessage)
        /// Report an event.
        case tell(CourierEventType)

        /// True for a step that changes the store.
        var changesStore: Bool {
            switch self {
            case .store, .write: true
            case .load, .start, .cancel, .acknowledge, .giveBack, .tell: false
            }
        }
    }

    /// The result of one attempt.
    enum Outcome: Sendable {
        case handled
        case failed(any Error)
        /// No adapter can decode the message.
        case undecodable(any Error)
        /// The handler was cancelled because the processor stops. The attempt does not count.
        case stopped
    }

    /// The jobs with one order key, in their order. The first job is handled; the others wait for its end.
    ///
    /// Safe to share between threads: only the jobs of one queue have the lane, and a processor uses its queue and the
    /// lanes under its lock.
    final class Lane: @unchecked Sendable {
        var first: JobID
        /// The jobs after the first job.
        var followers = FirstInFirstOut<JobID>()

        init(_ first: JobID) { self.first = first }
    }

    /// A message that is parked.
    struct Parked: Sendable {
        let row: StoredMessage.ID
        let byteCount: Int
        let parkedAt: StoreTime
        let since: Instant
        /// The job, if it is only in memory; `nil` if it is in the store.
        let job: Job?
    }

    /// Messages in memory that a stopped processor leaves behind for the next processor with the same name.
    struct Left: Sendable {
        var parked: [Parked] = []
        var retried: [Job] = []

        var isEmpty: Bool { parked.isEmpty && retried.isEmpty }
    }

    /// The number of bytes that are counted for each job in addition to its message, 512.
    static let jobByteCount = 512
    /// The largest size of the messages that stay in memory while their jobs wait in a store: 8 MiB. Further messages
    /// are read from the store when their handlers start.
    static let memoryByteLimit = 8 << 20
    /// The largest number of handled jobs whose removal is not stored yet, 1,024. While this number is reached, no
    /// handler starts.
    static let recordingLimit = 1_024
    /// The largest length of the text of an error, in characters.
    static let errorLength = 1_000
    /// The pause before a job is stored or loaded again after the store had no room or failed.
    static let storePause = Duration.seconds(1)

    let settings: Settings
    var jobs: [JobID: Job] = [:]
    /// The steps to perform, in order.
    var steps: [Step] = []
    var lanes: [String: Lane] = [:]
    var ready = FirstInFirstOut<Job>()
    var due = DueTimes()
    /// The deadlines of running handlers, in order. May also contain deadlines of handlers that have already returned.
    /// Those deadlines have no effect.
    var deadlines = FirstInFirstOut<(id: JobID, attempt: Int, at: Instant)>()
    var parked: [Parked] = []
    /// The jobs that wait for room among the parked messages, each with the reason.
    var parking: [(id: JobID, error: any Error)] = []
    /// The number and the size of the messages that are being stored as parked messages. They count toward the limits
    /// for parked messages.
    var reserved = StoreSize()
    /// The jobs that could not be stored, and are stored again at ``storeRetry``.
    var unstored: [JobID] = []
    var storeRetry: Instant?
    var keys = HandledKeys()
    var copies = UnacknowledgedCopies()
    var lastID = 0
    var byteCount = 0
    var memoryByteCount = 0
    var parkedByteCount = 0
    var runningCount = 0
    var recordingCount = 0
    var handledCount = 0
    var retriedCount = 0
    /// The jobs whose handler ran when the queue was reset. Their results are ignored.
    var orphans: Set<JobID> = []
    var isStopped = false
    /// True if the messages without acknowledgement were given back after a stop; see ``giveBack(now:)``.
    var hasGivenBack = false
    /// True while the jobs of an earlier process are being loaded. Meanwhile, no handler starts and no message arrives.
    var isLoading = false
    /// The reason why the subscription failed, for example because the broker refused it. After a failure, no more
    /// messages arrive. `nil` if the subscription has not failed.
    var refusal: String?
    var pauseReason: String?

    /// Creates an empty queue, whose jobs have numbers above `firstID`.
    init(_ settings: Settings, firstID: JobID = 0) {
        self.settings = settings
        lastID = firstID
    }

    /// True if another message may arrive.
    var hasRoom: Bool { room > 0 }

    /// The number of messages that may arrive now. When the messages of the queue use up the allowed bytes, the number
    /// becomes 0, even if fewer messages have arrived.
    var room: Int {
        guard !isStopped, !isLoading, unstored.isEmpty, byteCount < max(settings.waiting.maximumBytes, 1) else {
            return 0
        }
        return max(max(settings.waiting.maximumCount, 1) - jobs.count, 0)
    }

    /// Removes and returns the steps.
    mutating func takeSteps() -> [Step] { exchange(&steps, with: []) }

    /// The time at which ``wake(now:time:)`` must be called; `nil` for never.
    var nextWake: Instant? {
        var next = storeRetry
        if let time = due.first { next = min(next ?? time, time) }
        if let time = deadlines.first?.at { next = min(next ?? time, time) }
        if let time = oldestParkedEnd { next = min(next ?? time, time) }
        return next
    }

    /// The time at which the oldest parked message is removed; `nil` for never.
    private var oldestParkedEnd: Instant? {
        guard let age = settings.parked.maximumAge, let first = parked.first else { return nil }
        return first.since.advanced(by: age)
    }
}
