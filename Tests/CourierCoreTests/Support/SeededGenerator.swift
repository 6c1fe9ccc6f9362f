import Foundation

/// SplitMix64: the same seed gives the same run on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The seeds of a randomized test: the fixed ones, and one more from `COURIER_TEST_SEED` to repeat or extend a run.
    static var seeds: [UInt64] {
        let extra = ProcessInfo.processInfo.environment["COURIER_TEST_SEED"].flatMap { UInt64($0) }
        return [1, 2, 3, 4] + (extra.map { [$0] } ?? [])
    }
}
