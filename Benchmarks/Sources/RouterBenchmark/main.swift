import BenchmarkKit
import CourierCore
import Glibc

// Measures a lookup in the tree of topic filters, with 1, 1,000 and 100,000 filters, and with topics that match one
// filter or none. Where it is fast enough, it also measures a loop over all filters. It fails if a lookup allocates a
// heap block, or if filters that do not match make a lookup much slower.
//
//     swift build -c release --package-path Benchmarks --product RouterBenchmark &&
//     Benchmarks/.build/release/RouterBenchmark
//
// The symbolic links beside this file point to the sources of the tree and of its helper, because they are not public.

/// The filters of a tree, and the topics to look up in turn.
struct Case {
    let name: String
    let filters: [TopicFilter]
    let topics: [[UInt8]]
}

func filters(_ count: Int) -> [TopicFilter] {
    // A third of the filters has no wildcard, a third has `+` in the middle, and a third has `#` at the end. All
    // filters have the same prefix.
    (0..<count).compactMap { number in
        switch number % 3 {
        case 0: try? TopicFilter("fleet/\(number / 100)/vehicle-\(number)/position")
        case 1: try? TopicFilter("fleet/\(number / 100)/vehicle-\(number)/+/value")
        default: try? TopicFilter("fleet/\(number / 100)/vehicle-\(number)/#")
        }
    }
}

func topics(_ count: Int, matching: Bool) -> [[UInt8]] {
    // The stride has no common divisor with any of the counts, so that consecutive topics are not neighbors in the
    // tree.
    (0..<min(count, 4_096)).map { index in
        let number = index * 7_919 % count
        let last = number % 3 == 1 ? "speed/value" : "position"
        return Array("fleet/\(number / 100)/vehicle-\(number)\(matching ? "" : "x")/\(last)".utf8)
    }
}

/// The maximum ratio of the lookup times with 100,000 and with 1,000 filters that do not match. A lookup visits the
/// same nodes in both cases.
let allowedSlowdown = 4.0

/// Returns one topic and its filter, together with `count` similar filters that do not match the topic.
func crowd(_ count: Int) -> Case {
    let topic = "fleet/7/vehicle-7/position"
    let others = (1_000..<1_000 + count).map { number -> String in
        switch number % 4 {
        case 0: "fleet/7/vehicle-\(number)/position"
        case 1: "fleet/+/vehicle-\(number)/position"
        case 2: "depot-\(number)/#"
        default: "+/\(number)/vehicle-7/#"
        }
    }
    return Case(
        name: "one filter that matches, beside \(count)",
        filters: (others + [topic]).compactMap { try? TopicFilter($0) }, topics: [Array(topic.utf8)])
}

func lookups(_ row: Case) -> Candidate {
    var tree = TopicTree(seed: 1)
    for (reader, filter) in row.filters.enumerated() { tree.insert(filter, for: reader) }
    return Candidate(row.name) { rounds in
        var found = 0
        var next = 0
        for _ in 0..<rounds {
            let topic = row.topics[next]
            tree.forEachMatch(of: topic.span.bytes) { found &+= $0 }
            next += 1
            if next == row.topics.count { next = 0 }
        }
        keep(found)
    }
}

/// Returns a candidate that compares the topic with each filter in turn, as a plain list of filters would.
func comparisons(_ row: Case) -> Candidate {
    let names = row.topics.compactMap { try? TopicName(String(decoding: $0, as: UTF8.self)) }
    return Candidate("\(row.name), each filter in turn") { rounds in
        var found = 0
        for round in 0..<rounds {
            let topic = names[round % names.count]
            for filter in row.filters where filter.matches(topic) { found &+= 1 }
        }
        keep(found)
    }
}

var rows: [Case] = []
for count in [1, 1_000, 100_000] {
    for matching in [true, false] {
        rows.append(
            Case(
                name: "\(count) filters, \(matching ? "one matches" : "none matches")", filters: filters(count),
                topics: topics(count, matching: matching)))
    }
}
let plus = (0..<100_000).compactMap { try? TopicFilter("+/\($0)/+/#") } + filters(100_000)
rows.append(Case(name: "200,000 filters, half begin with +", filters: plus, topics: topics(100_000, matching: true)))
let crowds = [1_000, 100_000].map(crowd)
rows += crowds

var results = measure(rows.map(lookups))
results += measure(rows.filter { $0.filters.count <= 1_000 }.map(comparisons), samples: 3, roundsPerSample: 2_000)
print("ns per lookup, median; heap blocks")
var isWithinLimits = true
for (index, result) in results.enumerated() {
    print(result.name, (result.nanoseconds * 10).rounded() / 10, result.allocations, separator: "\t")
    if index < rows.count, result.allocations > 0.001 { isWithinLimits = false }
}
if !isWithinLimits { print("FAILED a lookup costs heap blocks") }
let crowdTimes = results[rows.count - crowds.count..<rows.count].map(\.nanoseconds)
if crowdTimes[1] > crowdTimes[0] * allowedSlowdown {
    print("FAILED a lookup takes longer beside filters that do not match")
    isWithinLimits = false
}
exit(isWithinLimits ? 0 : 1)
