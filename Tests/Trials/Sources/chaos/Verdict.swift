import Foundation
import Synchronization
import TrialSupport

/// The broken promises of a run, printed as they come.
final class Verdict: Sendable {
    /// So many are printed with all that is known about them.
    private static let explained = 20
    /// So many are printed; the rest is counted.
    private static let printed = 500

    private let count = Atomic(0)
    private let seed: UInt64
    private let isQuiet: Bool
    let clock = RunClock()

    /// Collects the violations of a run; a quiet one prints none.
    init(seed: UInt64, isQuiet: Bool = false) {
        self.seed = seed
        self.isQuiet = isQuiet
    }

    var violationCount: Int { count.load(ordering: .relaxed) }

    /// A promise is broken; `history` says what is known about it.
    func violation(_ what: String, history: @autoclosure () -> String = "") {
        let number = count.add(1, ordering: .relaxed).newValue
        guard number <= Self.printed, !isQuiet else { return }
        let history = number <= Self.explained ? history() : ""
        print("chaos: VIOLATION (seed \(seed)) at \(clock.time(.now)): \(what)")
        if !history.isEmpty { print("    " + history.replacingOccurrences(of: "\n", with: "\n    ")) }
        fflush(nil)
    }
}
