import CourierProtobuf

/// A random generator that returns the same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// Messages that were built in Swift from fields of several other messages.
enum Mixture {
    static func of(
        _ value: Courier_Test_Everything, _ others: [Courier_Test_Everything], _ generator: inout SeededGenerator
    ) -> Courier_Test_Everything {
        func other() -> Courier_Test_Everything { others.randomElement(using: &generator) ?? value }
        var mixed = value
        mixed.aString += other().aString + "\u{0}é"
        mixed.strings += other().strings
        mixed.counts.merge(other().counts) { $0 &+ $1 }
        mixed.inners.merge(other().inners) { one, _ in one }
        mixed.details = other().details
        mixed.moods.append(.unrecognized(.random(in: 100...Int32.max, using: &generator)))
        mixed.created = ProtobufTimestamp(seconds: .random(in: 0...1 << 40, using: &generator), nanos: 999_999_999)
        mixed.lasted = .milliseconds(Int.random(in: -1_000_000...1_000_000, using: &generator))
        mixed.maybeBytes = []
        mixed.maybeInt32 = 0
        mixed.aDouble = -0.0
        mixed.second = other().second
        var child = other()
        child.child = nil
        mixed.child = child
        mixed.payload = .self_(Courier_Test_Everything(aString: "inside", payload: .wrappedText("")))
        mixed.tree = Courier_Test_Left(right: .init(kind: .left(.init(right: .init(kind: .leaf("end")), value: 7))))
        mixed.wrappedBool = false
        mixed.wrappedList = [0, 1, -1]
        return mixed
    }
}
