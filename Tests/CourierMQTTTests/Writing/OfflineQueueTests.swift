import CourierCore
import MQTTCodec
import MQTTEngine
import Testing

@testable import CourierMQTT

/// What waits for a connection: who is given up for whom, and what is left of who has gone.
@Suite struct OfflineQueueTests {
    private static let start = ContinuousClock.now

    private static func queue(_ policy: OfflinePolicy) -> OfflineQueue {
        OfflineQueue(Shared<OfflinePolicy>.Memory().share(policy))
    }

    private static func message(
        _ number: UInt64, _ topic: String = "t", size: Int = 2, expiry: ContinuousClock.Instant? = nil
    ) -> OutgoingMessage {
        OutgoingMessage(
            topic: topic, payload: [UInt8](repeating: 1, count: max(0, size - topic.utf8.count)), qos: .atLeastOnce,
            expiry: expiry, token: Token(rawValue: number))
    }

    /// Adds a message of so many bytes with its topic.
    ///
    /// - Returns: The tokens of those that were given up for it, or its own.
    private static func add(
        _ number: UInt64, _ topic: String = "t", size: Int = 2, isLatestOnly: Bool = false, isStored: Bool = false,
        stamp: UInt64 = 0, to queue: inout OfflineQueue
    ) -> [UInt64] {
        let verdict = queue.append(
            message(number, topic, size: size), isLatestOnly: isLatestOnly, isStored: isStored, stamp: stamp,
            isStored ? .fail : nil, now: start)
        return verdict.ended.map(\.token.rawValue)
    }

    private static func numbers(_ queue: inout OfflineQueue) -> [UInt64] {
        var numbers: [UInt64] = []
        while let message = queue.popFirst() { numbers.append(message.token.rawValue) }
        return numbers
    }

