import CourierCore

/// Who reads what: topic filters as a tree of levels, and for a topic the readers whose filters match it.
///
/// A lookup follows, level by level, only the nodes whose path matches the topic so far, so filters that part from the
/// topic cost nothing however many there are. Where `+` and a text stand side by side both are followed: the work is
/// proportional to the nodes that match, never more than one visit each, and there is no recursion, so a topic of
/// 65,535 separators ends where the deepest filter does. A lookup allocates nothing once the lists it works with have grown.
///
/// A shared filter is matched by what stands behind its group. Memory is proportional to the text of the filters that are
/// in the tree, and is given back as they are removed: what is left is moved together when three quarters are gone.
struct TopicTree: Sendable {
    /// Names a reader. Small numbers that are used again: the tree keeps eight bytes for each up to the largest.
    typealias ReaderID = Int

    private var nodes = LevelNodes()
    private var lists = ReaderLists()
    /// By reader, the last lookup that found it; a reader is found once by each.
    private var lastLookups: [UInt64] = []
    private var lookup: UInt64 = 0
    /// The nodes that match the levels seen so far, and those that match one more; kept for their memory.
    private var matching: [UInt32] = []
    private var following: [UInt32] = []

    /// Makes an empty tree.
    ///
    /// - Parameter seed: Keeps who chooses topics from choosing ones that collide in its table; random by default.
    init(seed: UInt64 = .random(in: 0...(.max))) { nodes = LevelNodes(seed: seed) }

    /// How many pairs of filter and reader there are.
    var count: Int { lists.count }

    /// How many levels are kept for them, each shared by all filters that begin alike.
    var nodeCount: Int { nodes.count }

    /// Lets `reader` have the messages of `filter`.
    ///
    /// - Returns: Whether that is new.
    @discardableResult
    mutating func insert(_ filter: TopicFilter, for reader: ReaderID) -> Bool {
        precondition(reader >= 0, "readers are numbered from zero")
        let place = nodes.insert(filter)
        guard lists.insert(reader, share: filter.shareGroup, at: place, heads: &nodes) else { return false }
        while lastLookups.count <= reader { lastLookups.append(0) }
        return true
    }

    /// Lets `reader` have the messages of `filter` no more.
    ///
    /// - Returns: Whether it had them.
    @discardableResult
    mutating func remove(_ filter: TopicFilter, for reader: ReaderID) -> Bool {
        guard let place = nodes.find(filter) else { return false }
        guard lists.remove(reader, share: filter.shareGroup, from: place, heads: &nodes) else { return false }
        nodes.prune(from: place.node)
        if nodes.isSparse { lists.rebuild(nodes.compact(), heads: &nodes) }
        if lists.count == 0 { self = TopicTree(seed: nodes.hash.seed) }
        return true
    }

    /// Names every reader of `topic`, each once, in no particular order.
    ///
    /// - Parameters:
    ///   - topic: The bytes of a valid topic name.
    ///   - body: Called for each reader. It can not change the tree.
    mutating func forEachMatch(of topic: RawSpan, _ body: (ReaderID) -> Void) {
        topic.withUnsafeBytes { forEachMatch(of: $0, body) }
    }
}

extension TopicTree {
    private mutating func forEachMatch(of topic: UnsafeRawBufferPointer, _ body: (ReaderID) -> Void) {
        guard !topic.isEmpty, lists.count > 0 else { return }
        lookup += 1
        matching.removeAll(keepingCapacity: true)
        matching.append(LevelNodes.root)
        var mayBeWild = topic[0] != UInt8(ascii: "$")  // [MQTT-4.7.2-1]
        var start = 0
        while !matching.isEmpty {
            var hash = nodes.hash.empty
            var end = start
            while end < topic.count, topic[end] != UInt8(ascii: "/") {
                hash = nodes.hash.adding(topic[end], to: hash)
                end += 1
            }
            let level = UnsafeRawBufferPointer(rebasing: topic[start..<end])
            following.removeAll(keepingCapacity: true)
            for node in matching {
                if mayBeWild {
                    visit(nodes[node].readersBelow, body)
                    let anyChild = nodes[node].anyChild
                    if anyChild != LevelNodes.none { following.append(anyChild) }
                }
                if let child = nodes.child(of: node, level, hash) { following.append(child) }
            }
            swap(&matching, &following)
            mayBeWild = true
            if end == topic.count { return visitEnds(body) }
            start = end + 1
        }
    }

    /// The topic has no more levels: who reads what ends here, and `#` below, which has its parent too [MQTT-4.7.1-1].
    private mutating func visitEnds(_ body: (ReaderID) -> Void) {
        for node in matching {
            visit(nodes[node].readersHere, body)
            visit(nodes[node].readersBelow, body)
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
