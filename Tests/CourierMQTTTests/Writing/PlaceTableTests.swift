import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

@Suite(.timeLimit(.minutes(5))) struct PlaceTableTests {
    @Test func `a key finds its element once, and never that which has its place afterwards`() {
        let table = PlaceTable<String>()
        let first = table.insert("first")
        #expect(table.take(first) == "first")
        #expect(table.take(first) == nil)
        let second = table.insert("second", isMarked: true)
        #expect(UInt32(truncatingIfNeeded: second) == UInt32(truncatingIfNeeded: first) && second != first)
        #expect(table.take(first) == nil)
        #expect((table.count, table.markedCount) == (1, 1))
        #expect(table.take(second) == "second")
        #expect((table.count, table.markedCount) == (0, 0))
    }

    @Test(arguments: [0, 1, 0xFFFF_FFFF, 1 << 32, .max, 5 << 32 | 1_000_000, 1 << 32 | 0xFFFF_FFFF] as [UInt64])
    func `a key that was never given out finds nothing`(_ key: UInt64) {
        let table = PlaceTable<Int>(firstUse: 8)
        #expect(table.take(key) == nil)
        _ = table.insert(1)
        #expect(table.take(key) == nil)
        #expect(table.count == 1)
    }

    @Test func `keys do not reach the highest bit however often a place is used, nor below two to the 32`() {
        let table = PlaceTable<Int>(firstUse: 0x7FFF_FFF4)
        var keys: Set<UInt64> = []
        for number in 0..<5 {
            let key = table.insert(number, isMarked: number % 2 == 0)
            #expect(key >= 1 << 32 && key < 1 << 63)
            #expect(keys.insert(key).inserted)
            #expect(table.take(key) == number)
        }
        #expect(keys.contains { $0 < 4 << 32 }, "uses were counted from 0 again")
    }

    @Test func `elements end when they were taken out, and the rest with the table`() {
        final class Witness: Sendable {}
        weak var taken: Witness?
        weak var left: Witness?
        do {
            let table = PlaceTable<Witness>()
            let key = table.insert(
                {
                    let witness = Witness()
                    taken = witness
                    return witness
                }())
            _ = table.insert(
                {
                    let witness = Witness()
                    left = witness
                    return witness
                }())
            #expect(taken != nil && left != nil)
            _ = table.take(key)
            #expect(taken == nil && left != nil)
        }
        #expect(left == nil)
    }

    @Test func `places that become free together serve again, before there are more`() {
        let table = PlaceTable<Int>()
        var keys = (0..<1_000).map { table.insert($0) }
        let places = Set(keys.map { UInt32(truncatingIfNeeded: $0) })
        #expect(places.count == 1_000)
        var freed = PlaceTable<Int>.Chain()
        for (number, key) in keys.enumerated() { #expect(table.take(key, into: &freed) == number) }
        table.free(freed)
        keys = (0..<1_000).map { table.insert($0) }
        #expect(places.isSuperset(of: keys.map { UInt32(truncatingIfNeeded: $0) }))
    }

    /// Keys go to whoever comes next, each twice, so that two threads often want the same element.
    @Test func `threads that put in and take out at the same time lose nothing and have nothing twice`() {
        let table = Shared<Int>()
        let (threads, count) = (4, 20_000)
        let timesTaken = Mutex([UInt8](repeating: 0, count: threads * count))
        let known = Mutex<[UInt64]>([])
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            var random = SeededGenerator(seed: UInt64(thread) + 1)
            var taken: [Int] = []
            for step in 0..<count {
                let key = table.places.insert(thread * count + step, isMarked: step % 3 == 0)
                let wanted = known.withLock { known in
                    known.append(key)
                    known.append(key)
                    return (0..<random.below(5)).compactMap { _ in
                        known.isEmpty ? nil : known.remove(at: known.count - 1 - random.below(min(known.count, 8)))
                    }
                }
                var freed = PlaceTable<Int>.Chain()
                for key in wanted {
                    if let element = table.places.take(key, into: &freed) { taken.append(element) }
                }
                table.places.free(freed)
                if step % 5_000 == 4_999 { table.places.takeAll { taken.append($0) } }
            }
            timesTaken.withLock { times in for element in taken { times[element] += 1 } }
        }
        table.places.takeAll { element in timesTaken.withLock { $0[element] += 1 } }
        #expect(timesTaken.withLock { $0.allSatisfy { $0 == 1 } })
        #expect((table.places.count, table.places.markedCount) == (0, 0))
    }

    /// Both wait for each other before each key, but not for long: there may be one core only.
    @Test func `of two threads that want the same elements each gets what the other has not`() {
        let table = Shared<Int>()
        let keys = (0..<100_000).map { table.places.insert($0) }
        let arrivals = Atomic(0)
        let sums = Mutex((count: 0, elements: 0))
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            var (count, elements) = (0, 0)
            for (index, key) in keys.enumerated() {
                arrivals.add(1, ordering: .acquiringAndReleasing)
                var patience = 500
                while patience > 0, arrivals.load(ordering: .acquiring) < 2 * (index + 1) { patience -= 1 }
                guard let element = table.places.take(key) else { continue }
                count += 1
                elements += element
            }
            sums.withLock { $0 = ($0.count + count, $0.elements + elements) }
        }
        #expect(sums.withLock { $0.count } == keys.count)
        #expect(sums.withLock { $0.elements } == keys.count * (keys.count - 1) / 2)
    }

    /// More threads than cores, so that some are stopped in the middle of it; and each gives two places back in the order that
    /// makes the top of the stack what it was, with another place beneath it.
    @Test func `threads that use few places again and again never have the same one`() {
        let table = Shared<Int>()
        let mistakes = Mutex(0)
        let finished = DispatchGroup()
        for thread in 0..<8 {
            finished.enter()
            Thread.detachNewThread {
                var mistaken = 0
                for step in 0..<40_000 {
                    let (one, other) = (thread << 32 | step << 1, thread << 32 | step << 1 | 1)
                    let first = table.places.insert(one)
                    let second = table.places.insert(other)
                    if table.places.take(first) != one { mistaken += 1 }
                    if table.places.take(second) != other { mistaken += 1 }
                }
                mistakes.withLock { $0 += mistaken }
                finished.leave()
            }
        }
        finished.wait()
        #expect(mistakes.withLock { $0 } == 0)
        #expect(table.places.count == 0)
    }

    private final class Shared<Element: Sendable>: Sendable {
        let places = PlaceTable<Element>()
    }
}
