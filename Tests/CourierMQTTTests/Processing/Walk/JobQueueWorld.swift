import CourierCore
import Foundation
import MQTTEngine
import TestSupport

@testable import CourierMQTT

/// The environment of a ``JobQueue`` in virtual time: a broker, a disk, handlers and clocks. Performs the steps of the
/// queue, and compares the queue with a ``JobQueueModel``.
struct JobQueueWorld {
    typealias Instant = JobQueue.Instant
    typealias JobID = JobQueue.JobID

    /// A mistake that is planted in the environment, to prove that a walk finds it.
    enum Mistake: CaseIterable, Sendable {
        /// The removal of a handled job is reported as stored, but is missing on the disk.
        case losesRemoval
        /// A new job is reported as stored, but is missing on the disk.
        case losesJob
        /// The key of a handled message is missing on the disk.
        case losesKey
        /// The pauses of the queue are shorter than those of the policy.
        case shortensPauses
        /// Some messages have no order key.
        case losesOrder
        /// One handler too many may run.
        case raisesConcurrency
        /// The broker does not mark repeated messages.
        case losesDuplicateFlag
    }

    /// One delivery of a message to the client.
    struct Delivery {
        let message: JobWalkMessage
        let packetID: UInt16
        let connection: Int
        let isDuplicate: Bool
    }

    struct Handler {
        let id: JobID
        let message: JobWalkMessage
        var isOrphan = false
    }

    /// Changes that were passed to the store, and are not written.
    struct Write {
        let changes: [StoreChange]
        let id: JobID?
        /// The row of a new job; `nil` for other changes.
        var row: StoredMessage.ID?
    }

    let conditions: JobWalkConditions
    let mistake: Mistake?
    var random: SeededGenerator
    var queue: JobQueue
    var model: JobQueueModel
    /// The first rule that the queue has violated.
    var violation: String?
    /// True if the queue has reported a pause that has not ended.
    var isPaused = false

    // MARK: Clocks

    static let beginning = Instant(ContinuousClock.now)
    var now: Instant = Self.beginning
    var dateOffset: TimeInterval = 0
    var bootID = UUID()
    var time: StoreTime {
        let elapsed = Self.beginning.duration(to: now)
        return StoreTime(
            date: Date(timeIntervalSinceReferenceDate: 800_000_000 + dateOffset + elapsed / .seconds(1)),
            bootTime: BootTime(bootID: bootID, sinceBoot: elapsed))
    }

    // MARK: Broker

    var messages: [JobWalkMessage] = []
    var unsent: [JobWalkMessage] = []
    var unacknowledged: [(packetID: UInt16, message: JobWalkMessage)] = []
    var arriving: [Delivery] = []
    /// The messages that a stopped processor has not handled.
    var handedBack: [ReceivedMessage] = []
    var deliveries: [Delivery] = []
    var connection = 0

    // MARK: Disk

    var disk: [StoredJob] = []
    var diskKeys: [ProcessedKey] = []
    /// The keys that were reported as written.
    var writtenKeys: [ProcessedKey] = []
    var lastRow: UInt64 = 0
    var isDiskFull = false
    /// New jobs, and changes of jobs. As in the client, each of both lists is written in its order.
    var additions: [Write] = []
    var writes: [Write] = []
    /// Written changes whose end is not reported yet.
    var reports: [Write] = []
    var loads: [(id: JobID, row: StoredMessage.ID)] = []
    var removalCount = 0

    // MARK: Results

    var handlers: [Handler] = []
    /// The rows whose removal was reported as written.
    var removedRows: Set<StoredMessage.ID> = []
    var handled: Set<Int> = []
    /// The messages that this process has handled or parked. Without a store, each of them must happen once only.
    var doneInProcess: Set<Int> = []
    /// The messages that were parked, removed by a limit or by the user, or destroyed with the session.
    var ended: Set<Int> = []
    /// The messages that were acknowledged as copies, each with its key.
    var copies: [JobWalkMessage] = []

    init(seed: UInt64, _ mistake: Mistake? = nil) {
        random = SeededGenerator(seed: seed)
        conditions = JobWalkConditions(&random)
        self.mistake = mistake
        model = JobQueueModel(conditions.settings)
        queue = JobQueue(Self.settings(conditions, mistake))
    }

    /// The settings of the queue. They differ from the settings of the model if a mistake is planted.
    static func settings(_ conditions: JobWalkConditions, _ mistake: Mistake?) -> JobQueue.Settings {
        var settings = conditions.settings
        if mistake == .shortensPauses { settings.retries.first = settings.retries.first / 2 }
        if mistake == .raisesConcurrency { settings.concurrency += 1 }
        return settings
    }

    mutating func require(_ condition: Bool, _ text: @autoclosure () -> String) {
        if !condition, violation == nil { violation = text() }
    }

