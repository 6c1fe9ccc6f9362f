/// Finds the largest number that works, with few attempts: first the largest number of all, then by bisection.
struct LimitSearch {
    /// The largest number that is known to work.
    private(set) var works: Int
    /// The smallest number that is known to fail, or one more than the largest number of all.
    private var fails: Int
    private let top: Int
    private var hasTriedTop = false

    /// - Parameter range: The lower bound works without an attempt.
    init(_ range: ClosedRange<Int>) {
        works = range.lowerBound
        top = range.upperBound
        fails = range.upperBound + 1
    }

    /// The next number to try, or `nil` if the limit is found.
    var next: Int? {
        if !hasTriedTop, works < top { return top }
        return fails - works > 1 ? works + (fails - works) / 2 : nil
    }

    /// True if the largest number of all works.
    var isUnlimited: Bool { works == top }

    mutating func tried(_ number: Int, works doesWork: Bool) {
        if number == top { hasTriedTop = true }
        if doesWork { works = max(works, number) } else { fails = min(fails, number) }
    }
}
