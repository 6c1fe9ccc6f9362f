import TestSupport
import Testing

@testable import CourierTransport

@Suite struct TimerHeapTests {
    private let start = ContinuousClock.now

    @Test func `timers fire by deadline, and timers with the same deadline in the order of scheduling`() {
        var heap = TimerHeap<String>()
        _ = heap.schedule(at: start + .seconds(2), "c")
        _ = heap.schedule(at: start + .seconds(1), "a")
        _ = heap.schedule(at: start + .seconds(1), "b")
        #expect(heap.nextDeadline == start + .seconds(1))
        #expect(heap.popDue(now: start) == nil)
        #expect(heap.popDue(now: start + .seconds(1)) == "a")
        #expect(heap.popDue(now: start + .seconds(1)) == "b")
        #expect(heap.popDue(now: start + .seconds(1)) == nil)
        #expect(heap.popDue(now: start + .seconds(9)) == "c")
        #expect(heap.nextDeadline == nil)
    }

    @Test func `the token of a fired timer does not cancel another timer`() {
        var heap = TimerHeap<Int>()
        let first = heap.schedule(at: start, 1)
        #expect(heap.popDue(now: start) == 1)
        _ = heap.schedule(at: start, 2)
        #expect(heap.cancel(first) == nil)
        #expect(heap.popDue(now: start) == 2)
    }

    @Test(arguments: 0..<20)
    func `a TimerHeap behaves like a sorted list in random operations`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var heap = TimerHeap<Int>()
        var model: [(deadline: Int, number: Int, token: TimerToken)] = []
        var now = 0
        for number in 0..<2000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let deadline = now + Int.random(in: 0..<50, using: &random)
                let token = heap.schedule(at: start + .milliseconds(deadline), number)
                model.append((deadline, number, token))
            case 5..<7:
                guard let index = model.indices.randomElement(using: &random) else { continue }
                #expect(heap.cancel(model[index].token) == model[index].number)
                #expect(heap.cancel(model[index].token) == nil)
                model.remove(at: index)
            default:
                now += Int.random(in: 0..<10, using: &random)
                let next = model.min { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
                let due = next.flatMap { $0.deadline <= now ? $0.number : nil }
                #expect(heap.popDue(now: start + .milliseconds(now)) == due, "seed \(seed)")
                if let due { model.removeAll { $0.number == due } }
            }
            #expect(heap.count == model.count)
        }
    }
}
