import MQTTCodec
import Testing

@testable import MQTTEngine

@Suite
struct MessageStoreTests {
    private struct Kept {
        let place: MessageStore.Place
        let bytes: [UInt8]
    }

    /// Keeps a message of `size` bytes that no other has.
    private func keep(_ number: Int, size: Int, in store: inout MessageStore) -> Kept {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0) }
        let record = MessageRecord(
            header: OutgoingHeader(qos: .atLeastOnce, token: Token(rawValue: UInt64(number))), propertiesCount: 0,
            topicCount: min(size, 3), payloadCount: size - min(size, 3))
        return bytes.withUnsafeBytes { Kept(place: store.keep(MessageView(record, in: $0)), bytes: bytes) }
    }

    private func check(_ kept: Kept, in store: borrowing MessageStore) {
        let view = store.view(kept.place)
        #expect(Array(view.bytes) == kept.bytes)
        #expect(Array(view.topic) + Array(view.payload) == kept.bytes)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `messages stay as they are until they are discarded, in whatever order`(seed: UInt64) {
        var random = seed
        func next(_ limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % UInt64(limit))
        }
        var store = MessageStore()
        var kept: [Kept] = []
        for number in 0..<5_000 {
            if kept.isEmpty || next(100) < (number / 1_000 % 2 == 0 ? 70 : 30) {
                kept.append(keep(number, size: next(50) == 0 ? 40_000 : next(300), in: &store))
            } else {
                let one = kept.remove(at: next(2) == 0 ? 0 : next(kept.count))
                check(one, in: store)
                store.discard(one.place)
            }
            if next(500) == 0 { store.trim() }
        }
        for one in kept { check(one, in: store) }
        for one in kept { store.discard(one.place) }
        store.trim()
        check(keep(1, size: 10, in: &store), in: store)
    }
}

@Suite
struct RingTests {
    @Test func `elements come out in the order in which they went in, however it wraps`() {
        var ring = Ring<Int>()
        var put = 0
        var taken = 0
        for round in 1...40 {
            for _ in 0..<(round * 3) {
                ring.append(put)
                put += 1
            }
            for _ in 0..<(round * 2) {
                #expect(ring.popFirst() == taken)
                taken += 1
            }
        }
        #expect(ring.count == put - taken)
        #expect(ring.removeAll() == Array(taken..<put))
        #expect(ring.popFirst() == nil)
    }
}
