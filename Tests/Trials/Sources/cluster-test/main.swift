import Foundation

// Usage: cluster-test <seconds> [seed]

signal(SIGPIPE, SIG_IGN)
let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let run = ClusterRun(
    seconds: Int(numbers.first ?? 120), seed: numbers.dropFirst().first ?? UInt64.random(in: 1...999_999))
do {
    exit(try await run.run() ? 0 : 1)
} catch {
    say("cluster-test: \(error)")
    exit(2)
}
