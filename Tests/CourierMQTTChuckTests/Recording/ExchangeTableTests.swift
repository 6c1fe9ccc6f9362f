import TestSupport
import Testing

@testable import CourierMQTTChuck

@Suite struct ExchangeTableTests {
    @Test(arguments: [UInt64(1), 2, 3])
    func `an exchange table gives the same results as a dictionary with packet ids as keys`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = ExchangeTable()
        var model: [UInt16: UInt64] = [:]
        for row in UInt64(1)...30_000 {
            // Most ids increase slowly, as a client assigns them; others are random.
            let id = random.chance(9, in: 10) ? UInt16(truncatingIfNeeded: row / 2) : UInt16(random.below(65_536))
            switch random.below(3) {
            case 0:
                table.open(ExchangeTable.Start(row: row, time: 0, id: id))
                model[id] = row
            case 1: #expect(table.close(id)?.row == model.removeValue(forKey: id))
            default: #expect(table.start(id)?.row == model[id])
            }
            #expect(table.count == model.count)
        }
        for (id, row) in model { #expect(table.close(id)?.row == row) }
        #expect(table.count == 0)
    }

    @Test func `an exchange table can hold all 65536 packet ids at once`() {
        var table = ExchangeTable()
        // Consecutive ids are far apart, so that a small table cannot hold two of them.
        let ids = (0...UInt16.max).map { $0 &* 32_769 }
        for id in ids { table.open(ExchangeTable.Start(row: UInt64(id), time: 0, id: id)) }
        #expect(table.count == 65_536)
        #expect(ids.allSatisfy { table.start($0)?.row == UInt64($0) })
        table.removeAll()
        #expect(table.count == 0 && table.start(1) == nil && table.close(1) == nil)
    }
}
