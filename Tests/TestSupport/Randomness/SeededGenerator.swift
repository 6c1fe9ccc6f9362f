/// A random number generator (SplitMix64). The same seed gives the same numbers in every run and on every machine.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `limit` - 1.
    package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
    /// Returns true with the probability `some` / `all`.
    package mutating func chance(_ some: Int, in all: Int = 100) -> Bool { below(all) < some }
    package mutating func flag() -> Bool { chance(1, in: 2) }
    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: next()) { bytes.append(contentsOf: $0) } }
        return Array(bytes.prefix(count))
    }
}
