import MQTTCodec
import Synchronization
import Testing

@testable import MQTTEngine

@Suite
struct MessageMemoryTests {
    private struct Kept {
        let place: MessageMemory.Place
        let bytes: [UInt8]
    }

    /// Adds a message of `size` bytes whose content depends on `number`.
    private func keep(_ number: Int, size: Int, in memory: inout MessageMemory) -> Kept {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }
        let header = OutgoingHeader(qos: .atLeastOnce, token: Token(rawValue: UInt64(number)))
        let (topic, payload) = (Array(bytes.prefix(3)), Array(bytes.dropFirst(3)))
        let place = memory.keep(
            header, topic: topic.span.bytes, encodedProperties: RawSpan(), payload: payload.span.bytes)
        return Kept(place: place, bytes: bytes)
    }

    /// The memory that a message of `size` bytes uses, including its record.
    private func taken(_ size: Int) -> Int {
        let header = OutgoingHeader(qos: .atLeastOnce, token: 1)
        return MessageMemory.byteCount(
            of: MessageRecord(header: header, propertiesCount: 0, topicCount: 0, payloadCount: size))
    }

    private func check(_ kept: Kept, in memory: borrowing MessageMemory) {
        let view = memory.view(kept.place)
        #expect(Array(view.bytes) == kept.bytes)
        #expect(Array(view.topic) + Array(view.payload) == kept.bytes)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `the bytes of a message do not change while other messages are added and discarded`(seed: UInt64) {
        var random = seed
        func next(_ limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % UInt64(limit))
        }
        var memory = MessageMemory()
        var kept: [Kept] = []
        for number in 0..<5_000 {
            if kept.isEmpty || next(100) < (number / 1_000 % 2 == 0 ? 70 : 30) {
                kept.append(keep(number, size: next(50) == 0 ? 40_000 : next(300), in: &memory))
            } else {
                let one = kept.remove(at: next(2) == 0 ? 0 : next(kept.count))
                check(one, in: memory)
                memory.discard(one.place)
            }
            if next(500) == 0 { memory.trim() }
        }
        for one in kept { check(one, in: memory) }
        for one in kept { memory.discard(one.place) }
        memory.trim()
        check(keep(1, size: 10, in: &memory), in: memory)
    }

    /// A caller reads views without the lock that protects the other operations.
    @Test func `a message view stays valid while other messages are added, moved and discarded`() {
        var memory = MessageMemory()
        let first = keep(0, size: 100, in: &memory)
        let view = memory.view(first.place)
        var others: [Kept] = []
        for number in 1...2_000 {
            others.append(keep(number, size: number % 700, in: &memory))
            if number.isMultiple(of: 3) { memory.discard(others.removeFirst().place) }
            if number.isMultiple(of: 100) {
                others = others.map { Kept(place: memory.moved($0.place), bytes: $0.bytes) }
                memory.trim()
            }
        }
        #expect(Array(view.bytes) == first.bytes)
        for other in others { check(other, in: memory) }
    }

    /// Works like the outgoing queue of a client: a lock protects the memory, and views are read without the lock.
    private final class Shared: Sendable {
        let memory = Mutex(MessageMemory())
    }

    @Test func `message views can be read without the lock while other threads add, move and discard messages`() async {
        let shared = Shared()
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    var places: [MessageMemory.Place] = []
                    for number in 0..<2_000 {
                        let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: thread * 64 + number), count: number)
                        let header = OutgoingHeader(qos: .atLeastOnce, token: Token(rawValue: UInt64(number)))
                        let (place, view) = shared.memory.withLock { memory in
                            let place = memory.keep(
                                header, topic: RawSpan(), encodedProperties: RawSpan(), payload: payload.span.bytes)
                            return (place, memory.view(place))
                        }
                        #expect(view.payload.elementsEqual(payload))
                        places.append(shared.memory.withLock { $0.moved(place) })
                        if places.count == 10 {
                            let ended = places
                            places = []
                            shared.memory.withLock { memory in for place in ended { memory.discard(place) } }
                        }
                    }
                    let ended = places
                    shared.memory.withLock { memory in for place in ended { memory.discard(place) } }
                }
            }
        }
        #expect(shared.memory.withLock { $0.byteCount } == 0)
    }

    @Test func `moving the remaining messages frees nearly all memory of the discarded messages`() {
        var memory = MessageMemory()
        var kept = (0..<5_000).map { keep($0, size: 200, in: &memory) }
        let long = keep(5_000, size: 100_000, in: &memory)
        for (index, one) in kept.enumerated() where index % 100 != 0 { memory.discard(one.place) }
        kept = kept.enumerated().filter { $0.offset % 100 == 0 }.map(\.element)
        memory.trim()
        #expect(memory.byteCount == 50 * taken(200) + taken(100_000))
        #expect(memory.heldByteCount > 700_000, "one message holds its whole slab")
        let placeOfLong = memory.view(long.place).bytes.baseAddress
        kept = kept.map { Kept(place: memory.moved($0.place), bytes: $0.bytes) }
        let moved = Kept(place: memory.moved(long.place), bytes: long.bytes)
        memory.trim()
        #expect(memory.view(moved.place).bytes.baseAddress == placeOfLong, "a slab of one message has nothing to free")
        #expect(memory.byteCount == 50 * taken(200) + taken(100_000))
        #expect(memory.heldByteCount <= taken(100_000) + 3 * 16_384)
        for one in kept + [moved] { check(one, in: memory) }
    }

    @Test func `discarding many messages at once frees the memory of all messages`() {
        var memory = MessageMemory()
        var spent = MessageMemory.SpentPlaces()
        let kept = (0..<500).map { keep($0, size: $0 % 50 == 0 ? 20_000 : 200, in: &memory) }
        for one in kept.dropLast() { spent.add(one.place) }
        check(kept[0], in: memory)
        memory.discard(&spent)
        #expect(memory.byteCount == taken(200))
        check(kept[499], in: memory)
        memory.discard(&spent)
        #expect(memory.byteCount == taken(200), "each place is discarded once")
        spent.add(kept[499].place)
        memory.discard(&spent)
        memory.trim()
        #expect(memory.heldByteCount == 0)
    }

    @Test func `the large memory block of a discarded long message is freed and not used for a short message`() {
        var memory = MessageMemory()
        let long = keep(1, size: 1_000_000, in: &memory)
        #expect(memory.heldByteCount == taken(1_000_000))
        memory.discard(long.place)
        check(keep(2, size: 10, in: &memory), in: memory)
        #expect(memory.heldByteCount < 100_000)
    }

    @Test func `all memory is freed after all messages are discarded`() {
        var memory = MessageMemory()
        #expect(memory.heldByteCount == 0 && memory.byteCount == 0)
        let kept = (0..<500).map { keep($0, size: $0 * 50, in: &memory) }
        #expect(memory.byteCount == kept.reduce(0) { $0 + taken($1.bytes.count) })
        #expect(memory.heldByteCount >= memory.byteCount)
        for one in kept { memory.discard(one.place) }
        memory.trim()
        #expect(memory.heldByteCount == 0 && memory.byteCount == 0)
    }

    @Test func `MessageRecord limits topic, payload and properties to 512 MiB each, so that their sum fits in 32 bits`()
    {
        let header = OutgoingHeader(qos: .atLeastOnce, token: 1)
        let record = MessageRecord(
            header: header, propertiesCount: 1 << 40, topicCount: (1 << 29) + 1, payloadCount: 1 << 29)
        #expect([record.propertiesCount, record.topicCount, record.payloadCount] == [1 << 29, 1 << 29, 1 << 29])
        #expect(record.byteCount == 3 << 29)
        #expect(MessageMemory.byteCount(of: record) <= Int32.max)
    }
}
