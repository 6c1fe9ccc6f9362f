import TrialSupport

/// How much memory of a process is resident, and whether that stays so.
struct ResidentMemory {
    /// The median of the last third of a run may be this much above that of the second.
    static let allowedGrowth = 0.10
    /// And this many bytes beside it, since a sample is exact to a few malloc arenas only.
    static let allowedBytes = 4 << 20
    /// A run shorter than this says nothing: lists and pools still grow to their size.
    static let shortestRun = Duration.seconds(60)

    private(set) var samples: [Int]

    /// Begins with the samples that there are.
    init(samples: [Int] = []) { self.samples = samples }

    /// Takes a sample of this process, and returns it.
    @discardableResult
    mutating func sample() -> Int {
        let bytes = ProcessMemory.residentBytes(of: "self")
        samples.append(bytes)
        return bytes
    }

    /// The medians of the second and the last third.
    var medians: (second: Int, last: Int) {
        let third = samples.count / 3
        return (Self.median(samples[third..<2 * third]), Self.median(samples[(2 * third)...]))
    }

    /// Whether the last third is at the level of the second.
    var isFlat: Bool {
        let (second, last) = medians
        return Double(last) <= Double(second) * (1 + Self.allowedGrowth) + Double(Self.allowedBytes)
    }

    /// Reports memory that is not flat.
    func judge(_ verdict: Verdict) {
        guard !isFlat else { return }
        let (second, last) = medians
        verdict.violation("the resident memory grew from \(second >> 10) KiB in the second third to \(last >> 10) KiB")
    }

    private static func median(_ samples: ArraySlice<Int>) -> Int {
        samples.isEmpty ? 0 : samples.sorted()[samples.count / 2]
    }
}
