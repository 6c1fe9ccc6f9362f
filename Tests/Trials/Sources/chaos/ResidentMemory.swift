import TrialSupport

/// Samples the resident memory of this process, and checks that it does not grow.
struct ResidentMemory {
    /// The median of the last third of a run may exceed the median of the second third by this fraction.
    static let allowedGrowth = 0.10
    /// Additional allowed growth in bytes, because a sample is only as exact as a few malloc arenas.
    static let allowedBytes = 4 << 20
    /// A shorter run is not judged, because lists and pools still grow.
    static let shortestRun = Duration.seconds(60)

    private(set) var samples: [Int]

    /// Creates a list of samples that starts with `samples`.
    init(samples: [Int] = []) { self.samples = samples }

    /// Samples this process, and returns the sample.
    @discardableResult
    mutating func sample() -> Int {
        let bytes = ProcessMemory.residentBytes(of: "self")
        samples.append(bytes)
        return bytes
    }

    /// The medians of the second and the last third of the samples.
    var medians: (second: Int, last: Int) {
        let third = samples.count / 3
        return (Self.median(samples[third..<2 * third]), Self.median(samples[(2 * third)...]))
    }

    /// True if the last third has not grown above the second third.
    var isFlat: Bool {
        let (second, last) = medians
        return Double(last) <= Double(second) * (1 + Self.allowedGrowth) + Double(Self.allowedBytes)
    }

    /// Reports memory that grows.
    func judge(_ verdict: Verdict) {
        guard !isFlat else { return }
        let (second, last) = medians
        verdict.violation("the resident memory grew from \(second >> 10) KiB in the second third to \(last >> 10) KiB")
    }

    private static func median(_ samples: ArraySlice<Int>) -> Int {
        samples.isEmpty ? 0 : samples.sorted()[samples.count / 2]
    }
}
