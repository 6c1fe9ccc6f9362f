import Foundation
import TestSupport
import Testing

@testable import CourierCore

@Suite struct BoundedQueueTests {
    /// Each element is a number, and the number is its size in bytes.
    @Test(arguments: SeededGenerator.seeds)
    func `in random operations, a bounded queue gives the same results as an array with the same limits`(_ seed: UInt64)
    {
        var generator = SeededGenerator(seed: seed)
        for overflow in [BufferPolicy.Overflow.dropOldest, .dropNewest] {
            let limit = Int.random(in: 1...9, using: &generator)
            let byteLimit = Int.random(in: 1...60, using: &generator)
            let policy = BufferPolicy(limit: limit, byteLimit: byteLimit, overflow: overflow)
            var queue = BoundedQueue<Int>(policy) { $0 }
            var model: [Int] = []
            func isFull(for size: Int) -> Bool {
                model.count >= limit || (!model.isEmpty && model.reduce(size, +) > byteLimit)
            }
            for _ in 0..<2_000 {
                let size = Int.random(in: 0...20, using: &generator)
                if Int.random(in: 0..<5, using: &generator) < 3 {
                    var expected: [Int] = []
                    while overflow == .dropOldest, isFull(for: size) { expected.append(model.removeFirst()) }
                    if isFull(for: size) { expected = [size] } else { model.append(size) }
                    #expect(queue.append(size) == expected, "seed \(seed)")
                } else {
                    #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed)")
                }
                #expect(queue.count == model.count, "seed \(seed)")
            }
        }
    }

    private static func size<Value>(_ value: Value) -> Int? { memoryMeasure(of: Value.self)?(value) }

    @Test func `the bytes of texts, data, messages and events count toward a buffer limit, other types do not`() {
        let text = String(repeating: "t", count: 1_000)
        let data = Data(text.utf8)
        #expect(Self.size(text) == text.heldByteCount)
        #expect(Self.size(data) == 1_000)
        #expect(Self.size([UInt8](data)) == 1_000)
        let properties = MessageProperties(userProperties: [.init("n", text)])
        let message = Message(data: data, topic: text, qos: .one, properties: properties)
        let messageSize = Self.size(message) ?? 0
        #expect(messageSize >= 3_000 && messageSize <= 4_000)
        let letter = DeadLetter(message: message, error: CourierError(.decodingFailed, "no"))
        #expect(Self.size(letter) == messageSize + CourierEventType.errorByteCount)
        let sent = CourierEventType.messageSendSuccess(topic: text, qos: .one, sizeBytes: 1_000, data: data)
        #expect(Self.size(CourierEvent(connectionInfo: nil, type: sent)) == text.heldByteCount + 1_000)
        #expect(Self.size(7) == nil)
    }

    @Test func `a buffer limit below one is raised to one`() {
        #expect(BufferPolicy(limit: -3).limit == 1)
        #expect(BufferPolicy(limit: 1, byteLimit: -3).byteLimit == 1)
    }
}
