import BenchmarkKit

/// Measures every case, Paho C and a memcpy of the same bytes, and prints one row for each case. Returns the cases that
/// allocate too many heap blocks.
func printTable(_ cases: [Case]) -> [String] {
    print(
        padded("ns per packet, median", 46, left: true), padded("Courier", 8), padded("Paho C", 8),
        padded("memcpy", 8), padded("Courier/Paho", 13), padded("blocks", 7), padded("Paho", 5))
    var failures: [String] = []
    for row in cases {
        var candidates = [Candidate("Courier", row.courier)]
        if let paho = row.paho { candidates.append(Candidate("Paho", paho)) }
        candidates.append(memcpyCandidate(row.bytes))
        let results = measure(candidates)
        let courier = results[0]
        let paho = row.paho == nil ? nil : results[1]
        let memcpy = results[results.count - 1]
        print(
            padded(row.name, 46, left: true), padded(rounded(courier.nanoseconds), 8),
            padded(rounded(paho?.nanoseconds), 8), padded(rounded(memcpy.nanoseconds), 8),
            padded(rounded(paho.map { courier.nanoseconds / $0.nanoseconds }, steps: 100), 13),
            padded(rounded(courier.allocations), 7), padded(rounded(paho?.allocations), 5))
        failures += excess(of: row, courier)
    }
    return failures
}

/// Counts the heap blocks of every case without measuring time. Returns the cases that allocate too many.
func checkAllocations(_ cases: [Case]) -> [String] {
    let failures = cases.flatMap { row in
        excess(of: row, measure([Candidate(row.name, row.courier)], samples: 1, roundsPerSample: 10_000)[0])
    }
    if failures.isEmpty { print("bench: \(cases.count) cases stay within their heap blocks") }
    return failures
}

private func excess(of row: Case, _ measurement: Measurement) -> [String] {
    guard measurement.allocations > row.allowedAllocations + 0.01 else { return [] }
    return ["\(row.name): \(measurement.allocations) heap blocks, \(row.allowedAllocations) allowed"]
}

/// Returns a candidate that copies the same bytes. It is the lower bound for the time.
private func memcpyCandidate(_ source: [UInt8]) -> Candidate {
    Candidate("memcpy") { rounds in
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { memory in
            source.withUnsafeBytes { from in
                guard let base = memory.baseAddress, let start = from.baseAddress else { return }
                var used = 0
                for _ in 0..<rounds {
                    if used > 60_000 { used = 0 }
                    (base + used).copyMemory(from: start, byteCount: from.count)
                    used &+= from.count
                }
                keep(used)
            }
        }
    }
}

private func rounded(_ value: Double?, steps: Double = 10) -> String {
    value.map { "\(($0 * steps).rounded() / steps)" } ?? "-"
}

private func padded(_ text: String, _ width: Int, left: Bool = false) -> String {
    let padding = String(repeating: " ", count: max(0, width - text.count))
    return left ? text + padding : padding + text
}
