import Glibc
import TrialSupport

// Usage: walk [--walks N] [--seed SEED] [--without RULE] [--story] [--count] [--twice] [--self-test]

/// Returns the first of the `walks` that breaks a promise.
func firstViolation(
    _ machine: WalkMachine, from seed: UInt64, walks: UInt64, rules: WalkRules, fault: WalkFault.Kind? = nil
) -> WalkResult? {
    for number in 0..<walks {
        let result = machine.walk(seed: seed &+ number, rules: rules, fault: fault)
        if result.violation != nil { return result }
    }
    return nil
}

/// Plants each mistake, and checks that the walks find it.
func testItself(_ machine: WalkMachine, from seed: UInt64, rules: WalkRules) -> Bool {
    for fault in WalkFault.Kind.allCases {
        // Only use walks that succeed without the mistake. A walk that fails anyway proves nothing.
        let sound = (0..<200 as Range<UInt64>).map { seed &+ $0 }.filter {
            machine.walk(seed: $0, rules: rules).violation == nil
        }
        let found = sound.lazy.compactMap { machine.walk(seed: $0, rules: rules, fault: fault).violation }.first
        guard let found else {
            print("walk: \(sound.count) walks did not find the planted mistake \(fault)")
            return false
        }
        print("walk: the planted mistake \(fault) was found: \(found)")
    }
    return true
}

/// Prints, for each promise, how many of the walks break it.
func countViolations(_ machine: WalkMachine, from seed: UInt64, walks: UInt64, rules: WalkRules) {
    for (name, rule) in WalkRules.names where rules.contains(rule) {
        let found = (0..<walks).compactMap { number -> WalkResult? in
            let result = machine.walk(seed: seed &+ number, rules: rule)
            return result.violation == nil ? nil : result
        }
        print("walk: \(name): \(found.count) of \(walks)")
        for result in found.prefix(3) { print("  seed \(result.seed): \(result.violation?.message ?? "")") }
    }
}

/// Runs each seed twice, and returns the number of walks that differ. A difference shows randomness that does not come
/// from the seed.
func countDifferences(_ machine: WalkMachine, from seed: UInt64, walks: UInt64) -> Int {
    var count = 0
    for number in 0..<walks {
        let (one, other) = (machine.walk(seed: seed &+ number), machine.walk(seed: seed &+ number))
        guard one.outline != other.outline else { continue }
        count += 1
        guard count <= 3, let (left, right) = zip(one.outline, other.outline).first(where: { $0 != $1 }) else {
            continue
        }
        let differing = left.difference(from: right).map { String(describing: $0) }
        print("  seed \(one.seed), store \(one.plan.hasStore): \(differing.prefix(4).joined(separator: "; "))")
    }
    return count
}

let seed = Options.number("--seed") ?? 1
let walks = Options.number("--walks") ?? 20_000
let omitted = Options.text("--without")?.split(separator: ",").map(String.init) ?? []
var rules = WalkRules.all
for (name, rule) in WalkRules.names where omitted.contains(name) { rules.remove(rule) }
let machine = try WalkMachine()
if Options.has("--self-test") { exit(testItself(machine, from: seed, rules: rules) ? 0 : 1) }
if Options.has("--twice") {
    print("walk: \(countDifferences(machine, from: seed, walks: walks)) of \(walks) walks differ from their repetition")
    exit(0)
}
if Options.has("--count") {
    countViolations(machine, from: seed, walks: walks, rules: rules)
    exit(0)
}
let start = ContinuousClock.now
if let broken = firstViolation(machine, from: seed, walks: walks, rules: rules) {
    if Options.has("--story") { print(broken.story) }
    print("walk: broken at seed \(broken.seed): \(broken.violation.map(String.init(describing:)) ?? "")")
    print("walk: repeat it with Scripts/walk --walks 1 --seed \(broken.seed) --story")
    exit(1)
}
print("walk: \(walks) walks from seed \(seed) kept all promises, in \(ContinuousClock.now - start)")
