import Foundation
import Synchronization
import TrialSupport

/// The broken promises of a run, printed as they come.
final class Findings: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case lost, doubled, disordered, other
    }

    /// So many are printed; the rest is counted.
    private static let printed = 20

    private let counts = Mutex<[Kind: Int]>([:])
    private let isQuiet: Bool
    private let journal: Journal?
    /// Tells the time of the run.
    let clock: RunClock

    /// A quiet one prints nothing; the journal gets everything.
    init(isQuiet: Bool = false, journal: Journal? = nil) {
        self.isQuiet = isQuiet
        self.journal = journal
        clock = journal?.clock ?? RunClock()
    }

    /// How many there are of a kind.
    subscript(kind: Kind) -> Int { counts.withLock { $0[kind] ?? 0 } }
    var total: Int { counts.withLock { $0.values.reduce(0, +) } }
    var isEmpty: Bool { total == 0 }

    /// A promise is broken; `history` says what is known about it.
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

    /// Something is allowed, but worth a look: for the journal.
    func remark(_ what: String, history: @autoclosure () -> String) {
        journal?.note("\(what)\n    " + history().replacing("\n", with: "\n    "))
    }

    /// Seconds since the start, for people.
    func time(_ instant: ContinuousClock.Instant) -> String { clock.time(instant) }
}
