import Foundation
import Synchronization
import TrialSupport

/// Collects the broken promises of a run, and prints them at once.
final class Verdict: Sendable {
    /// This many violations are printed with their history.
    private static let explained = 20
    /// This many violations are printed. Further violations are only counted.
    private static let printed = 500

    private let count = Atomic(0)
    private let seed: UInt64
    private let isQuiet: Bool
    let clock = RunClock()

    /// Creates a verdict without violations. If `isQuiet` is true, it prints nothing.
    init(seed: UInt64, isQuiet: Bool = false) {
        self.seed = seed
        self.isQuiet = isQuiet
    }

    var violationCount: Int { count.load(ordering: .relaxed) }

    /// Reports a broken promise. `history` contains the details that are known.
    func violation(_ what: String, history: @autoclosure () -> String = "") {
        let number = count.add(1, ordering: .relaxed).newValue
        guard number <= Self.printed, !isQuiet else { return }
        let history = number <= Self.explained ? history() : ""
        print("chaos: VIOLATION (seed \(seed)) at \(clock.time(.now)): \(what)")
        if !history.isEmpty { print("    " + history.replacingOccurrences(of: "\n", with: "\n    ")) }
        fflush(nil)
    }
}
