import Glibc
import TrialSupport

// Usage: simulate (--walks N | --seconds S) [--seed SEED] [--self-test]

/// Runs walks until `isOver` returns true or a walk fails. Returns the failed walk's seed and message.
func run(
    from seed: UInt64, plantingMistake: Bool = false, until isOver: (_ walks: Int) -> Bool
) -> (walks: Int, steps: Int, broken: (seed: UInt64, message: String)?) {
    var walks = 0
    var steps = 0
    while !isOver(walks) {
        let walkSeed = seed &+ UInt64(walks)
        var world = World(seed: walkSeed, plantsMistake: plantingMistake)
        do throws(Broken) {
            try world.walk()
        } catch {
            return (walks, steps, (walkSeed, error.message))
        }
        walks += 1
        steps += world.steps
    }
    return (walks, steps, nil)
}

let seed = Options.number("--seed") ?? 1
if Options.has("--self-test") {
    guard let broken = run(from: seed, plantingMistake: true, until: { $0 >= 10_000 }).broken else {
        print("simulate: 10000 walks did not find the planted mistake")
        exit(1)
    }
    print("simulate: the planted mistake was found: \(broken.message)")
    exit(0)
}
let clock = ContinuousClock()
let end = clock.now.advanced(by: .seconds(Int64(Options.number("--seconds") ?? 60)))
let walkLimit = Options.number("--walks").map(Int.init)
let result = run(from: seed) { walks in
    if let walkLimit { walks >= walkLimit } else { clock.now >= end }
}
if let broken = result.broken {
    print("simulate: broken at seed \(broken.seed): \(broken.message)")
    print("simulate: repeat it with Scripts/simulate --walks 1 --seed \(broken.seed)")
    exit(1)
}
print("simulate: \(result.walks) walks with \(result.steps) steps from seed \(seed): all promises kept")
