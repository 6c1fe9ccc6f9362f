import CourierCore
import Foundation
import MQTTEngine
import Testing

@testable import CourierMQTT

/// The rules of a ``JobQueue`` that a walk breaks seldom.
@Suite struct JobQueueTests {
    private static let now = JobQueue.Instant(ContinuousClock.now)
    private static let time = StoreTime(date: Date(timeIntervalSinceReferenceDate: 800_000_000))
    private static let row = StoredMessage.ID(rawValue: 7)
    private struct Failure: Error {}

    private static func queue(isStored: Bool = true, _ change: (inout JobQueue.Settings) -> Void = { _ in }) -> JobQueue
    {
        var settings = JobQueue.Settings()
        (settings.isStored, settings.processor) = (isStored, "orders")
        change(&settings)
        return JobQueue(settings)
    }

    /// A delivery of a message. `arrival` identifies it.
    private static func delivery(
        _ text: String, packetID: UInt16 = 1, arrival: Int, isDuplicate: Bool = false
    ) -> ReceivedMessage {
        let page = MessagePage(
            Data(text.utf8), topic: "orders/1", qos: .one, packetID: packetID, isRetained: false,
            isDuplicate: isDuplicate, properties: MessageProperties())
        let ticket = AcknowledgementTicket(.kept(until: nil), readers: 1) { _ in }
        return ReceivedMessage(page: page, index: 0, arrival: arrival, ticket: ticket)
    }

    private static func arrive(
        _ received: ReceivedMessage, _ queue: inout JobQueue, key: String? = nil, isDecodable: Bool = true
    ) {
        queue.arrived(
            JobQueue.Job(received, nil, key, receivedAt: time), problem: isDecodable ? nil : Failure(), now: now,
            time: time)
    }

    /// Returns short names of the steps that the queue has added.
    private static func steps(_ queue: inout JobQueue) -> [String] {
        queue.takeSteps().map { step in
            switch step {
            case .store(let id): "store \(id)"
            case .load(let id, _): "load \(id)"
            case .start(let id): "start \(id)"
            case .cancel(let id): "cancel \(id)"
            case .write(let changes, _): "write \(changes.count)"
            case .acknowledge(let received): "acknowledge \(received.arrival)"
            case .giveBack(let received): "give back \(received.arrival)"
            case .tell(.processingPaused): "paused"
            case .tell(.processingResumed): "resumed"
            case .tell(.messageParked): "parked"
            case .tell: "tell"
            }
        }
    }

    /// A parked message of an earlier process.
    private static func parkedJob(_ number: UInt64, parkedAt: Date) -> StoredJob {
        let message = StoredMessage(
            id: StoredMessage.ID(rawValue: number), topic: "orders/1", payload: [1], qos: .one, storedAt: time.date)
        return StoredJob(message, StoredJob.State(processor: "orders", attempts: 5, stage: .parked(at: parkedAt)))
    }

    @Test(arguments: [nil, "key"])
    func `if the store refuses a job, the repeated message is acknowledged only when the message is stored`(
        _ key: String?
    ) {
        var queue = Self.queue { $0.keys = (.seconds(60), 10) }
        Self.arrive(Self.delivery("a", arrival: 1), &queue, key: key)
        #expect(Self.steps(&queue) == ["store 1"])
        queue.notStored(1, .noRoom("The disk is full."), now: Self.now, time: Self.time)
        Self.arrive(Self.delivery("a", arrival: 2, isDuplicate: true), &queue, key: key)
        #expect(Self.steps(&queue) == ["paused"])
        queue.wake(now: Self.now.advanced(by: JobQueue.storePause), time: Self.time)
        #expect(Self.steps(&queue) == ["store 1"])
        queue.stored(1, as: Self.row, now: Self.now, time: Self.time)
        #expect(Self.steps(&queue) == ["acknowledge 2", "start 1", "resumed"])
        #expect(queue.jobs.count == 1)
    }

    @Test
    func `if a connection ends before the job of a message is stored, the repeated message is stored as a new job`() {
        var queue = Self.queue()
        Self.arrive(Self.delivery("a", arrival: 1), &queue)
        Self.arrive(Self.delivery("a", arrival: 2, isDuplicate: true), &queue)
        #expect(Self.steps(&queue) == ["store 1"])
        queue.notStored(1, .sentAgain, now: Self.now, time: Self.time)
        #expect(Self.steps(&queue) == ["store 1"])
        queue.notStored(1, .sentAgain, now: Self.now, time: Self.time)
        #expect(Self.steps(&queue).isEmpty && queue.jobs.isEmpty)
    }

