/// Finds the largest number that works, with few attempts. It tries the end of the range first, and then bisects the
/// range.
struct LimitSearch {
    /// The largest number that is known to work.
    private(set) var works: Int
    /// The smallest number that is known to fail. At first, it is one more than the end of the range.
    private var fails: Int
    private let top: Int
    private var hasTriedTop = false

    /// - Parameter range: The numbers to search. The start of the range must be a number that works.
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

    /// True if the end of the range works.
    var isUnlimited: Bool { works == top }

    mutating func tried(_ number: Int, works doesWork: Bool) {
        if number == top { hasTriedTop = true }
        if doesWork { works = max(works, number) } else { fails = min(fails, number) }
    }
}
