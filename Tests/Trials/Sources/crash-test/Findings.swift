import Foundation
import Synchronization
import TrialSupport

/// Collects the broken promises of a run, and prints them at once.
final class Findings: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case lost, doubled, disordered, other
    }

    /// This many findings are printed. Further findings are only counted.
    private static let printed = 20

    private let counts = Mutex<[Kind: Int]>([:])
    private let isQuiet: Bool
    private let journal: Journal?
    /// The clock of the run.
    let clock: RunClock

    /// Creates an empty list of findings. If `isQuiet` is true, it prints nothing. The journal gets every finding.
    init(isQuiet: Bool = false, journal: Journal? = nil) {
        self.isQuiet = isQuiet
        self.journal = journal
        clock = journal?.clock ?? RunClock()
    }

    /// The number of findings of a kind.
    subscript(kind: Kind) -> Int { counts.withLock { $0[kind] ?? 0 } }
    var total: Int { counts.withLock { $0.values.reduce(0, +) } }
    var isEmpty: Bool { total == 0 }

    /// Reports a broken promise. `history` contains the details that are known.
    func add(_ kind: Kind, _ what: String, history: @autoclosure () -> String = "") {
        let total = counts.withLock { counts in
            counts[kind, default: 0] += 1
            return counts.values.reduce(0, +)
        }
        remark("\(kind.rawValue.uppercased()): \(what)", history: history())
        guard total <= Self.printed, !isQuiet else { return }
        print("crash-test: \(kind.rawValue.uppercased()) at \(time(.now)): \(what)")
        let history = history()
        if !history.isEmpty { print("    " + history.replacing("\n", with: "\n    ")) }
        fflush(nil)
    }

    /// Writes an allowed but remarkable event to the journal.
    func remark(_ what: String, history: @autoclosure () -> String) {
        journal?.note("\(what)\n    " + history().replacing("\n", with: "\n    "))
    }

    /// Returns the result of the run, as text. `folder` contains the store and the journal. It exists after the run if
    /// something was found, or if it is kept.
    func verdict(folder: String, isKept: Bool) -> String {
        if isEmpty { return "crash-test: all promises kept" + (isKept ? "; see \(folder)" : "") }
        let kinds = Kind.allCases.map { "\(self[$0]) \($0.rawValue)" }.joined(separator: ", ")
        return "crash-test: \(kinds); see \(folder)"
    }

    /// Returns the seconds since the start, as text.
    func time(_ instant: ContinuousClock.Instant) -> String { clock.time(instant) }
}
