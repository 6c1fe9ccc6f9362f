import CourierCore
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

@Suite(.timeLimit(.minutes(5))) struct CompletionQueueTests {
    private let queue = DispatchQueue(label: "test.completions")

    @Test func `completions of every kind are called in order, even over several blocks on the dispatch queue`() async {
        let completions = CompletionQueue(queue)
        let count = CompletionQueue.closuresPerTurn * 3 + 7
        let made = Series<Int>()
        await withCheckedContinuation { continuation in
            for number in 0..<count {
                switch number % 3 {
                case 0: completions.add { made.append(number) }
                case 1: completions.add({ _ in made.append(number) }, .success(PublishReceipt()))
                default: completions.add(.answered({ _ in made.append(number) }, .success))
                }
            }
            completions.add { continuation.resume() }
        }
        #expect(made.values == Array(0..<count))
    }

    @Test func `other blocks on the dispatch queue run between two batches of completions`() async {
        let completions = CompletionQueue(queue)
        let made = Series<Int>()
        queue.suspend()
        let count = CompletionQueue.closuresPerTurn * 2
        for number in 0..<count { completions.add { made.append(number) } }
        let before = Series<Int>()
        queue.async { before.append(made.values.count) }
        queue.resume()
        await withCheckedContinuation { continuation in completions.add { continuation.resume() } }
        #expect(before.values == [CompletionQueue.closuresPerTurn])
        #expect(made.values.count == count)
    }

    @Test func `a completion is released after its call, and may add another completion`() async {
        final class Witness: Sendable {}
        let completions = CompletionQueue(queue)
        weak var weakly: Witness?
        await withCheckedContinuation { continuation in
            let witness = Witness()
            weakly = witness
            completions.add {
                _ = witness
                completions.add { continuation.resume() }
            }
        }
        await withCheckedContinuation { continuation in completions.add { continuation.resume() } }
        #expect(weakly == nil)
    }
}
