import Testing

@testable import CourierCommands

struct LimitSearchTests {
    @Test(arguments: [0...0, 0...1, 5...9, 23...100])
    func `LimitSearch finds every limit in its range`(range: ClosedRange<Int>) {
        for limit in range {
            var search = LimitSearch(range)
            while let next = search.next { search.tried(next, works: next <= limit) }
            #expect(search.works == limit && search.isUnlimited == (limit == range.upperBound), "\(limit) in \(range)")
        }
    }

    @Test(arguments: [(65_535, 1), (1_000, 18), (0, 18)])
    func `LimitSearch needs one attempt if there is no limit, otherwise at most 18 attempts`(limit: Int, most: Int) {
        var search = LimitSearch(0...65_535)
        var attempts = 0
        while let next = search.next {
            attempts += 1
            search.tried(next, works: next <= limit)
        }
        #expect(search.works == limit && attempts <= most, "\(attempts)")
    }
}
