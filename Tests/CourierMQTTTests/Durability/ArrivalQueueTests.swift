import CourierCore
import Testing

@testable import CourierMQTT

/// What waits on its way into a store: who is given up for whom, and what is left of who has gone.
@Suite struct ArrivalQueueTests {
    private typealias Fate = ArrivalQueue.Admission.Fate

    static func arrival(
        _ text: String, _ topic: String = "t", isLatestOnly: Bool = false, acceptance: Waiter<Void>? = nil
    ) -> ArrivalQueue.Arrival {
        ArrivalQueue.Arrival(
            shape: Publishing.Shape(topic: topic, qos: .one, isLatestOnly: isLatestOnly), payload: Array(text.utf8),
            recipient: .nobody, acceptance: acceptance)
    }

    /// What callers handed over who wait only for the store.
    static func called(_ count: Int) -> [ArrivalQueue.Arrival] {
        (0..<count).map { arrival("\($0)", acceptance: Waiter(WaiterCensus())) }
    }

    static func texts(_ arrivals: [ArrivalQueue.Arrival]) -> [String] {
        arrivals.map { String(decoding: $0.payload, as: UTF8.self) }
    }

    @Test(arguments: [
        (OfflinePolicy.Overflow.suspend(timeout: .seconds(1)), ArrivalQueue.Admission.Fate.refused), (.fail, .refused),
        (.dropNewest, .givenUp),
    ])
    func `a newer message takes the place of an older one of its kind, also where there is no other`(
        _ overflow: OfflinePolicy.Overflow, _ fate: ArrivalQueue.Admission.Fate
    ) {
        var queue = ArrivalQueue(OfflinePolicy(maximumCount: 2, overflow: overflow))
        _ = queue.append(Self.arrival("1", "place", isLatestOnly: true))
        _ = queue.append(Self.arrival("order"))
        let replacing = queue.append(Self.arrival("2", "place", isLatestOnly: true))
        #expect(replacing.fate == .taken && replacing.dropped.isEmpty)
        #expect(replacing.replaced.map { Self.texts([$0]) } == ["1"])
        let other = queue.append(Self.arrival("3", "other", isLatestOnly: true))
        #expect(other.fate == fate && other.replaced == nil)
        #expect(Self.texts(queue.removeAll()) == ["order", "2"])
    }

    @Test func `an older message stays where the newer one is not taken`() {
        var queue = ArrivalQueue(OfflinePolicy(maximumBytes: 6, overflow: .fail))
        _ = queue.append(Self.arrival("1", "p", isLatestOnly: true))
        _ = queue.append(Self.arrival("large", "p"))
        #expect(queue.append(Self.arrival("2", "p", isLatestOnly: true)).fate == .refused)
        #expect(Self.texts(queue.removeAll()) == ["1", "large"])
    }

    @Test func `the oldest go until less than the limit waits, and a message of any size has room then`() {
        var queue = ArrivalQueue(OfflinePolicy(maximumBytes: 10, overflow: .dropOldest))
        for text in ["aaa", "bbb", "ccc"] { #expect(queue.append(Self.arrival(text)).dropped.isEmpty) }
        #expect(!queue.hasRoom)
        let large = queue.append(Self.arrival("larger than all of it"))
        #expect(large.fate == .taken && Self.texts(large.dropped) == ["aaa"])
        #expect(Self.texts(queue.append(Self.arrival("d")).dropped) == ["bbb", "ccc", "larger than all of it"])
        #expect(Self.texts(queue.removeAll()) == ["d"])
    }

    @Test func `places of messages that are gone are given up, and who has one is still found`() {
        var queue = ArrivalQueue(OfflinePolicy(maximumCount: 10, overflow: .dropOldest))
        _ = queue.append(Self.arrival("order"))
        for number in 0..<10_000 {
            _ = queue.append(Self.arrival("\(number)", "place", isLatestOnly: true))
            _ = queue.append(Self.arrival("\(number)", "other", isLatestOnly: true))
        }
        #expect(queue.placeCount < 3_000)
        for number in 0..<7 { #expect(queue.append(Self.arrival("more \(number)")).dropped.isEmpty) }
        #expect(Self.texts(queue.append(Self.arrival("one more")).dropped) == ["order"])
        #expect(queue.append(Self.arrival("x", "place", isLatestOnly: true)).replaced != nil)
        #expect(Self.texts(queue.removeAll { $0.shape.topic == "other" }) == ["9999"])
        #expect(Self.texts(queue.removeAll()) == (0..<7).map { "more \($0)" } + ["one more", "x"])
        #expect(queue.hasRoom && queue.placeCount == 0)
    }
}
