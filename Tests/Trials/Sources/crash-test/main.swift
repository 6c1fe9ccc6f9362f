import Foundation
import TrialSupport

// Usage: crash-test [--seconds S] [--kills N] [--seed SEED] [--full] [--keep] [--processing] | --self-test

// A write to a closed connection must fail with an error; it must not end the program.
signal(SIGPIPE, SIG_IGN)
if let orders = WorkerOrders() {
    do {
        switch orders.part {
        case .delivery: try await Worker(orders).run()
        case .processing: try await ProcessingWorker(orders).run()
        }
        exit(0)
    } catch {
        print("trouble \(error)")
        exit(3)
    }
}
do {
    if Options.has("--self-test") {
        let failures = try await SelfTest().failures() + ProcessingSelfTest().failures()
        for failure in failures { print("crash-test: judged wrongly: \(failure)") }
        if failures.isEmpty { print("crash-test: what was broken on purpose was found, and nothing else") }
        exit(failures.isEmpty ? 0 : 1)
    }
    var settings = CrashRun.Settings()
    if let seconds = Options.number("--seconds") { settings.seconds = Int(seconds) }
    if let kills = Options.number("--kills") { settings.kills = Int(kills) }
    settings.seed = Options.number("--seed") ?? UInt64.random(in: 1...999_999)
    if let store = Options.text("--store").flatMap(StoreKind.init) { settings.store = store }
    if Options.has("--full") { settings.store = .full }
    settings.keepsFolder = Options.has("--keep")
    var areKept = true
    if !Options.has("--processing") {
        let run = try await CrashRun(settings)
        let outcome = try await run.run()
        print(run.summary(outcome))
        areKept = run.findings.isEmpty
        settings.kills = outcome.kills
    }
    let run = try await ProcessingRun(settings)
    try await run.run()
    print(run.summary)
    exit(areKept && run.findings.isEmpty ? 0 : 1)
} catch {
    print("crash-test: \(error)")
    exit(2)
}
