/// The number of a session, in the order in which sessions began; never used twice.
struct SessionID: Hashable, Comparable, Sendable {
    let number: UInt64

    static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}
