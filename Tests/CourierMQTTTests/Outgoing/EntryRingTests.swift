import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

/// Compares the ring of outgoing entries with a simple array.
@Suite struct EntryRingTests {
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `random operations on an EntryRing give the same results as on an array`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var model = Model()
        var ring = EntryRing(firstNumber: 7)
        for step in 0..<1_500 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: model.append(to: &ring, &random)
            case 4..<6: model.markInFlight(in: &ring, &random)
            case 6: model.markReturned(in: &ring, &random)
            case 7 where step % 300 < 200: break  // In turns, the ring grows and shrinks.
            default: model.remove(from: &ring, &random)
            }
            guard let difference = model.difference(from: &ring) else { continue }
            Issue.record("seed \(seed), step \(step): \(difference)")
            return
        }
    }

    @Test func `an EntryRing stays small if one entry remains while 100,000 other entries are added and removed`() {
        var ring = EntryRing(firstNumber: 1)
        let first = ring.append(.ready, in: .memory, .two, byteCount: 1, [], end: .never)
        let number = ring[first].number
        ring.markInFlight(first)
        for _ in 0..<100_000 {
            let next = ring.append(.ready, in: .unacknowledged, .zero, byteCount: 1, [], end: .never)
            #expect(ring.firstWaiting(in: .unacknowledged) == next)
            ring.remove(next)
        }
        #expect(ring.capacity <= 16)
        let place = ring.position(ofNumber: number)
        #expect(place.map { ring[$0].qos } == .two)
    }

    @Test func `trim() frees the memory of an empty EntryRing, and the entry numbers are not reset`() {
        var ring = EntryRing(firstNumber: 1)
        let first = ring.append(.ready, in: .memory, .one, byteCount: 1, [], end: .never)
        ring.remove(first)
        ring.trim()
        #expect(ring.capacity == 0)
        let second = ring.append(.ready, in: .memory, .one, byteCount: 1, [], end: .never)
        #expect(ring[second].number == 2)
        #expect(ring.position(ofNumber: 1) == nil)
    }

    @Test func `removing an entry releases the objects that its completion captured`() {
        final class Witness: Sendable {}
        weak var witness: Witness?
        var ring = EntryRing(firstNumber: 1)
        do {
            let object = Witness()
            witness = object
            let position = ring.append(.ready, in: .memory, .one, byteCount: 1, [], end: .never)
            ring[position].recipient = .completion { [object] _ in withExtendedLifetime(object) {} }
        }
        #expect(witness != nil)
        // The ring moves its entries to larger memory.
        for _ in 0..<40 { _ = ring.append(.ready, in: .memory, .one, byteCount: 1, [], end: .never) }
        #expect(witness != nil)
        if let position = ring.position(ofNumber: 1) { ring.remove(position) }
        #expect(witness == nil)
    }
}

/// The entries of the ring, as an array in order.
private struct Model {
    struct Entry {
        let number: Int
        let lane: OutgoingEntry.Lane
        var isInFlight = false
        var isDroppable: Bool
    }

    private var entries: [Entry] = []
    private var lastNumber = 6
    private var largestCount = 0
    private var ended: [Int] = []

    mutating func append(to ring: inout EntryRing, _ random: inout SeededGenerator) {
        let lane = OutgoingEntry.Lane.allCases.randomElement(using: &random) ?? .memory
        let isDroppable = Bool.random(using: &random)
        _ = ring.append(.ready, in: lane, .one, byteCount: 3, isDroppable ? .isDroppable : [], end: .never)
        lastNumber += 1
        entries.append(Entry(number: lastNumber, lane: lane, isDroppable: isDroppable))
        largestCount = max(largestCount, entries.count)
    }

    mutating func remove(from ring: inout EntryRing, _ random: inout SeededGenerator) {
        guard let index = entries.indices.randomElement(using: &random),
            let position = ring.position(ofNumber: entries[index].number)
        else { return }
        ring.remove(position)
        ended.append(entries.remove(at: index).number)
    }

    /// The session takes entries of a lane in order.
    mutating func markInFlight(in ring: inout EntryRing, _ random: inout SeededGenerator) {
        let lane = OutgoingEntry.Lane.allCases.randomElement(using: &random) ?? .memory
        guard let index = entries.firstIndex(where: { $0.lane == lane && !$0.isInFlight }),
            let position = ring.firstWaiting(in: lane)
        else { return }
        ring.markInFlight(position)
        ring[position].flags.remove(.isDroppable)
        entries[index].isInFlight = true
        entries[index].isDroppable = false
    }

    mutating func markReturned(in ring: inout EntryRing, _ random: inout SeededGenerator) {
        guard let index = entries.indices.filter({ entries[$0].isInFlight }).randomElement(using: &random),
            let position = ring.position(ofNumber: entries[index].number)
        else { return }
        ring.markReturned(position)
        entries[index].isInFlight = false
    }

    func difference(from ring: inout EntryRing) -> String? {
        if ring.count != entries.count { return "\(ring.count) entries instead of \(entries.count)" }
        if ring.capacity > max(16, 4 * largestCount) {
            return "a capacity of \(ring.capacity) for at most \(largestCount) entries"
        }
        var numbers: [Int] = []
        var next = ring.next(after: 0)
        while let position = next {
            numbers.append(ring[position].number)
            next = ring.next(after: position)
        }
        if numbers != entries.map(\.number) { return "the order is \(numbers)" }
        for lane in OutgoingEntry.Lane.allCases {
            let waiting = entries.filter { $0.lane == lane && !$0.isInFlight }
            if ring.waitingCount(in: lane) != waiting.count { return "\(ring.waitingCount(in: lane)) wait in \(lane)" }
            let first = ring.firstWaiting(in: lane).map { ring[$0].number }
            if first != waiting.first?.number { return "\(first ?? 0) is the first in \(lane)" }
        }
        let droppable = ring.firstDroppable().map { ring[$0].number }
        if droppable != entries.first(where: \.isDroppable)?.number { return "\(droppable ?? 0) is dropped first" }
        if let number = ended.last, ring.position(ofNumber: number) != nil { return "the ended \(number) is found" }
        return nil
    }
}
