import Testing

@testable import CourierCommands

struct LimitSearchTests {
    @Test(arguments: [0...0, 0...1, 5...9, 23...100])
    func `search finds every possible limit`(range: ClosedRange<Int>) {
        for limit in range {
            var search = LimitSearch(range)
            while let next = search.next { search.tried(next, works: next <= limit) }
            #expect(search.works == limit && search.isUnlimited == (limit == range.upperBound), "\(limit) in \(range)")
        }
    }

    @Test(arguments: [(65_535, 1), (1_000, 18), (0, 18)])
    func `search needs one attempt without a limit, and few attempts with a limit`(limit: Int, most: Int) {
        var search = LimitSearch(0...65_535)
        var attempts = 0
        while let next = search.next {
            attempts += 1
            search.tried(next, works: next <= limit)
        }
        #expect(search.works == limit && attempts <= most, "\(attempts)")
    }
}
