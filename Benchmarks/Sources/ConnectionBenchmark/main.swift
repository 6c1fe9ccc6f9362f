import BenchmarkHarness
import Glibc

// Measures one connection: the time of a message from the app through mosquitto and back, one message at a time,
// compared with libmosquitto. It also measures the memory of an idle client. Run it with `Scripts/bench connection`.
//
// Each run is a separate process. The program starts itself with `ConnectionBenchmark run <contender> <port> <count>`
// or `ConnectionBenchmark idle <port> <count>`.

/// The quantiles of the echo times that are printed.
let quantiles = [0.5, 0.99]

/// Measures one run in this process, and prints its quantiles in nanoseconds.
func runOnce(_ arguments: [String]) async throws {
    guard arguments.count == 3, let contender = Contender(rawValue: arguments[0]), let port = UInt16(arguments[1]),
        let count = Int(arguments[2]), count >= 100
    else { throw Failure("what to run is not clear from \(arguments)") }
    alarm(60)  // If a client hangs, its run fails, and the rest of the table is still printed.
    let times = try await contender.echo(count, port: port).dropFirst(count / 10).sorted()
    print(quantiles.map { "\(times[Int(Double(times.count) * $0)])" }.joined(separator: " "))
}

/// Prints the table of echo times.
func compareEchoes(_ broker: Broker, rounds: Int, count: Int, _ verdict: inout Verdict) throws {
    var results: [Contender: [[Double]]] = [:]
    for _ in 0..<rounds {
        for contender in Contender.allCases {
            let output = try OwnProcess.output(of: ["run", contender.rawValue, "\(broker.port)", "\(count)"])
            let values = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            guard values.count == quantiles.count else {
                verdict.add(failures: ["\(contender.title): no result"])
                continue
            }
            results[contender, default: []].append(values)
        }
    }
    func median(_ contender: Contender, _ quantile: Int) -> Double? {
        let values = results[contender, default: []].map { $0[quantile] }.sorted()
        return values.isEmpty ? nil : values[values.count / 2]
    }
    print("Echo through mosquitto, 64 bytes, QoS 0, \(count) one after the other, microseconds, medians of \(rounds)")
    print(
        TextColumn.padded("", 26) + TextColumn.right("p50", 9) + TextColumn.right("p99", 9)
            + " |  p50, p99 over callback      over app's thread")
    for contender in Contender.allCases {
        let times = quantiles.indices.map { median(contender, $0) }
        func ratios(_ other: Contender) -> String {
            quantiles.indices.map { index in
                guard let ours = times[index], let theirs = median(other, index) else { return "-" }
                return TextColumn.right(TextColumn.fixed(ours / theirs, decimals: 2) + "x", 8)
            }.joined()
        }
        print(
            TextColumn.padded(contender.title, 26)
                + times.map { TextColumn.right($0.map { TextColumn.fixed($0 / 1_000, decimals: 1) } ?? "-", 9) }
                .joined()
                + " | " + TextColumn.padded(ratios(.callback), 28) + ratios(.thread))
    }
}

/// The most heap that an idle client may use, in KiB.
let idleBudget = 10

/// Prints the memory of idle clients.
func measureIdle(_ broker: Broker, count: Int, _ verdict: inout Verdict) throws {
    let output = try OwnProcess.output(of: ["idle", "\(broker.port)", "\(count)"])
    guard let bytes = output.split(whereSeparator: \.isWhitespace).first.flatMap({ Double($0) }) else {
        return verdict.add(failures: ["idle clients: no result"])
    }
    let size = "\(TextColumn.fixed(bytes / 1_024, decimals: 1)) KiB of heap"
    print(
        "an idle client, \(TextColumn.grouped(count)) of them in one process: \(size) each (budget \(idleBudget))")
    verdict.require(bytes <= Double(idleBudget << 10), "an idle client: \(size) are above \(idleBudget) KiB")
}

/// Prints all results. Returns the exit code.
func compare(rounds: Int) throws -> Int32 {
    let broker = try Broker()
    var verdict = Verdict()
    try measureIdle(broker, count: 1_000, &verdict)
    try compareEchoes(broker, rounds: rounds, count: 20_000, &verdict)
    return verdict.report()
}

let words = Array(CommandLine.arguments.dropFirst())
do {
    if words.first == "run" {
        try await runOnce(Array(words.dropFirst()))
    } else if words.first == "idle", words.count == 3, let port = UInt16(words[1]), let count = Int(words[2]) {
        alarm(60)
        print(try await IdleClients.heapBytesEach(count, port: port))
    } else {
        guard let rounds = words.isEmpty ? 5 : words.count == 2 && words[0] == "--rounds" ? Int(words[1]) : nil,
            rounds > 0
        else { throw Failure("usage: ConnectionBenchmark [--rounds <count>]") }
        exit(try compare(rounds: rounds))
    }
} catch {
    OwnProcess.report("\(error)")
    exit(2)
}
