import Glibc

/// The failed runs and the missed budgets of a benchmark, which decide its exit code.
package struct Verdict {
    /// The exit code if every run succeeded, but a budget was missed. `Scripts/bench --report` accepts this code.
    private static let missedBudgetCode: Int32 = 3

    private var failures: [String] = []
    private var missedBudgets: [String] = []

    package init() {}

    /// Notes the descriptions of failed runs.
    package mutating func add(failures: [String]) { self.failures += failures }

    /// Notes a missed budget, unless `isMet` is true. `budget` names the measured value and its budget.
    package mutating func require(_ isMet: Bool, _ budget: @autoclosure () -> String) {
        if !isMet { missedBudgets.append(budget()) }
    }

    /// Prints each failure and each missed budget on a line, and returns the exit code: 1 after a failed run, 3 after a
    /// missed budget, and otherwise 0.
    package func report() -> Int32 {
        for failure in failures { OwnProcess.report(failure) }
        for budget in missedBudgets { OwnProcess.report("missed budget: \(budget)") }
        if !failures.isEmpty { return 1 }
        return missedBudgets.isEmpty ? 0 : Self.missedBudgetCode
    }
}
