import TestSupport
import Testing

@testable import CourierMQTTChuck

@Suite struct ExchangeLinksTests {
    private static func link(_ row: UInt64, from start: UInt64, elapsed: Int64 = 1, isLast: Bool = true) -> ExchangeLink
    {
        ExchangeLink(row: row, start: start, elapsed: elapsed, isLast: isLast)
    }

    private static func isEqual(_ link: ExchangeLink?, _ other: ExchangeLink?) -> Bool {
        link?.row == other?.row && link?.start == other?.start && link?.elapsed == other?.elapsed
            && link?.isLast == other?.isLast
    }

    @Test func `1000 exchange links with consecutive numbers use as much memory as one link`() {
        var links = ExchangeLinks()
        links.append(Self.link(1_001, from: 1))
        let size = links.byteCount
        for row in UInt64(2)...1_000 { links.append(Self.link(1_000 + row, from: row)) }
        #expect(links.byteCount == size)
        #expect(links.links(from: 0, limit: 2_000).map(\.start) == Array(1...1_000))
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `after random operations, ExchangeLinks gives the same results as a plain list of links`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var links = ExchangeLinks()
        var model: [ExchangeLink] = []
        var (row, oldest) = (UInt64(1_000), UInt64(0))
        var (distance, elapsed, isLast) = (UInt64(5), Int64(1), true)
        for _ in 0..<4_000 {
            switch random.below(60) {
            case 0:
                oldest = max(oldest, row - min(row, UInt64(random.below(300))))
                links.removeFirst(before: oldest)
                model.removeAll { $0.row < oldest }
            case 1:
                let cut = row - min(row - oldest, UInt64(random.below(20)))
                links.removeLast(from: cut)
                model.removeAll { $0.row >= cut }
                row = cut
            case 2: row += UInt64(random.below(4))
            case 3: distance = UInt64(1 + random.below(900))
            case 4: elapsed = Int64(random.below(3))
            case 5: isLast.toggle()
            default:
                let link = Self.link(row, from: row - distance, elapsed: elapsed, isLast: isLast)
                links.append(link)
                model.append(link)
                row += 1
            }
            let asked = oldest + UInt64(random.below(Int(row - oldest) + 2))
            #expect(Self.isEqual(links.link(of: asked), model.first { $0.row == asked }))
            let (part, expected) = (links.links(from: asked, limit: 7), model.drop { $0.row < asked }.prefix(7))
            #expect(part.count == expected.count && zip(part, expected).allSatisfy(Self.isEqual))
        }
        links.removeAll()
        #expect(links.links(from: 0, limit: 1).isEmpty)
    }
}
