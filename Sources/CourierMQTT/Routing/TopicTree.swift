package import CourierCore

/// The topic filters of all readers as a tree of topic levels. Finds the readers whose filter matches a topic.
///
/// A lookup goes through the levels of the topic. At each level, it visits only the nodes whose path matches the topic,
/// so the number of other filters does not matter. If both `+` and a text match, the lookup visits both nodes. A lookup
/// uses no recursion. It ends after the deepest matching node, even if the topic has 65,535 separators. It allocates
/// memory only if the arrays of the tree are too small.
///
/// For a shared filter, only the part after the share group must match the topic. The memory of the tree is
/// proportional to the total length of its filters. When most of this memory is unused, the used part is moved to
/// smaller arrays.
package struct TopicTree: Sendable {
    /// Identifies a reader. Use small numbers, and reuse them, because the tree stores eight bytes for each number up
    /// to the largest.
    package typealias ReaderID = Int

    private var nodes = LevelNodes()
    private var lists = ReaderLists()
    /// For each reader, the sequence number of the last lookup that found it. So a lookup reports each reader only
    /// once.
    private var lastLookups: [UInt64] = []
    private var lookup: UInt64 = 0
    /// The nodes that match the topic up to the current level. `following` collects the nodes that also match the next
    /// level. Both arrays are reused, so that a lookup allocates no memory.
    private var matching = [LevelNodes.root]
    private var matchingCount = 0
    private var following = [LevelNodes.root]

    /// Makes an empty tree.
    ///
    /// - Parameter seed: The seed of the hash; random by default, so that a sender cannot choose topics that collide.
    package init(seed: UInt64 = .random(in: 0...(.max))) { nodes = LevelNodes(seed: seed) }

    /// The number of pairs of a filter and a reader.
    var count: Int { lists.count }

    /// The number of nodes. Filters that begin with the same levels share the nodes of these levels.
    var nodeCount: Int { nodes.count }

    /// The largest number of nodes that matched at one level in all lookups so far. The time for one level is
    /// proportional to this number. The larger one of the arrays `matching` and `following` has twice as many elements,
    /// because each matching node may have two matching children.
    var widestLevel: Int { max(matching.count, following.count) / 2 }

    /// Adds `reader` to the readers of `filter`.
    ///
    /// - Returns: `false` if `reader` was a reader of `filter` already.
    @discardableResult
    package mutating func insert(_ filter: TopicFilter, for reader: ReaderID) -> Bool {
        precondition(reader >= 0, "the number of a reader must not be negative")
        let place = nodes.insert(filter)
        guard lists.insert(reader, share: filter.shareGroup, at: place, heads: &nodes) else { return false }
        while lastLookups.count <= reader { lastLookups.append(0) }
        return true
    }

    /// Removes `reader` from the readers of `filter`.
    ///
    /// - Returns: `false` if `reader` was not a reader of `filter`.
    @discardableResult
    mutating func remove(_ filter: TopicFilter, for reader: ReaderID) -> Bool {
        guard let place = nodes.find(filter) else { return false }
        guard lists.remove(reader, share: filter.shareGroup, from: place, heads: &nodes) else { return false }
        nodes.prune(from: place.node)
        if nodes.isSparse { lists.rebuild(nodes.compact(), heads: &nodes) }
        if lists.count == 0 { self = TopicTree(seed: nodes.hash.seed) }
        return true
    }

    /// Calls `body` once for each reader of `topic`, in no particular order.
    ///
    /// - Parameters:
    ///   - topic: The bytes of a valid topic name.
    ///   - body: Called for each reader. It cannot change the tree.
    package mutating func forEachMatch(of topic: RawSpan, _ body: (ReaderID) -> Void) {
        topic.withUnsafeBytes { forEachMatch(of: $0, body) }
    }
}

extension TopicTree {
    private mutating func forEachMatch(of topic: UnsafeRawBufferPointer, _ body: (ReaderID) -> Void) {
        guard !topic.isEmpty, lists.count > 0 else { return }
        lookup += 1
        matching[0] = LevelNodes.root
        matchingCount = 1
        var mayBeWild = topic[0] != UInt8(ascii: "$")  // [MQTT-4.7.2-1]
        var start = 0
        while matchingCount > 0 {
            let (hash, end) = nodes.hash.scan(topic, from: start)
            follow(UnsafeRawBufferPointer(rebasing: topic[start..<end]), hash, mayBeWild: mayBeWild, body)
            if end == topic.count { return visitEnds(body) }
            mayBeWild = true
            start = end + 1
        }
    }

    /// Replaces each matching node with its children that match the next level. Calls `body` for the readers of filters
    /// that end in `#` at this level.
    @inline(__always)
    private mutating func follow(
        _ level: UnsafeRawBufferPointer, _ hash: UInt64, mayBeWild: Bool, _ body: (ReaderID) -> Void
    ) {
        while following.count < 2 * matchingCount { following.append(LevelNodes.none) }
        var count = 0
        for index in 0..<matchingCount {
            let node = matching[index]
            if mayBeWild {
                visit(nodes[node].readersBelow, body)
                let anyChild = nodes[node].anyChild
                if anyChild != LevelNodes.none {
                    following[count] = anyChild
                    count += 1
                }
            }
            if let child = nodes.child(of: node, level, hash) {
                following[count] = child
                count += 1
            }
        }
        swap(&matching, &following)
        matchingCount = count
    }

    /// Visits the readers whose filter ends at the last level of the topic. Filters that have only `#` below this level
    /// also match, because `#` includes its parent level [MQTT-4.7.1-1].
    private mutating func visitEnds(_ body: (ReaderID) -> Void) {
        for index in 0..<matchingCount {
            visit(nodes[matching[index]].readersHere, body)
            visit(nodes[matching[index]].readersBelow, body)
        }
    }

    @inline(__always)
    private mutating func visit(_ head: UInt32, _ body: (ReaderID) -> Void) {
        var entry = head
        while entry != ReaderLists.none {
            let (reader, next) = lists[entry]
            if lastLookups[reader] != lookup {
                lastLookups[reader] = lookup
                body(reader)
            }
            entry = next
        }
    }
}
