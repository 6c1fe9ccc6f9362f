import TestSupport
import Testing

@testable import CourierTransport

@Suite struct ByteQueueTests {
    @Test(arguments: 0..<20)
    func `a ByteQueue has the same contents as an array after random operations`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = ByteQueue()
        var model: [UInt8] = []
        for _ in 0..<500 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let bytes = random.bytes(Int.random(in: 0..<700, using: &random))
                bytes.withUnsafeBytes { queue.append($0) }
                model += bytes
            case 2:
                let bytes = random.bytes(Int.random(in: 0..<300, using: &random))
                let room = queue.room(300)
                #expect(room.count >= 300)
                room.copyBytes(from: bytes)
                queue.didAppend(bytes.count)
                model += bytes
            case 3:
                let count = Int.random(in: 0...model.count, using: &random)
                queue.removeFirst(count)
                model.removeFirst(count)
            default:
                queue.trim(above: 1024)
            }
            #expect(Array(queue.contents) == model, "seed \(seed)")
        }
    }

    @Test func `trim() frees the buffer of an empty ByteQueue only if the buffer is large`() {
        var queue = ByteQueue()
        #expect(queue.capacity == 0)
        [UInt8](repeating: 1, count: 100_000).withUnsafeBytes { queue.append($0) }
        queue.trim(above: 16_384)
        #expect(queue.capacity >= 100_000)
        queue.removeAll()
        queue.trim(above: 16_384)
        #expect(queue.capacity == 0)
        [UInt8](repeating: 1, count: 100).withUnsafeBytes { queue.append($0) }
        queue.removeFirst(100)
        queue.trim(above: 16_384)
        #expect(queue.capacity == 512)
    }
}
