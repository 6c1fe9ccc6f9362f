import Foundation

extension SeededGenerator {
    /// The seeds of a randomized test: the fixed ones, and one more from `COURIER_TEST_SEED` to repeat or extend a run.
    package static var seeds: [UInt64] {
        let extra = ProcessInfo.processInfo.environment["COURIER_TEST_SEED"].flatMap { UInt64($0) }
        return [1, 2, 3, 4] + (extra.map { [$0] } ?? [])
    }
}
