import BenchmarkHarness
import Foundation
import Glibc

// Measures how fast messages are stored durably, compared with Paho C and its file persistence. It also measures the
// start with stored messages, and how fast a processor handles messages. Run it with `Scripts/bench durable`.
//
// Each run is a separate process. The program starts itself with `DurableBenchmark run <contender> <callers> <count>
// <folder>` or `DurableBenchmark start courier|paho fill|ready|connect <messages> <port> <folder>`.

/// Measures one run in this process, and prints the result on one line.
func runOnce(_ arguments: [String]) async throws {
    guard arguments.count == 4, let contender = Contender(name: arguments[0]), let callers = Int(arguments[1]),
        let count = Int(arguments[2]), callers > 0, count > 0
    else { throw Failure("what to run is not clear from \(arguments)") }
    alarm(60)  // If a contender hangs, its run fails, and the rest of the table is still printed.
    let folder = try ScratchFolder(in: URL(fileURLWithPath: arguments[3]))
    print(try await DurableRun(measuring: contender, callers: callers, count: count, in: folder.url).line)
}

/// Performs one step of a start in this process, and prints the result on one line. It ends without cleanup, like a
/// crash.
func startOnce(_ arguments: [String]) async throws -> Never {
    guard arguments.count == 5, let library = StartUpCase.Library(rawValue: arguments[0]),
        let step = StartUpCase.Step(rawValue: arguments[1]), let rows = Int(arguments[2]),
        let port = UInt16(arguments[3])
    else { throw Failure("what to start is not clear from \(arguments)") }
    alarm(600)
    let start = StartUpCase(library: library, rows: rows)
    print(try await start.perform(step, URL(fileURLWithPath: arguments[4]), port).line)
    fflush(nil)
    _exit(0)
}

/// The command-line options.
struct Options {
    var rounds = 5
    var folder = FileManager.default.temporaryDirectory
    /// The tables that are printed.
    enum Table: CaseIterable {
        case rates, starts, processing
    }

    var tables = Set(Table.allCases)

    init(_ arguments: [String]) throws {
        let usage = Failure(
            "usage: DurableBenchmark [--rates | --starts | --processing] [--rounds <count>] [--folder <path>]")
        var words = arguments[...]
        while let word = words.popFirst() {
            switch word {
            case "--rates": tables = [.rates]
            case "--starts": tables = [.starts]
            case "--processing": tables = [.processing]
            case "--rounds":
                guard let count = words.popFirst().flatMap({ Int($0) }), count > 0 else { throw usage }
                rounds = count
            case "--folder":
                guard let path = words.popFirst() else { throw usage }
                folder = URL(fileURLWithPath: path, isDirectory: true)
            default: throw usage
            }
        }
    }
}

/// Prints the tables. Returns the exit code.
func compareAll(_ options: Options) throws -> Int32 {
    let folder = try ScratchFolder(in: options.folder)
    var verdict = Verdict()
    if options.tables.contains(.rates) {
        DurableTable.printHead(rounds: options.rounds, kind: FileSystem.kind(of: folder.url))
        for callers in [1, 10, 1_000] {
            let comparison = Comparison(
                of: Contender.columns, callers: callers, rounds: options.rounds, in: folder.url)
            DurableTable.printRows(comparison, &verdict)
            fflush(nil)  // Shows each row at once, also through a pipe. A row takes a minute.
            verdict.add(failures: comparison.failures)
        }
    }
    if options.tables.contains(.starts) {
        DurableTable.printStartHead(rounds: options.rounds)
        for start in StartUpCase.all {
            do {
                DurableTable.printStart(start, try start.measure(rounds: options.rounds, in: folder.url))
            } catch {
                verdict.add(failures: ["\(error)"])
            }
            fflush(nil)
        }
    }
    if options.tables.contains(.processing) {
        let comparison = Comparison(
            of: Contender.processing.map(\.contender), callers: DurableTable.concurrency, rounds: options.rounds,
            in: folder.url)
        DurableTable.printProcessing(comparison, rounds: options.rounds, kind: FileSystem.kind(of: folder.url))
        verdict.add(failures: comparison.failures)
    }
    var loads = [0.0, 0.0, 0.0]
    if getloadavg(&loads, 3) == 3 {
        let words = loads.map { TextColumn.fixed($0, decimals: 1) }.joined(separator: ", ")
        print("load over 1, 5 and 15 minutes: \(words)")
    }
    return verdict.report()
}

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    switch arguments.first {
    case "run": try await runOnce(Array(arguments.dropFirst()))
    case "start": try await startOnce(Array(arguments.dropFirst()))
    default: exit(try compareAll(try Options(arguments)))
    }
} catch {
    OwnProcess.report("\(error)")
    exit(2)
}