    @Test func `dropOldest passes over what is stored, and gives up the new message where nothing else waits`() {
        var queue = Self.queue(OfflinePolicy(maximumCount: 4, overflow: .dropOldest))
        for number in 1...4 as ClosedRange<UInt64> {
            #expect(Self.add(number, isStored: number != 2 && number != 4, to: &queue) == [])
        }
        #expect(Self.add(5, to: &queue) == [2])
        #expect(Self.add(6, to: &queue) == [4])
        #expect(Self.add(7, to: &queue) == [5])
        #expect(queue.count == 4)
        #expect(Self.numbers(&queue) == [1, 3, 6, 7])

        for number in 1...4 as ClosedRange<UInt64> { _ = Self.add(number, isStored: true, to: &queue) }
        for number in 5...6 as ClosedRange<UInt64> { #expect(Self.add(number, to: &queue) == [number]) }
        #expect(Self.numbers(&queue) == [1, 2, 3, 4])
    }

    @Test func `dropOldest gives up nothing for a message that can not fit`() {
        var queue = Self.queue(OfflinePolicy(maximumBytes: 100, overflow: .dropOldest))
        for number in 1...50 as ClosedRange<UInt64> { #expect(Self.add(number, to: &queue) == []) }
        #expect(Self.add(51, size: 101, to: &queue) == [51])
        #expect(queue.count == 50)
        #expect(Self.add(52, size: 100, to: &queue) == Array(1...50 as ClosedRange<UInt64>))
        #expect(Self.numbers(&queue) == [52])

        // Nor where what is stored stands in its way.
        #expect(Self.add(60, size: 95, isStored: true, to: &queue) == [])
        #expect(Self.add(61, size: 5, to: &queue) == [])
        #expect(Self.add(62, size: 10, to: &queue) == [62])
        #expect(Self.add(63, size: 5, to: &queue) == [61])
        #expect(Self.numbers(&queue) == [60, 63])
        // What has gone stands in nobody's way.
        #expect(Self.add(64, size: 100, to: &queue) == [])
        #expect(Self.add(65, size: 100, to: &queue) == [64])
        #expect(Self.numbers(&queue) == [65])
        #expect(queue.byteCount == 0)
    }

    @Test(arguments: [false, true], [false, true])
    func `of latest-only messages to a topic the one that was handed over last stays, whichever comes last`(
        isFirstStored: Bool, isOtherStored: Bool
    ) {
        var queue = Self.queue(OfflinePolicy(maximumCount: 1, maximumBytes: 20))
        #expect(Self.add(1, "state", size: 10, isLatestOnly: true, isStored: isFirstStored, stamp: 5, to: &queue) == [])
        // The older one may also be one for which there would be no room.
        for (number, size) in [(2, 10), (3, 30)] as [(UInt64, Int)] {
            let ended = Self.add(
                number, "state", size: size, isLatestOnly: true, isStored: isOtherStored, stamp: 4, to: &queue)
            #expect(ended == [number])
        }
        #expect(queue.latestStamp(to: "state") == 5)
        #expect(Self.add(4, "state", isLatestOnly: true, isStored: isOtherStored, stamp: 6, to: &queue) == [1])
        #expect(queue.latestStamp(to: "state") == 6)
        #expect(queue.count == 1)
        #expect(queue.byteCount == 5)
        #expect(queue.removeLatest(to: "state")?.rawValue == 4)
        #expect(queue.latestStamp(to: "state") == nil)
        #expect(queue.isEmpty)
    }

    @Test func `a stored latest-only message goes to the end, and the one that it replaces goes`() {
        var queue = Self.queue(OfflinePolicy(maximumCount: 2))
        #expect(Self.add(1, "state", isLatestOnly: true, isStored: true, to: &queue) == [])
        #expect(Self.add(2, isStored: true, to: &queue) == [])
        #expect(Self.add(3, "state", isLatestOnly: true, isStored: true, to: &queue) == [1])
        #expect(Self.add(4, "state", isLatestOnly: true, isStored: true, to: &queue) == [3])
        #expect(Self.numbers(&queue) == [2, 4])
        #expect(queue.byteCount == 0)
    }

    @Test func `what replaces a message keeps the limit of bytes, and the older one stays where it is not taken`() {
        let policies: [(OfflinePolicy.Overflow, OfflineQueue.Fate, [UInt64])] = [
            (.fail, .refused, []), (.suspend(timeout: .seconds(30)), .refused, []), (.dropNewest, .givenUp, [9]),
        ]
        for (overflow, fate, ended) in policies {
            var queue = Self.queue(OfflinePolicy(maximumBytes: 30, overflow: overflow))
            for number in 1...3 as ClosedRange<UInt64> {
                #expect(Self.add(number, "\(number)", size: 10, isLatestOnly: true, to: &queue) == [])
            }
            #expect(Self.add(4, "1", size: 10, isLatestOnly: true, to: &queue) == [1])
            let verdict = queue.append(Self.message(9, "2", size: 11), isLatestOnly: true, now: Self.start)
            #expect(verdict.fate == fate)
            #expect(verdict.ended.map(\.token.rawValue) == ended)
            #expect(queue.byteCount == 30)
            #expect(Self.add(5, "2", size: 3, isLatestOnly: true, to: &queue) == [2])
            #expect(Self.add(6, "3", size: 17, isLatestOnly: true, to: &queue) == [3])
            #expect(queue.byteCount == 30)
            #expect(Self.numbers(&queue) == [4, 5, 6])
        }
    }

    @Test func `dropOldest makes room for what replaces a message, which then goes to the end`() {
        var queue = Self.queue(OfflinePolicy(maximumBytes: 30, overflow: .dropOldest))
        for number in 1...3 as ClosedRange<UInt64> {
            #expect(Self.add(number, "\(number)", size: 10, isLatestOnly: true, to: &queue) == [])
        }
        #expect(Self.add(4, "2", size: 31, isLatestOnly: true, to: &queue) == [4])
        #expect(Self.add(5, "2", size: 15, isLatestOnly: true, to: &queue) == [2, 1])
        #expect(queue.byteCount == 25)
        #expect(Self.numbers(&queue) == [3, 5])
    }

    @Test func `a stored message that does not fit leaves the one that it would replace`() {
        var queue = Self.queue(OfflinePolicy(maximumBytes: 30))
        #expect(Self.add(1, "state", size: 10, isLatestOnly: true, isStored: true, to: &queue) == [])
        #expect(Self.add(2, size: 20, isStored: true, to: &queue) == [])
        #expect(Self.add(3, "state", size: 11, isLatestOnly: true, isStored: true, to: &queue) == [])
        #expect(Self.numbers(&queue) == [1, 2])
    }

    @Test func `messages that have expired leave no places behind`() {
        var queue = Self.queue(OfflinePolicy())
        _ = queue.append(Self.message(0, "first"), isLatestOnly: true, now: Self.start)
        var number: UInt64 = 0
        for round in 0..<10 {
            for _ in 0..<2_000 {
                number += 1
                let message = Self.message(number, expiry: Self.start + .seconds(round))
                _ = queue.append(message, isLatestOnly: false, now: Self.start)
            }
            #expect(queue.removeExpired(now: Self.start + .seconds(round)).count == 2_000)
            #expect(queue.placeCount < 1_100)
        }
        #expect(queue.count == 1)
        // Behind places that have moved, a newer message still finds the one that it replaces.
        for number in 30_001...30_002 as ClosedRange<UInt64> {
            _ = queue.append(Self.message(number, "other"), isLatestOnly: true, now: Self.start)
        }
        #expect(Self.add(30_003, "first", isLatestOnly: true, to: &queue) == [0])
        #expect(Self.numbers(&queue) == [30_003, 30_002])
        #expect(queue.placeCount == 0)
        #expect(queue.byteCount == 0)
    }

    @Test func `places at the front are given up when their messages expire`() {
        var queue = Self.queue(OfflinePolicy(maximumCount: 2, overflow: .dropOldest))
        _ = queue.append(Self.message(1, expiry: Self.start), isLatestOnly: false, now: Self.start)
        _ = Self.add(2, "state", isLatestOnly: true, to: &queue)
        #expect(queue.removeExpired(now: Self.start).map(\.rawValue) == [1])
        #expect(Self.add(3, to: &queue) == [])
        #expect(Self.add(4, "state", isLatestOnly: true, to: &queue) == [2])
        #expect(Self.add(5, to: &queue) == [4])
        #expect(Self.numbers(&queue) == [3, 5])
    }
}
