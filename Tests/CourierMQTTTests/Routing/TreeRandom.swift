import Foundation

/// Topics and filters of few texts, so that they often match; SplitMix64, so that a run repeats from its seed.
struct TreeRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The seeds of a randomized test: the fixed ones, and one more from `COURIER_TEST_SEED` to repeat or extend a run.
    static var seeds: [UInt64] {
        let extra = ProcessInfo.processInfo.environment["COURIER_TEST_SEED"].flatMap { UInt64($0) }
        return [1, 2, 3, 4] + (extra.map { [$0] } ?? [])
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    mutating func topic() -> String {
        let text = levels(upTo: 5, from: ["a", "b", "", "ab", "é", "$x", "$SYS"]).joined(separator: "/")
        return text.isEmpty ? "a" : text
    }

    mutating func filter() -> String {
        var levels = levels(upTo: 5, from: ["a", "b", "", "ab", "é", "$x", "$SYS", "+", "+", "+"])
        if below(4) == 0 { levels.append("#") }
        let text = levels.joined(separator: "/")
        if text.isEmpty { return "+" }
        return below(8) == 0 ? "$share/g\(below(2))/\(text)" : text
    }

    private mutating func levels(upTo count: Int, from texts: [String]) -> [String] {
        (0...below(count)).map { _ in texts[below(texts.count)] }
    }
}
