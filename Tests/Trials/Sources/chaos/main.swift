import Foundation
import TrialSupport

// Usage: chaos [--seconds S] [--seed SEED] [--kills PERCENT] | --self-test

if Options.has("--self-test") {
    let test = SelfTest()
    let failures = await test.failures()
    for failure in failures { print("chaos: judged wrongly: \(failure)") }
    if failures.isEmpty { print("chaos: \(test.count) planted stories are judged rightly") }
    exit(failures.isEmpty ? 0 : 1)
}
// A write to a closed connection must fail with an error; it must not end the program.
signal(SIGPIPE, SIG_IGN)
let seed = Options.number("--seed") ?? UInt64.random(in: 1...999_999)
let seconds = Int(Options.number("--seconds") ?? 180)
do {
    let run = try await ChaosRun(seconds: seconds, seed: seed, killPercent: Int(Options.number("--kills") ?? 30))
    let isGood = try await run.run()
    exit(isGood ? 0 : 1)
} catch {
    print("chaos: \(error)")
    exit(2)
}
