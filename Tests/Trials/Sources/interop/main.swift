import Foundation
import TrialSupport

// Usage: interop [--quick] [<broker> ...] | --self-test

/// Returns true if no conversation failed.
func run(_ words: [String]) async throws -> Bool {
    if words == ["--self-test"] { return try await SelfTest.run() }
    let all: [any Broker] =
        try words.contains("--quick") ? [Mosquitto(), Loopback()] : [Mosquitto(), Loopback(), Rabbit(), Ejabberd()]
    let names = words.filter { $0 != "--quick" }
    guard Set(names).isSubset(of: all.map(\.name)) else {
        throw Failure("the brokers are \(all.map(\.name).joined(separator: ", "))")
    }
    let matrix = await InteropRun(brokers: all.filter { names.isEmpty || names.contains($0.name) }).matrix()
    print(matrix.text)
    return matrix.failures.isEmpty
}

signal(SIGPIPE, SIG_IGN)
var status: Int32 = 2
do {
    status = try await run(Array(CommandLine.arguments.dropFirst())) ? 0 : 1
} catch {
    print("interop: \(error)")
}
try? await Certificates.shared.folder.remove()
exit(status)
