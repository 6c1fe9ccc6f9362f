import CourierCore
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

/// What waits for a store, from several threads, and when somebody looks.
@Suite struct OutboxArrivalsTests {
    private typealias Queue = ArrivalQueueTests

    private static func add(_ text: String, to arrivals: OutboxArrivals) throws -> OutboxArrivals.Verdict {
        try arrivals.add(Queue.arrival(text), to: 0, at: ContinuousClock.now) {}.verdict
    }

    private static func take(_ arrivals: OutboxArrivals) -> [String]? {
        arrivals.take(ofSession: 0).map { Queue.texts($0.list) }
    }

    @Test func `no other message ends one whose beginning is still being told`() throws {
        let arrivals = OutboxArrivals(OfflinePolicy(maximumCount: 1, overflow: .dropOldest))
        let now = ContinuousClock.now
        let dropped = Box<[String]>()
        let (isTrying, isAdded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        var isHeldUp = true
        let first = try arrivals.add(Queue.arrival("1"), to: 0, at: now) {
            Thread.detachNewThread {
                isTrying.signal()
                let second = try? arrivals.add(Queue.arrival("2"), to: 0, at: now) {}
                dropped.value = second.map { Queue.texts($0.dropped.list) }
                isAdded.signal()
            }
            isTrying.wait()
            isHeldUp = isAdded.wait(timeout: .now() + 0.05) == .timedOut
        }
        #expect(first.verdict == .takenFirst)
        try #require(isHeldUp)
        isAdded.wait()
        #expect(dropped.value == ["1"])
        #expect(Queue.texts(arrivals.take(ofSession: 0)?.list ?? []) == ["2"])
    }

    // MARK: Gathering

    @Test func `what callers bring who were just told is waited for`() throws {
        let arrivals = OutboxArrivals(OfflinePolicy())
        try #expect(Self.add("1", to: arrivals) == .takenFirst)
        #expect(arrivals.gather(after: Queue.called(2), ofSession: 0))
        #expect(Self.take(arrivals) == nil)
        try #expect(Self.add("2", to: arrivals) == .taken)
        #expect(Self.take(arrivals) == nil)
        try #expect(Self.add("3", to: arrivals) == .takenFirst)
        try #expect(Self.add("4", to: arrivals) == .taken)
        #expect(Self.take(arrivals) == ["1", "2", "3", "4"])
        try #expect(Self.add("5", to: arrivals) == .takenFirst)
    }

    @Test func `somebody looks when the waiting is over and something waits`() throws {
        let arrivals = OutboxArrivals(OfflinePolicy())
        #expect(!arrivals.stopGathering())
        #expect(arrivals.gather(after: Queue.called(3), ofSession: 0))
        #expect(!arrivals.stopGathering())
        try #expect(Self.add("1", to: arrivals) == .takenFirst)
        #expect(Self.take(arrivals) == ["1"])
        #expect(arrivals.gather(after: Queue.called(3), ofSession: 0))
        try #expect(Self.add("2", to: arrivals) == .taken)
        #expect(arrivals.stopGathering())
        #expect(!arrivals.stopGathering())
        try #expect(Self.add("3", to: arrivals) == .taken)
        #expect(Self.take(arrivals) == ["2", "3"])
    }

    @Test func `somebody looks also when some of those awaited have been given up`() throws {
        let arrivals = OutboxArrivals(OfflinePolicy(maximumBytes: 100, overflow: .dropOldest))
        #expect(arrivals.gather(after: Queue.called(3), ofSession: 0))
        try #expect(Self.add("1", to: arrivals) == .taken)
        try #expect(Self.add("2", to: arrivals) == .taken)
        // What is due, and larger than the limit, gives way to the next: before anybody has looked.
        try #expect(Self.add(String(repeating: "3", count: 200), to: arrivals) == .takenFirst)
        try #expect(Self.add("4", to: arrivals) == .taken)
        #expect(Self.take(arrivals) == nil)
        #expect(arrivals.stopGathering())
        #expect(Self.take(arrivals) == ["4"])
    }

    @Test(arguments: [0, 1, OutboxArrivals.gatheringLimit + 1])
    func `one caller, or very many, are not waited for`(_ count: Int) {
        let arrivals = OutboxArrivals(OfflinePolicy())
        #expect(!arrivals.gather(after: Queue.called(count), ofSession: 0))
        #expect(Self.take(arrivals) == [])
    }

    @Test func `who does not wait for the store is not waited for`() {
        let arrivals = OutboxArrivals(OfflinePolicy())
        #expect(!arrivals.gather(after: [Queue.arrival("1"), Queue.arrival("2")], ofSession: 0))
    }

    @Test func `callers for whom there may be no room are not waited for`() throws {
        let few = OutboxArrivals(OfflinePolicy(maximumCount: 4))
        #expect(few.gather(after: Queue.called(2), ofSession: 0))
        try #expect(Self.add("1", to: few) == .taken)
        #expect(!few.gather(after: Queue.called(2), ofSession: 0))
        let small = OutboxArrivals(OfflinePolicy(maximumBytes: 10))
        #expect(small.gather(after: Queue.called(2), ofSession: 0))
        #expect(!small.gather(after: Queue.called(3), ofSession: 0))
    }

    @Test func `nobody is waited for any longer when there is no more room`() throws {
        let arrivals = OutboxArrivals(OfflinePolicy(maximumBytes: 100, overflow: .fail))
        #expect(arrivals.gather(after: Queue.called(5), ofSession: 0))
        try #expect(Self.add("1", to: arrivals) == .taken)
        let large = String(repeating: "2", count: 200)
        try #expect(Self.add(large, to: arrivals) == .takenFirst)
        #expect(Self.take(arrivals) == ["1", large])
    }

    @Test func `a message whose time will be over first has somebody look, and stays`() throws {
        let arrivals = OutboxArrivals(OfflinePolicy(maximumAge: .seconds(5)))
        #expect(arrivals.gather(after: Queue.called(2), ofSession: 0))
        try #expect(Self.add("1", to: arrivals) == .takenFirst)
        #expect(Self.take(arrivals) == nil)
        #expect(arrivals.nextEnd != nil)
    }

    @Test func `nobody waits for callers of a session that was given up`() throws {
        let arrivals = OutboxArrivals(OfflinePolicy())
        #expect(arrivals.gather(after: Queue.called(5), ofSession: 0))
        #expect(arrivals.giveUpSession().list.isEmpty)
        #expect(Self.take(arrivals)?.isEmpty == true)
        #expect(!arrivals.gather(after: Queue.called(5), ofSession: 0))
        #expect(arrivals.gather(after: Queue.called(5), ofSession: 1))
    }
}
