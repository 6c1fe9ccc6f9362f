import CAllocationCounter

/// One thing that is done over and over, under a name.
public struct Candidate {
    let name: String
    let body: (Int) -> Void

    /// Names `body`, which does the work as often as its argument says.
    public init(_ name: String, _ body: @escaping (_ rounds: Int) -> Void) {
        self.name = name
        self.body = body
    }
}

/// What one candidate took.
public struct Measurement {
    /// The name of the candidate.
    public let name: String
    /// The median over all samples, in nanoseconds a round.
    public let nanoseconds: Double
    /// Heap blocks a round.
    public let allocations: Double
}

/// Measures the candidates in turn, so that a machine whose speed drifts treats all alike, and takes the median of each.
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

/// Keeps the optimizer from removing the work that made `value`.
@inline(never)
public func keep<Value>(_ value: Value) {}
