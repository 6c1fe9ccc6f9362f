import BenchmarkHarness
import Glibc

// Publishes and receives messages at every QoS, and compares Courier with libmosquitto on the same sink. Run it with
// `Scripts/bench throughput`.
//
// Each run is a separate process. The program starts itself with `ThroughputBenchmark run <client> publish|receive
// <QoS> <count>`.

/// Measures one cell in this process, and prints the result on one line.
func runOnce(_ arguments: [String]) async throws {
    guard arguments.count == 4, let contender = Contender(name: arguments[0]),
        let direction = Cell.Direction(rawValue: arguments[1]), let qos = Int(arguments[2]), (0...2).contains(qos),
        let count = Int(arguments[3]), count > 0
    else { throw Failure("what to run is not clear from \(arguments)") }
    alarm(60)  // If a client hangs, its run fails, and the rest of the table is still printed.
    let cell = Cell(direction: direction, qos: qos, budget: 0)
    print(try await Run(measuring: contender, cell, count: count).line)
}

/// Prints the table of the public API. Returns the exit code.
func compareClient(_ columns: [PublicColumn], rounds: Int) async -> Int32 {
    ThroughputTable.printClientHead(columns, rounds: rounds)
    var verdict = Verdict()
    for row in PublicRow.all {
        guard let comparison = row.compare(columns, rounds: rounds) else { continue }
        ThroughputTable.printClientRow(row, columns, comparison, &verdict)
        fflush(nil)
        verdict.add(failures: comparison.failures)
    }
    if columns.contains(.plain) { ThroughputTable.printWaiting(await BareWaiting.perSecond(rounds: rounds)) }
    return verdict.report()
}

/// Prints the table that compares the speed with and without the packet inspector. Returns the exit code.
func compareInspector(rounds: Int) -> Int32 {
    ThroughputTable.printInspectorHead(rounds: rounds)
    var verdict = Verdict()
    for (cell, form) in Cell.inspected {
        let comparison = Comparison(cell, among: [.inspected(form), .client(form)], rounds: rounds)
        ThroughputTable.printInspectorRow(comparison, form, &verdict)
        fflush(nil)
        verdict.add(failures: comparison.failures)
    }
    return verdict.report()
}

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    if arguments.first == "run" {
        try await runOnce(Array(arguments.dropFirst()))
    } else {
        let plan = try Plan(arguments)
        switch plan.part {
        case .inspector: exit(compareInspector(rounds: plan.rounds))
        case .client: exit(await compareClient(plan.columns, rounds: plan.rounds))
        }
    }
} catch {
    OwnProcess.report("\(error)")
    exit(2)
}
