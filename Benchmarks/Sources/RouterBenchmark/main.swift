import BenchmarkKit
import CourierCore
import Glibc

// Takes the time of a lookup in the tree of topic filters: 1, 1,000 and 100,000 filters, topics that one of them
// matches and topics that none does, beside asking each filter in turn where that is bearable. Fails when a lookup
// costs a heap block, or when it takes longer the more filters there are that do not match.
//
//     swift build -c release --package-path Benchmarks --product RouterBenchmark && Benchmarks/.build/release/RouterBenchmark
//
// `Routing` beside this file is a link to the tree's own sources, which are internal to CourierMQTT.

/// A tree, and topics to look up in turn.
struct Case {
    let name: String
    let filters: [TopicFilter]
    let topics: [[UInt8]]
}

func filters(_ count: Int) -> [TopicFilter] {
    // A third each of whole topics, `+` in the middle and `#` at the end, all below one prefix.
    (0..<count).compactMap { number in
        switch number % 3 {
        case 0: try? TopicFilter("fleet/\(number / 100)/vehicle-\(number)/position")
        case 1: try? TopicFilter("fleet/\(number / 100)/vehicle-\(number)/+/value")
        default: try? TopicFilter("fleet/\(number / 100)/vehicle-\(number)/#")
        }
    }
}

func topics(_ count: Int, matching: Bool) -> [[UInt8]] {
    // A stride that is prime to every count, so that neighbours in the list are none in the tree.
    (0..<min(count, 4_096)).map { index in
        let number = index * 7_919 % count
        let last = number % 3 == 1 ? "speed/value" : "position"
        return Array("fleet/\(number / 100)/vehicle-\(number)\(matching ? "" : "x")/\(last)".utf8)
    }
}

/// How many times as long a lookup may take beside a hundred times the filters that do not match; it visits the same
/// nodes.
let allowedSlowdown = 4.0

/// One topic and its filter, beside `count` filters that begin, continue or end like it and do not match.
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

/// What a list of filters would cost.
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
