import CAllocationCounter

/// A named operation to measure.
public struct Candidate {
    let name: String
    let body: (Int) -> Void

    /// Creates a candidate. `body` performs the operation `rounds` times.
    public init(_ name: String, _ body: @escaping (_ rounds: Int) -> Void) {
        self.name = name
        self.body = body
    }
}

/// The result for one candidate.
public struct Measurement {
    /// The name of the candidate.
    public let name: String
    /// The median time of one round over all samples, in nanoseconds.
    public let nanoseconds: Double
    /// The number of heap blocks that one round allocates.
    public let allocations: Double
}

/// Measures each candidate, and returns the median of its samples. The candidates take turns, so that changes of the
/// machine's speed affect all of them alike.
public func measure(_ candidates: [Candidate], samples: Int = 9, roundsPerSample: Int = 200_000) -> [Measurement] {
    var times = [[Double]](repeating: [], count: candidates.count)
    var allocations = [Double](repeating: 0, count: candidates.count)
    let clock = ContinuousClock()
    for candidate in candidates { candidate.body(roundsPerSample / 10) }
    for _ in 0..<samples {
        for (index, candidate) in candidates.enumerated() {
            let before = allocation_count()
            let elapsed = clock.measure { candidate.body(roundsPerSample) }
            allocations[index] = Double(allocation_count() - before) / Double(roundsPerSample)
            let nanoseconds = Double(elapsed.components.attoseconds) / 1e9 + Double(elapsed.components.seconds) * 1e9
            times[index].append(nanoseconds / Double(roundsPerSample))
        }
    }
    return candidates.indices.map { index in
        Measurement(
            name: candidates[index].name, nanoseconds: times[index].sorted()[samples / 2],
            allocations: allocations[index])
    }
}

/// Prevents the optimizer from removing the work that computed `value`.
@inline(never)
public func keep<Value>(_ value: Value) {}
