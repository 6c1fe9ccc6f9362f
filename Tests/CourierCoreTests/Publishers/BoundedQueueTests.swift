import TestSupport
import Testing

@testable import CourierCore

@Suite struct BoundedQueueTests {
    @Test(arguments: SeededGenerator.seeds)
    func `it behaves like an array with a limit`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for overflow in [BufferPolicy.Overflow.dropOldest, .dropNewest] {
            let limit = Int.random(in: 1...9, using: &generator)
            var queue = BoundedQueue<Int>(BufferPolicy(limit: limit, overflow: overflow))
            var model: [Int] = []
            for number in 0..<2_000 {
                if Int.random(in: 0..<5, using: &generator) < 3 {
                    let dropped = queue.append(number)
                    var expected: Int?
                    if model.count < limit {
                        model.append(number)
                    } else if overflow == .dropNewest {
                        expected = number
                    } else {
                        expected = model.removeFirst()
                        model.append(number)
                    }
                    #expect(dropped == expected, "seed \(seed)")
                } else {
                    #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed)")
                }
                #expect(queue.count == model.count, "seed \(seed)")
            }
        }
    }

    @Test func `a limit below one counts as one`() {
        #expect(BufferPolicy(limit: -3).limit == 1)
    }
}
