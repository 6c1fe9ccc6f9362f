import Foundation
import TrialSupport

// chaos [--seconds S] [--seed SEED] [--kills PERCENT] | --self-test

if Options.has("--self-test") {
    let test = SelfTest()
    let failures = await test.failures()
    for failure in failures { print("chaos: judged wrongly: \(failure)") }
    if failures.isEmpty { print("chaos: \(test.count) planted stories are judged rightly") }
    exit(failures.isEmpty ? 0 : 1)
}
// A peer that is gone is an error of a write, not the end of the program.
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