    mutating func check() {
        if violation == nil { violation = model.violation(of: queue, now, time) }
        for message in exchange(&model.removed, with: []) { ended.insert(message.number) }
    }

    // MARK: Steps

    /// Performs the steps of the queue, and wakes the queue if its time has come.
    mutating func perform() {
        while violation == nil {
            let steps = queue.takeSteps()
            for step in steps { perform(step) }
            if !steps.isEmpty { continue }
            guard let wake = queue.nextWake, wake <= now else { return check() }
            queue.wake(now: now, time: time)
            model.wake(now)
            noteParked()
        }
    }

    private mutating func perform(_ step: JobQueue.Step) {
        switch step {
        case .store(let id): store(id)
        case .load(let id, let row):
            checkStart(id)
            if let index = model.index(id) { model.jobs[index].stage = .loading }
            loads.append((id, row))
        case .start(let id): start(id)
        case .cancel(let id):
            guard let index = model.index(id), let start = model.jobs[index].startedAt else { return }
            let isOverdue = start.advanced(by: conditions.settings.handlerTimeout) <= now
            let number = model.jobs[index].message.number
            require(isOverdue, "message \(number) is cancelled too early")
            model.jobs[index].isCancelled = true
        case .write(let changes, let id): writes.append(Write(changes: changes, id: id))
        case .acknowledge(let received): acknowledge(received)
        case .giveBack(let received):
            require(model.hasGivenBack, "a message is given back before the end of the processor")
            giveBack(received)
        case .tell(.processingPaused):
            require(!isPaused, "a second pause is reported")
            isPaused = true
        case .tell(.processingResumed):
            require(isPaused, "the end of no pause is reported")
            isPaused = false
        case .tell: break
        }
    }

    private mutating func store(_ id: JobID) {
        guard let job = queue.jobs[id], let received = job.received else {
            return require(false, "the job \(id) has no message to store")
        }
        guard deliveries[received.arrival].connection == connection else {
            queue.notStored(id, .sentAgain, now: now, time: time)
            return model.notStored(id, .sentAgain, now)
        }
        lastRow += 1
        let row = StoredMessage(
            id: StoredMessage.ID(rawValue: lastRow), topic: job.topic, payload: received.withPayload { [UInt8]($0) },
            qos: .one, storedAt: time.date, bootTime: time.bootTime)
        let state = StoredJob.State(
            processor: conditions.settings.processor, deduplicationKey: job.deduplicationKey, lastError: job.lastError,
            stage: job.stage == .parking ? .parked(at: time.date) : .waiting(.zero, since: time))
        additions.append(Write(changes: [.addJob(StoredJob(row, state))], id: id, row: row.id))
    }

    /// Checks that the handler of a job may start.
    private mutating func checkStart(_ id: JobID) {
        guard let index = model.index(id) else { return require(false, "the unknown job \(id) starts") }
        let job = model.jobs[index]
        let number = job.message.number
        require(model.mayStart, "message \(number) starts, but no handler may start")
        require(job.stage == .ready, "message \(number) starts from \(job.stage)")
        require(model.isFirst(at: index), "message \(number) starts before an earlier message with its order key")
        require(job.row.map { !removedRows.contains($0) } ?? true, "message \(number) starts after its end was written")
        if let key = job.key, !model.retriedKeys.contains(key) {
            require(!model.isRemembered(key, now), "message \(number) starts, but its key was handled")
        }
    }

    private mutating func start(_ id: JobID) {
        if model.index(id).map({ model.jobs[$0].stage != .loading }) ?? true { checkStart(id) }
        guard let index = model.index(id), let message = queue.jobs[id]?.message else {
            return require(false, "the job \(id) starts without a message")
        }
        let number = model.jobs[index].message.number
        require(JobWalkConditions.number(of: message) == number, "message \(number) has a wrong payload")
        model.started(id, now)
        handlers.append(Handler(id: id, message: model.jobs[index].message))
    }

    private mutating func acknowledge(_ received: ReceivedMessage) {
        let delivery = deliveries[received.arrival]
        let message = delivery.message
        let job = model.jobs.first { $0.message.number == message.number }
        let isOnDisk = disk.contains { JobWalkConditions.number(of: $0.message) == message.number }
        let isKeyed = conditions.settings.keys != nil && message.isDecodable
        let hasCopy = isKeyed && model.jobs.contains { $0.key == message.key && $0.message.number != message.number }
        let isCopy = isKeyed && (model.isRemembered(message.key, now) || hasCopy)
        let isDone =
            isOnDisk || ended.contains(message.number) || job == nil && handled.contains(message.number)
            || job?.stage == .recording
        require(isDone || isCopy, "message \(message.number) is acknowledged, but is neither stored nor handled")
        if !isDone { copies.append(message) }
        if delivery.connection == connection {
            unacknowledged.removeAll { $0.packetID == delivery.packetID }
        } else if !conditions.settings.isStored {
            queue.copies.couldNotAcknowledge(received)
        }
    }
}