    @Test func `with a deduplication key, a repeated message is acknowledged only after its first copy is handled`() {
        var queue = Self.queue(isStored: false) { $0.keys = (.seconds(60), 10) }
        Self.arrive(Self.delivery("a", arrival: 1), &queue, key: "key")
        Self.arrive(Self.delivery("a", arrival: 2, isDuplicate: true), &queue, key: "key")
        #expect(Self.steps(&queue) == ["start 1"])
        queue.finished(1, .handled, now: Self.now, time: Self.time, random: 0)
        #expect(Self.steps(&queue) == ["acknowledge 2"])
    }

    @Test
    func `after stop(), messages that the store refuses are returned for the next reader and are not stored again`() {
        var queue = Self.queue()
        Self.arrive(Self.delivery("a", arrival: 1), &queue)
        Self.arrive(Self.delivery("b", packetID: 2, arrival: 2), &queue)
        _ = queue.takeSteps()
        queue.notStored(1, .noRoom("The disk is full."), now: Self.now, time: Self.time)
        queue.stop()
        #expect(queue.giveBack(now: Self.now).map(\.arrival) == [1])
        queue.notStored(2, .noRoom("The disk is full."), now: Self.now, time: Self.time)
        #expect(Self.steps(&queue) == ["paused", "give back 2"])
        #expect(queue.jobs.isEmpty && queue.nextWake == nil)
    }

    @Test func `after stop(), a message that waits for room among the parked messages is returned for the next reader`()
    {
        var queue = Self.queue { $0.parked = ParkingLimits(maximumCount: 1) }
        queue.restore(Self.parkedJob(1, parkedAt: .now), orderKey: nil, now: Self.now, time: Self.time)
        Self.arrive(Self.delivery("a", arrival: 1), &queue, isDecodable: false)
        queue.stop()
        #expect(queue.giveBack(now: Self.now).map(\.arrival) == [1])
        #expect(queue.jobs.isEmpty)
    }

    @Test
    func `if the store refused a message, the pause of the queue ends when the broker has sent the message again`() {
        var queue = Self.queue()
        Self.arrive(Self.delivery("a", arrival: 1), &queue)
        queue.notStored(1, .noRoom("The disk is full."), now: Self.now, time: Self.time)
        queue.wake(now: Self.now.advanced(by: JobQueue.storePause), time: Self.time)
        #expect(Self.steps(&queue) == ["store 1", "paused", "store 1"])
        queue.notStored(1, .sentAgain, now: Self.now, time: Self.time)
        #expect(Self.steps(&queue) == ["resumed"])
        #expect(queue.pauseReason == nil && queue.hasRoom)
    }

    @Test func `a pause at the parking limit ends when the oldest parked message reaches maximumAge`() {
        var queue = Self.queue(isStored: false) {
            $0.parked = ParkingLimits(maximumCount: 1, maximumAge: .seconds(60))
        }
        Self.arrive(Self.delivery("a", arrival: 1), &queue, isDecodable: false)
        Self.arrive(Self.delivery("b", packetID: 2, arrival: 2), &queue)
        queue.finished(
            2, .failed(Park(reason: "No.")), now: Self.now.advanced(by: .seconds(30)), time: Self.time, random: 0)
        Self.arrive(Self.delivery("c", packetID: 3, arrival: 3), &queue)
        #expect(Self.steps(&queue) == ["parked", "acknowledge 1", "start 2", "paused"])
        #expect(queue.nextWake == Self.now.advanced(by: .seconds(60)))
        queue.wake(now: Self.now.advanced(by: .seconds(60)), time: Self.time)
        #expect(Self.steps(&queue) == ["parked", "acknowledge 2", "resumed", "start 3"])
    }

    @Test func `if there are too many parked messages, the restored message with the earliest parking date is removed`()
    {
        var queue = Self.queue { $0.parked = ParkingLimits(maximumCount: 2, overflow: .removeOldest) }
        queue.restore(Self.parkedJob(1, parkedAt: Self.time.date - 10), orderKey: nil, now: Self.now, time: Self.time)
        queue.restore(Self.parkedJob(2, parkedAt: Self.time.date - 20), orderKey: nil, now: Self.now, time: Self.time)
        Self.arrive(Self.delivery("a", arrival: 1), &queue, isDecodable: false)
        #expect(queue.parked.map(\.row.rawValue) == [1])
    }

    @Test func `the queue forgets the deadlines of handlers that return before their timeout`() {
        var queue = Self.queue(isStored: false)
        for number in 1...1_000 {
            Self.arrive(Self.delivery("\(number)", arrival: number), &queue)
            queue.finished(number, .handled, now: Self.now, time: Self.time, random: 0)
        }
        #expect(queue.handledCount == 1_000)
        #expect(queue.deadlines.count <= 100)
    }
}
