import CourierCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct ReaderQueueTests {
    /// Makes slices of messages with the given QoS values. The payload of a message is its number.
    private struct Sender {
        var number: UInt16 = 0
        /// The memory for payloads that each slice reserves. The allocator may return some bytes more than requested, so
        /// tests of byte limits need slices that are much larger.
        var reservedByteCount = 0

        mutating func slice(_ qualities: [QoS], isTicketed: Bool = false) -> MessageSlice {
            var entries: [MessagePage.Entry] = []
            var bytes: [UInt8] = []
            bytes.reserveCapacity(reservedByteCount)
            for qos in qualities {
                entries.append(
                    MessagePage.Entry(
                        start: bytes.count, byteCount: 2, topic: 0,
                        packetID: qos == .zero ? nil : number + 1, qos: qos, isRetained: false, isDuplicate: false))
                bytes += [UInt8(number >> 8), UInt8(number & 0xFF)]
                number += 1
            }
            return MessageSlice(
                MessagePage(entries: entries, bytes: bytes, topics: ["t"]),
                Array(0..<UInt32(qualities.count)),
                tickets: isTicketed ? qualities.map { _ in ReaderQueueTests.ticket() } : [],
                disposableCount: qualities.count { $0 == .zero })
        }
    }

    /// The expected behavior of a queue, one message at a time.
    private struct Model {
        let buffer: ReadBuffer
        var waiting: [(number: UInt16, qos: QoS)] = []
        var dropped = 0
        var isFull = false

        mutating func push(_ first: UInt16, _ qualities: [QoS]) {
            for (offset, qos) in qualities.enumerated() {
                let message = (first + UInt16(offset), qos)
                let hasRoom = waiting.count < buffer.limit
                if !hasRoom, buffer.overflow == .dropNewest, qos == .zero {
                    dropped += 1
                    continue
                }
                waiting.append(message)
                if !hasRoom, buffer.overflow == .dropOldest, let oldest = waiting.firstIndex(where: { $0.qos == .zero })
                {
                    waiting.remove(at: oldest)
                    dropped += 1
                }
            }
            if waiting.count >= buffer.limit, buffer.overflow == .pause || waiting.contains(where: { $0.qos != .zero })
            {
                isFull = true
            }
        }

        mutating func take(_ limit: Int) -> [UInt16] {
            defer {
                waiting.removeFirst(min(limit, waiting.count))
                if waiting.count <= buffer.limit / 2 { isFull = false }
            }
            return waiting.prefix(limit).map(\.number)
        }
    }

    private static func ticket() -> AcknowledgementTicket? {
        AcknowledgementTicket(.kept(until: nil), readers: 1) { _ in }
    }

    private static func numbers(_ slices: [MessageSlice]) -> [UInt16] {
        slices.flatMap { slice in
            slice.map { message in message.withPayload { UInt16($0[0]) << 8 | UInt16($0[1]) } }
        }
    }

    private static func taken(_ queue: ReaderQueue, _ limit: Int = .max) -> [UInt16] {
        guard case .messages(let slices) = queue.take(atMost: limit) else { return [] }
        return numbers(slices)
    }

    /// All waiting messages, taken with as many calls as necessary.
    private static func all(_ queue: ReaderQueue) -> [UInt16] {
        var all: [UInt16] = []
        while case .messages(let slices) = queue.take(atMost: .max) { all += numbers(slices) }
        return all
    }

    @Test(arguments: [ReadBuffer.Overflow.pause, .dropOldest, .dropNewest], 0..<20 as Range<UInt64>)
    func `a reader queue gives the same results as a simple model that handles messages one by one`(
        _ overflow: ReadBuffer.Overflow, _ seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        let buffer = ReadBuffer(limit: .random(in: 1...40, using: &random), overflow: overflow)
        let drained = Atomic<Int>(0)
        let queue = ReaderQueue(buffer) { drained.add(1, ordering: .relaxed) }
        var model = Model(buffer: buffer)
        var sender = Sender()
        var expectedDrained = 0
        // In some walks most messages have QoS 0, and in other walks few.
        let share = Int.random(in: 1...9, using: &random)
        for _ in 0..<300 {
            if Bool.random(using: &random) {
                var batch: [MessageSlice] = []
                let before = model.dropped
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let qualities = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                        Int.random(in: 0..<10, using: &random) < share ? QoS.zero : .one
                    }
                    model.push(sender.number, qualities)
                    batch.append(sender.slice(qualities))
                }
                let pushed = queue.push(&batch)
                #expect(batch.isEmpty)
                #expect(pushed.dropped == model.dropped - before, "seed \(seed)")
                #expect(pushed.isFull == model.isFull, "seed \(seed)")
            } else {
                let limit = Int.random(in: 1...30, using: &random)
                let wasFull = model.isFull
                let expected = model.take(limit)
                #expect(Self.taken(queue, limit) == expected, "seed \(seed)")
                if wasFull, !model.isFull, !expected.isEmpty { expectedDrained += 1 }
                #expect(drained.load(ordering: .relaxed) == expectedDrained, "seed \(seed)")
            }
        }
        #expect(Self.taken(queue) == model.waiting.map(\.number), "seed \(seed)")
    }

    @Test func `a waiting reader is woken once, and wake() returns false if messages are waiting`() {
        let queue = ReaderQueue(ReadBuffer()) {}
        var sender = Sender()
        let woken = Atomic<Int>(0)
        #expect(queue.wake { woken.add(1, ordering: .relaxed) })
        for _ in 0..<2 {
            var batch = [sender.slice([.zero])]
            _ = queue.push(&batch)
        }
        #expect(woken.load(ordering: .relaxed) == 1)
        #expect(!queue.wake { woken.add(1, ordering: .relaxed) })
        #expect(Self.taken(queue) == [0, 1])
        #expect(woken.load(ordering: .relaxed) == 1)
    }

    @Test func `after finish(), take() returns the waiting messages first and then the error once`() {
        let queue = ReaderQueue(ReadBuffer()) {}
        var sender = Sender()
        var batch = [sender.slice([.zero, .one])]
        _ = queue.push(&batch)
        queue.finish(CourierError(.clientDestroyed, "over"))
        #expect(Self.taken(queue) == [0, 1])
        guard case .ended(let error?) = queue.take(atMost: 1) else {
            Issue.record("no error")
            return
        }
        #expect(error.code == .clientDestroyed)
        guard case .ended(nil) = queue.take(atMost: 1) else {
            Issue.record("the error was told twice")
            return
        }
        #expect(!queue.wake {})
    }

    @Test func `close() returns the waiting messages, and a closed queue accepts no messages`() {
        let drained = Atomic<Int>(0)
        let queue = ReaderQueue(ReadBuffer(limit: 2, overflow: .pause)) { drained.add(1, ordering: .relaxed) }
        var sender = Sender()
        var batch = [sender.slice([.zero, .one, .two])]
        #expect(queue.push(&batch).isFull)
        #expect(Self.taken(queue, 1) == [0])
        #expect(Self.numbers(queue.close()) == [1, 2])
        #expect(drained.load(ordering: .relaxed) == 1)
        batch = [sender.slice([.one])]
        #expect(queue.push(&batch).isEnded)
        #expect(Self.numbers(batch) == [3], "what has to be acknowledged was lost")
        #expect(Self.taken(queue).isEmpty)
    }

    @Test func `take() returns messages with tickets one by one, and all other messages together`() {
        let queue = ReaderQueue(ReadBuffer()) {}
        var sender = Sender()
        var batch = [
            sender.slice([.zero, .one]), sender.slice([.one]), sender.slice([.one, .one], isTicketed: true),
            sender.slice([.one], isTicketed: true), sender.slice([.zero, .one]),
        ]
        _ = queue.push(&batch)
        #expect(Self.taken(queue, 2) == [0, 1])
        #expect(Self.taken(queue) == [2])
        for number: UInt16 in 3...5 { #expect(Self.taken(queue) == [number]) }
        #expect(Self.taken(queue) == [6, 7])
        #expect(queue.claim(2))
        batch = [sender.slice([.one], isTicketed: true), sender.slice([.one])]
        _ = queue.push(&batch)
        #expect(Self.numbers(queue.close()) == [8, 9])
    }

    @Test func `close() returns taken messages that were not delivered, and then the waiting messages`() {
        let queue = ReaderQueue(ReadBuffer()) {}
        var sender = Sender()
        var batch = [sender.slice([.one, .two]), sender.slice([.zero, .one]), sender.slice([.one])]
        _ = queue.push(&batch)
        #expect(Self.taken(queue, 4) == [0, 1, 2, 3])
        for _ in 0..<3 { #expect(queue.claim()) }
        #expect(Self.numbers(queue.close()) == [3, 4])
        #expect(!queue.claim(), "a message was given back and delivered")
    }

    @Test func `after a second take() call, close() does not return the messages of the first take() call`() {
        let queue = ReaderQueue(ReadBuffer()) {}
        var sender = Sender()
        var batch = [sender.slice([.one, .one])]
        _ = queue.push(&batch)
        #expect(Self.taken(queue) == [0, 1])
        #expect(Self.taken(queue).isEmpty)
        #expect(queue.close().isEmpty)
    }

    @Test func `messages without an acknowledgement ticket are kept only if they have QoS 1 or 2 and a single reader`()
    {
        let entries = [(QoS.zero, false), (.one, false), (.two, true), (.two, false)].map { qos, isShared in
            MessagePage.Entry(
                start: 0, byteCount: 0, topic: 0, packetID: 1, qos: qos, isRetained: false, isDuplicate: false,
                isShared: isShared)
        }
        let page = MessagePage(entries: entries, bytes: [], topics: ["t"])
        let slices = [MessageSlice(page, [0, 1, 2, 3], tickets: [], disposableCount: 1)]
        #expect(slices.worthKeeping.map(\.index) == [1, 3])
        let ticketed = MessageSlice(page, [2], tickets: [Self.ticket()], disposableCount: 0)
        #expect([ticketed].worthKeeping.count == 1)
    }

    @Test func `while reading is paused, QoS 0 messages are dropped if the buffer has reached twice its limit`() {
        let queue = ReaderQueue(ReadBuffer(limit: 2, overflow: .pause)) {}
        var sender = Sender()
        var batch = [sender.slice([.zero, .zero, .zero])]
        #expect(queue.push(&batch).isFull)
        batch = [sender.slice([.zero, .one, .zero, .one])]
        #expect(queue.push(&batch, isOverrun: true).dropped == 1)
        #expect(Self.taken(queue) == [0, 1, 2, 3, 4, 6])
        let endless = ReaderQueue(ReadBuffer(limit: .max, overflow: .pause)) {}
        batch = [sender.slice([.zero])]
        #expect(endless.push(&batch, isOverrun: true).dropped == 0)
    }

    private struct WeakPage {
        weak var page: MessagePage?
    }

    @Test(arguments: [4, 1_000])
    func `the memory of dropped messages is freed even while an older message waits`(_ limit: Int) {
        let queue = ReaderQueue(ReadBuffer(limit: limit, overflow: .dropOldest)) {}
        var sender = Sender()
        var pages: [WeakPage] = []
        var highest = 0
        for number in 0..<3_000 {
            let slice = sender.slice([number == 0 ? .one : .zero])
            pages.append(WeakPage(page: slice.first?.page))
            var batch = [slice]
            _ = queue.push(&batch, isOverrun: number >= limit)
            if number % 50 == 0 { highest = max(highest, pages.count { $0.page != nil }) }
        }
        #expect(highest <= limit + min(limit, 33))
        let newest = Array(UInt16(3_001 - limit)..<3_000)
        #expect(Self.all(queue) == [0] + newest)
    }

    /// Between four and five times the memory of a message on its own page. Exactly five times would be unreliable,
    /// because the capacity of an array depends on the system.
    private static var fourMessagesAndMore: Int {
        var sender = Sender(reservedByteCount: 4_096)
        return sender.slice([.one]).byteCount * 46 / 10
    }

    /// A queue that is full after five messages that arrive separately.
    private static func inBytes(
        _ overflow: ReadBuffer.Overflow, drained: @escaping @Sendable () -> Void = {}
    ) -> ReaderQueue {
        ReaderQueue(ReadBuffer(limit: 1_000, byteLimit: fourMessagesAndMore, overflow: overflow), drained: drained)
    }

    @Test(arguments: [ReadBuffer.Overflow.pause, .dropOldest, .dropNewest])
    func `a reader queue that reaches its byte limit is full until half of the bytes are taken`(
        _ overflow: ReadBuffer.Overflow
    ) {
        let drained = Atomic<Int>(0)
        let queue = Self.inBytes(overflow) { drained.add(1, ordering: .relaxed) }
        var sender = Sender(reservedByteCount: 4_096)
        var batch = [sender.slice([.one]), sender.slice([.one]), sender.slice([.two]), sender.slice([.one])]
        #expect(!queue.push(&batch).isFull)
        batch = [sender.slice([.one])]
        let pushed = queue.push(&batch)
        #expect(pushed.isFull && !pushed.isOverfull)
        batch = (0..<5).map { _ in sender.slice([.one]) }
        #expect(queue.push(&batch, isOverrun: true).isOverfull)
        #expect(Self.taken(queue, 7) == Array(0..<7))
        #expect(drained.load(ordering: .relaxed) == 0)
        #expect(Self.taken(queue, 1) == [7])
        #expect(drained.load(ordering: .relaxed) == 1)
    }

    @Test func `QoS 0 messages beyond the byte limit are dropped according to the overflow policy`() {
        var sender = Sender(reservedByteCount: 4_096)
        func messages(_ count: Int) -> [MessageSlice] { (0..<count).map { _ in sender.slice([.zero]) } }
        let newest = Self.inBytes(.dropOldest)
        var batch = messages(7)
        #expect(newest.push(&batch).dropped == 3)
        #expect(Self.taken(newest) == Array(3..<7))
        let oldest = Self.inBytes(.dropNewest)
        batch = messages(7)
        #expect(oldest.push(&batch).dropped == 2)
        #expect(Self.taken(oldest) == Array(7..<12))
        let all = Self.inBytes(.pause)
        batch = messages(7)
        #expect(all.push(&batch).isFull)
        batch = messages(7)
        #expect(all.push(&batch, isOverrun: true).dropped == 4)
        #expect(Self.taken(all).count == 10)
    }

    /// Messages of `count` bytes that share pages.
    private static func pages(of payload: Int, _ qualities: [[QoS]]) -> [MessageSlice] {
        qualities.map { qualities in
            let entries = qualities.enumerated().map { number, qos in
                MessagePage.Entry(
                    start: number * payload, byteCount: payload, topic: 0, packetID: nil, qos: qos, isRetained: false,
                    isDuplicate: false)
            }
            let bytes = [UInt8](repeating: 7, count: payload * qualities.count)
            return MessageSlice(
                MessagePage(entries: entries, bytes: bytes, topics: ["t"]), Array(0..<UInt32(entries.count)),
                tickets: [], disposableCount: qualities.count { $0 == .zero })
        }
    }

    /// The memory of the pages that contain the messages.
    private static func pageBytes(_ slices: [MessageSlice]) -> Int {
        var pages: [ObjectIdentifier: MessagePage] = [:]
        for message in slices.flatMap({ $0 }) { pages[ObjectIdentifier(message.page)] = message.page }
        return pages.values.reduce(0) { $0 + $1.byteCount }
    }

    @Test(arguments: [ReadBuffer.Overflow.dropOldest, .dropNewest, .pause])
    func `waiting messages do not retain the memory of their whole MessagePage`(_ overflow: ReadBuffer.Overflow) {
        let byteLimit = 1 << 20
        let queue = ReaderQueue(ReadBuffer(limit: 200, byteLimit: byteLimit, overflow: overflow)) {}
        for _ in 0..<200 {
            var batch = Self.pages(of: 200, [[.one] + [QoS](repeating: .zero, count: 299)])
            _ = queue.push(&batch, isOverrun: true)
        }
        let left = queue.close()
        #expect(left.reduce(0) { $0 + $1.count } >= 200)
        #expect(Self.pageBytes(left) <= 2 * byteLimit + (64 << 10))
    }

    @Test func `the memory of messages that the reader has taken is freed`() {
        let queue = ReaderQueue(ReadBuffer()) {}
        var batch = Self.pages(of: 300_000, [QoS](repeating: .one, count: 20).map { [$0] })
        let pages = batch.map { WeakPage(page: $0.first?.page) }
        _ = queue.push(&batch)
        for taken in 1...20 {
            _ = queue.take(atMost: 1)
            // The reader still uses the message that it took last.
            #expect(pages.count { $0.page != nil } == 21 - taken)
        }
    }

    @Test
    func `take() with areClaimed returns several messages with tickets, and close() returns the unclaimed messages`() {
        let queue = ReaderQueue(ReadBuffer()) {}
        var sender = Sender()
        var batch = [sender.slice([.one, .one, .one], isTicketed: true), sender.slice([.one], isTicketed: true)]
        _ = queue.push(&batch)
        guard case .messages(let slices) = queue.take(atMost: 10, areClaimed: true) else {
            Issue.record("the queue returns no messages")
            return
        }
        #expect(Self.numbers(slices) == [0, 1, 2, 3])
        #expect(queue.claim() && queue.claim())
        #expect(Self.numbers(queue.close()) == [2, 3])
        #expect(!queue.claim())
    }

    @Test func `take() returns only a few large messages at a time`() {
        let queue = ReaderQueue(ReadBuffer()) {}
        var batch = Self.pages(of: 100_000, [QoS](repeating: .one, count: 10).map { [$0] })
        _ = queue.push(&batch)
        var counts: [Int] = []
        while case .messages(let slices) = queue.take(atMost: 256) { counts.append(slices.reduce(0) { $0 + $1.count }) }
        #expect(counts == [3, 3, 3, 1])
    }
}
