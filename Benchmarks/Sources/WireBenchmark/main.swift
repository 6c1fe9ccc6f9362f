import BenchmarkHarness
import Glibc

// Measures the cost of TLS and WebSocket: the public API over each wire, with a broker in this process. Run it with
// `Scripts/bench wires`.

/// Prints the table. Each row is printed as soon as it is measured.
func printTable(rounds: Int) async throws {
    let keys = try Keys()
    print("The public API with the LoopbackBroker in one process, MQTT 5, messages/s, medians of \(rounds)")
    print(
        TextColumn.padded("", 22) + Wire.allCases.map { TextColumn.right($0.rawValue, 12) }.joined()
            + " |  ws/tcp  tls/tcp  wss/tls")
    for payloadSize in [64, 1_024] {
        for job in Job.allCases {
            var rates: [Wire: [Double]] = [:]
            for _ in 0..<rounds {
                for wire in Wire.allCases {
                    let run = WireRun(wire: wire, payloadSize: payloadSize, keys: keys)
                    alarm(60)  // If a run hangs, the benchmark fails.
                    rates[wire, default: []].append(try await run.rate(job))
                }
            }
            func median(_ wire: Wire) -> Double { rates[wire]?.sorted()[rounds / 2] ?? 0 }
            func ratio(_ over: Wire, _ under: Wire) -> String {
                TextColumn.right(TextColumn.fixed(median(over) / median(under), decimals: 2), 9)
            }
            print(
                TextColumn.padded("\(job.rawValue), \(payloadSize) B", 22)
                    + Wire.allCases.map { TextColumn.right(TextColumn.grouped(Int(median($0))), 12) }.joined() + " |"
                    + ratio(.ws, .tcp) + ratio(.tls, .tcp) + ratio(.wss, .tls))
            fflush(nil)
        }
    }
}

let words = Array(CommandLine.arguments.dropFirst())
do {
    guard let rounds = words.isEmpty ? 3 : words.count == 2 && words[0] == "--rounds" ? Int(words[1]) : nil, rounds > 0
    else { throw Failure("usage: WireBenchmark [--rounds <count>]") }
    try await printTable(rounds: rounds)
} catch {
    OwnProcess.report("\(error)")
    exit(1)
}
