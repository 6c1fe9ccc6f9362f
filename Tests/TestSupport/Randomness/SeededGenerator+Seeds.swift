import Foundation

extension SeededGenerator {
    /// The seeds for randomized tests: four fixed seeds, and the seed from `COURIER_TEST_SEED`, which repeats or
    /// extends a run.
    package static var seeds: [UInt64] {
        let extra = ProcessInfo.processInfo.environment["COURIER_TEST_SEED"].flatMap { UInt64($0) }
        return [1, 2, 3, 4] + (extra.map { [$0] } ?? [])
    }
}
