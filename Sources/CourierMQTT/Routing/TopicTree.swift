import CourierCore

/// The topic filters of all readers as a tree of levels. For a topic, it finds the readers with a matching filter.
///
/// A lookup follows, level by level, only the nodes whose path matches the topic, so other filters cost nothing. If both `+` and
/// a text match, both are followed. The work is proportional to the matching nodes, and there is no recursion, so a topic of
/// 65,535 separators ends at the deepest filter. A lookup does not allocate once its lists have grown.
///
/// A shared filter is matched by the part behind its group. Memory is proportional to the text of the present filters. When three
/// quarters of it are unused, the rest is moved together.
struct TopicTree: Sendable {
    /// Names a reader. Small numbers that are used again: the tree keeps eight bytes for each up to the largest.
    typealias ReaderID = Int

    private var nodes = LevelNodes()
    private var lists = ReaderLists()
    /// By reader, the last lookup that found it; a reader is found once by each.
    private var lastLookups: [UInt64] = []
    private var lookup: UInt64 = 0
    /// The nodes that match the levels so far, and those that match one more level. They are kept, so that a lookup does not
    /// allocate.
    private var matching = [LevelNodes.root]
    private var matchingCount = 0
    private var following = [LevelNodes.root]

    /// Makes an empty tree.
    ///
    /// - Parameter seed: The seed of the hash; random by default, so that a sender cannot choose topics that collide.
    init(seed: UInt64 = .random(in: 0...(.max))) { nodes = LevelNodes(seed: seed) }

    /// How many pairs of filter and reader there are.
    var count: Int { lists.count }

    /// How many levels are kept for them, each shared by all filters that begin alike.
    var nodeCount: Int { nodes.count }

    /// The most nodes of one level that a lookup so far has gone down from, which is what a level costs: the lists have
    /// grown to twice as many, and keep that.
    var widestLevel: Int { max(matching.count, following.count) / 2 }

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
    ///   - body: Called for each reader. It cannot change the tree.
    mutating func forEachMatch(of topic: RawSpan, _ body: (ReaderID) -> Void) {
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

    /// Moves one level down from all matching nodes.
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

    /// The topic has no more levels: visits the readers of filters that end here, and of `#` below, which matches its parent, too
    /// [MQTT-4.7.1-1].
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
