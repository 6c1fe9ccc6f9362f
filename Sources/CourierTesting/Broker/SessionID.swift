/// The number of a session. Numbers increase in the order in which sessions begin, and are never reused.
struct SessionID: Hashable, Comparable, Sendable {
    let number: UInt64

    static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
