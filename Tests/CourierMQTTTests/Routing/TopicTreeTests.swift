import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct TopicTreeTests {
    private func readers(_ tree: inout TopicTree, _ topic: String) -> [Int] {
        var found: [Int] = []
        tree.forEachMatch(of: topic.utf8Span.span.bytes) { found.append($0) }
        return found.sorted()
    }

    private func insert(_ filter: TopicFilter, for reader: Int, _ tree: inout TopicTree) -> Bool {
        tree.insert(filter, for: reader)
    }

    private func remove(_ filter: TopicFilter, for reader: Int, _ tree: inout TopicTree) -> Bool {
        tree.remove(filter, for: reader)
    }

    /// Returns the numbers of the filters that match the topic, counted from 0.
    private func matching(_ filters: [String], _ topic: String) throws -> [Int] {
        var tree = TopicTree(seed: 1)
        for (reader, filter) in filters.enumerated() { tree.insert(try TopicFilter(filter), for: reader) }
        return readers(&tree, topic)
    }

    @Test func `a topic matches an equal filter, and filters with + and #`() throws {
        let filters = ["a/b", "a/+", "+/b", "a/#", "#", "+/+", "a", "a/b/c", "+", "b/#", "a/b/+", "a/b/#"]
        #expect(try matching(filters, "a/b") == [0, 1, 2, 3, 4, 5, 11])
    }

    /// [MQTT-4.7.1-1].
    @Test func `a filter with # also matches its parent level`() throws {
        #expect(try matching(["sport/#", "sport/+/#", "#"], "sport") == [0, 2])
        #expect(try matching(["sport/#", "sport/+/#"], "sport/") == [0, 1])
    }

    @Test func `wildcards in the first level do not match a topic with a dollar sign [MQTT-4.7.2-1]`() throws {
        let filters = ["#", "+/b", "$SYS/#", "$SYS/+", "+/#", "$SYS/b"]
        #expect(try matching(filters, "$SYS/b") == [2, 3, 5])
        #expect(try matching(["a/+", "a/#"], "a/$b") == [0, 1])
    }

    /// [MQTT-4.7.3-1].
    @Test func `an empty topic level is matched like any other level`() throws {
        #expect(try matching(["/", "+/+", "+", "//", "/+", "+/", "/#"], "/") == [0, 1, 4, 5, 6])
        #expect(try matching(["a//b", "a/+/b", "a/b"], "a//b") == [0, 1])
    }

    /// [MQTT-4.8.2-1].
    @Test func `a shared subscription matches by the filter after its group name`() throws {
        let filters = ["$share/g/a/+", "$share/g/#", "$share/h//", "a/b"]
        #expect(try matching(filters, "a/b") == [0, 1, 3])
        #expect(try matching(filters, "$share/g/a/x").isEmpty)
        #expect(try matching(filters, "/") == [1, 2])
    }

    @Test func `a filter and the same filter in a share group are separate entries`() throws {
        var tree = TopicTree(seed: 1)
        for filter in ["a/b", "$share/g/a/b", "$share/h/a/b"] { tree.insert(try TopicFilter(filter), for: 1) }
        #expect(tree.count == 3)
        tree.remove(try TopicFilter("a/b"), for: 1)
        tree.remove(try TopicFilter("$share/g/a/b"), for: 1)
        #expect(readers(&tree, "a/b") == [1])
        tree.remove(try TopicFilter("$share/h/a/b"), for: 1)
        #expect(readers(&tree, "a/b").isEmpty)
    }

    @Test func `a lookup returns a reader with several matching filters only once`() throws {
        var tree = TopicTree(seed: 1)
        for filter in ["a/b", "a/+", "#", "a/#", "$share/g/a/b"] { tree.insert(try TopicFilter(filter), for: 7) }
        tree.insert(try TopicFilter("a/b"), for: 3)
        #expect(readers(&tree, "a/b") == [3, 7])
        #expect(readers(&tree, "a/b") == [3, 7], "also the second time")
    }

    @Test func `inserting a filter twice or removing an absent filter changes nothing`() throws {
        var tree = TopicTree(seed: 1)
        let filter = try TopicFilter("a/+/c")
        #expect(insert(filter, for: 1, &tree))
        #expect(!insert(filter, for: 1, &tree))
        #expect(tree.count == 1)
        #expect(!remove(filter, for: 2, &tree))
        #expect(!remove(try TopicFilter("a/+"), for: 1, &tree))
        #expect(!remove(try TopicFilter("a/+/c/#"), for: 1, &tree))
        #expect(!remove(try TopicFilter("x/y/z"), for: 1, &tree))
        #expect(readers(&tree, "a/b/c") == [1])
        #expect(remove(filter, for: 1, &tree))
        #expect(!remove(filter, for: 1, &tree))
        #expect(tree.count == 0)
        #expect(tree.nodeCount == 0)
    }

    @Test func `removing the last reader of a filter frees the levels that no other filter uses`() throws {
        var tree = TopicTree(seed: 1)
        tree.insert(try TopicFilter("a/b/c"), for: 1)
        tree.insert(try TopicFilter("a/b/#"), for: 1)
        tree.insert(try TopicFilter("a/+/c"), for: 1)
        #expect(tree.nodeCount == 5)
        tree.remove(try TopicFilter("a/b/c"), for: 1)
        #expect(tree.nodeCount == 4)
        tree.remove(try TopicFilter("a/b/#"), for: 1)
        #expect(tree.nodeCount == 3)
        #expect(readers(&tree, "a/x/c") == [1])
    }

    @Test func `after some readers of a filter are removed, a lookup finds the remaining readers`() throws {
        var tree = TopicTree(seed: 1)
        let filter = try TopicFilter("a/#")
        for reader in 0..<1_000 { tree.insert(filter, for: reader) }
        #expect(readers(&tree, "a") == Array(0..<1_000))
        for reader in [0, 999] + Array(stride(from: 500, to: 600, by: 3)) { tree.remove(filter, for: reader) }
        let left = (1..<999).filter { !($0 >= 500 && $0 < 600 && ($0 - 500).isMultiple(of: 3)) }
        #expect(readers(&tree, "a/b/c") == left)
    }

    @Test func `after most filters are removed, a lookup finds the remaining filters`() throws {
        var tree = TopicTree(seed: 9)
        for number in 0..<5_000 { tree.insert(try TopicFilter("room/\(number)/+/state\(number)"), for: number) }
        #expect(tree.nodeCount == 15_001)
        for number in 0..<5_000 where !number.isMultiple(of: 500) {
            #expect(remove(try TopicFilter("room/\(number)/+/state\(number)"), for: number, &tree))
        }
        #expect(tree.nodeCount == 31)
        for number in stride(from: 0, to: 5_000, by: 500) {
            #expect(readers(&tree, "room/\(number)/x/state\(number)") == [number])
            #expect(readers(&tree, "room/\(number + 1)/x/state\(number + 1)").isEmpty)
        }
        tree.insert(try TopicFilter("room/1/+/state1"), for: 1)
        #expect(readers(&tree, "room/1/x/state1") == [1])
    }

    @Test func `topic levels with lengths from 0 to 40 bytes are distinguished at each position`() throws {
        let texts = (0...40).map { String("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH".prefix($0)) }
        var tree = TopicTree(seed: 5)
        for (reader, text) in texts.enumerated() {
            tree.insert(try TopicFilter("x/\(text)"), for: reader)
            tree.insert(try TopicFilter("y/\(text)/z"), for: reader)
            if reader > 0 { tree.insert(try TopicFilter(text), for: reader) }
        }
        for (reader, text) in texts.enumerated() {
            #expect(readers(&tree, "x/\(text)") == [reader])
            #expect(readers(&tree, "y/\(text)/z") == [reader])
            #expect(readers(&tree, "y/\(text)!/z").isEmpty)
            if reader > 0 { #expect(readers(&tree, text) == [reader]) }
        }
    }

    @Test func `an empty topic matches no filter`() throws {
        #expect(try matching(["#", "+"], "").isEmpty)
    }

    @Test func `a topic with thousands of levels is matched with shallow and deep filters`() throws {
        let topic = String(repeating: "/", count: 65_535)
        #expect(try matching(["#", "/#", "+/+/+", "//////////#", "/"], topic) == [0, 1, 3])
        // The deepest possible filter. Each level matches a wildcard and is empty. A node must be visited once, not
        // once for each path.
        let deep = String(repeating: "+/", count: 32_767) + "+"
        #expect(
            try matching([deep, String(repeating: "/", count: 32_767)], String(repeating: "/", count: 32_767)) == [
                0, 1,
            ])
    }

    @Test func `a lookup does not take exponential time if text and + match on each of 40 levels`() throws {
        // A lookup that follows the text and the + of every level separately would visit 2^40 paths. The tree
        // contains only two chains.
        let levels = Array(repeating: "a", count: 40)
        let filters = [levels.joined(separator: "/"), Array(repeating: "+", count: 40).joined(separator: "/")]
        #expect(try matching(filters, levels.joined(separator: "/")) == [0, 1])
    }

    @Test func `a lookup among 100,000 other filters visits as many nodes as a lookup among four`() throws {
        let topic = "fleet/7/vehicle-7/position"
        for count in [1, 25_000] {
            var tree = TopicTree(seed: 3)
            tree.insert(try TopicFilter(topic), for: 0)
            for number in 1_000..<1_000 + count {
                for filter in [
                    "fleet/7/vehicle-\(number)/position", "fleet/+/vehicle-\(number)/position", "depot-\(number)/#",
                    "+/\(number)/vehicle-7/#",
                ] { tree.insert(try TopicFilter(filter), for: 1) }
            }
            #expect(tree.count == 4 * count + 1)
            #expect(readers(&tree, topic) == [0])
            // The node of the text and the node of +, on the second and on the third level.
            #expect(tree.widestLevel == 2, "\(tree.count) filters")
        }
    }

    @Test(arguments: SeededGenerator.seeds)
    func `after random insertions and removals, a topic tree finds the same filters as TopicFilter.matches`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var tree = TopicTree(seed: seed)
        var held: [TopicFilter: Set<Int>] = [:]
        for step in 0..<3_000 {
            let filter = try TopicFilter(random.filter())
            let reader = random.below(12)
            // The tree grows, then becomes empty, and then grows again.
            let mayInsert = (step / 750).isMultiple(of: 2) ? 3 : 1
            if random.below(4) < mayInsert {
                let isNew = tree.insert(filter, for: reader)
                #expect(isNew == held[filter, default: []].insert(reader).inserted)
            } else if let present = held.keys.sorted(by: { $0.string < $1.string }).randomElement(using: &random) {
                let reader = held[present]?.min() ?? 0
                #expect(remove(present, for: reader, &tree))
                held[present]?.remove(reader)
                if held[present]?.isEmpty == true { held[present] = nil }
            }
            guard step.isMultiple(of: 3) else { continue }
            let topic = try TopicName(random.topic())
            let expected = held.filter { $0.key.matches(topic) }.values.reduce(into: Set<Int>()) { $0.formUnion($1) }
            #expect(readers(&tree, topic.string) == expected.sorted(), "seed \(seed), step \(step), \(topic)")
        }
        #expect(tree.count == held.values.reduce(0) { $0 + $1.count })
        for (filter, readers) in held { for reader in readers { #expect(remove(filter, for: reader, &tree)) } }
        #expect(tree.nodeCount == 0, "seed \(seed)")
    }
}
