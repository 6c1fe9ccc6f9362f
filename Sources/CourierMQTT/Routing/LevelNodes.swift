import CourierCore

/// The nodes of a ``TopicTree``, in one array. Filters that begin with the same levels share the nodes of these levels.
/// A hash table with open addressing finds a node by its parent and its text.
///
/// The node of a `+` level is not in the hash table, because its parent node stores its index. A `#` level has no node:
/// its readers belong to the node above it.
struct LevelNodes: Sendable {
    /// One level of one or several filters.
    struct Node: Sendable {
        fileprivate(set) var parent: UInt32
        /// The index of the child for the level `+`; ``none`` if there is no such child.
        fileprivate(set) var anyChild = LevelNodes.none
        /// The first list entry of the readers whose filter ends at this node; `ReaderLists.none` if there are none.
        var readersHere = ReaderLists.none
        /// The first list entry of the readers whose filter has `#` below this node; `ReaderLists.none` if there are
        /// none.
        var readersBelow = ReaderLists.none
        /// The number of child nodes for levels other than `+`. Each of these nodes has a text.
        fileprivate var textChildren: UInt32 = 0
        fileprivate var key: UInt32 = 0
        fileprivate var text = LevelTexts.Place()
        fileprivate var isAny = false

        fileprivate var isUnused: Bool {
            anyChild == LevelNodes.none && textChildren == 0 && readersHere == ReaderLists.none
                && readersBelow == ReaderLists.none
        }
    }

    /// The position of a filter's readers in the tree: a node, and one of the two lists of this node.
    struct Place: Hashable, Sendable {
        let node: UInt32
        /// True if the filter ends in `#` below the node. Then its readers are in the list `readersBelow`, otherwise in
        /// `readersHere`.
        let isBelow: Bool
    }

    static let root: UInt32 = 0
    /// The index that means "no node". It is the index of the root, because the root is never a child and never in the
    /// table.
    static let none: UInt32 = 0

    let hash: LevelHash
    private var nodes = [Node(parent: root)]
    /// The indexes of unused nodes in `nodes`, which can be reused.
    private var vacant: [UInt32] = []
    private var texts = LevelTexts()
    /// A hash table of the nodes with a text. Each node is in the first free slot at or after the slot of its key. The
    /// number of slots is a power of two, and at most half of them are used.
    private var table: [UInt32] = []
    private var tableCount = 0

    init(seed: UInt64 = 0) { hash = LevelHash(seed: seed) }

    /// The number of used nodes, not counting the root.
    var count: Int { nodes.count - vacant.count - 1 }

    subscript(node: UInt32) -> Node {
        @inline(__always) get { nodes[Int(node)] }
    }

    /// The first entry of the list that holds a filter's readers.
    subscript(head place: Place) -> UInt32 {
        get { place.isBelow ? nodes[Int(place.node)].readersBelow : nodes[Int(place.node)].readersHere }
        set {
            if place.isBelow {
                nodes[Int(place.node)].readersBelow = newValue
            } else {
                nodes[Int(place.node)].readersHere = newValue
            }
        }
    }

    /// Returns the child of `parent` with this text; `nil` if there is none. `textHash` is the hash of the text.
    @inline(__always)
    func child(of parent: UInt32, _ text: UnsafeRawBufferPointer, _ textHash: UInt64) -> UInt32? {
        guard nodes[Int(parent)].textChildren > 0 else { return nil }
        let key = hash.key(textHash, under: parent)
        let mask = table.count - 1
        var slot = Int(key) & mask
        while table[slot] != Self.none {
            let index = table[slot]
            let node = nodes[Int(index)]
            if node.key == key, node.parent == parent, texts.matches(node.text, text) { return index }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Returns the node and the list for the readers of `filter`; `nil` if a node of the filter is missing.
    func find(_ filter: TopicFilter) -> Place? {
        var levels = FilterLevels(filter)
        var node = Self.root
        while let level = levels.next() {
            switch level {
            case .multi: return Place(node: node, isBelow: true)
            case .single:
                node = nodes[Int(node)].anyChild
                if node == Self.none { return nil }
            case .text(let range):
                guard let child = levels.withBytes(range, { child(of: node, $0, hash(of: $0)) }) else { return nil }
                node = child
            }
        }
        return Place(node: node, isBelow: false)
    }

    /// Returns the node and the list for the readers of `filter`. Adds the missing nodes.
    mutating func insert(_ filter: TopicFilter) -> Place {
        var levels = FilterLevels(filter)
        var node = Self.root
        while let level = levels.next() {
            switch level {
            case .multi: return Place(node: node, isBelow: true)
            case .single: node = anyChild(of: node)
            case .text(let range): node = levels.withBytes(range) { textChild(of: node, $0) }
            }
        }
        return Place(node: node, isBelow: false)
    }

    /// Removes the node `start` if it is unused, and then each ancestor that is unused, too.
    mutating func prune(from start: UInt32) {
        var index = start
        while index != Self.root, nodes[Int(index)].isUnused {
            let node = nodes[Int(index)]
            if node.isAny {
                nodes[Int(node.parent)].anyChild = Self.none
            } else {
                removeFromTable(index)
                texts.remove(node.text)
                nodes[Int(node.parent)].textChildren -= 1
            }
            vacant.append(index)
            index = node.parent
        }
        if texts.isSparse { moveTexts() }
    }
}

extension LevelNodes {
    private func hash(of text: UnsafeRawBufferPointer) -> UInt64 { hash.scan(text, from: 0).hash }

    private mutating func anyChild(of parent: UInt32) -> UInt32 {
        let present = nodes[Int(parent)].anyChild
        if present != Self.none { return present }
        var node = Node(parent: parent)
        node.isAny = true
        let index = add(node)
        nodes[Int(parent)].anyChild = index
        return index
    }

    private mutating func textChild(of parent: UInt32, _ text: UnsafeRawBufferPointer) -> UInt32 {
        let textHash = hash(of: text)
        if let present = child(of: parent, text, textHash) { return present }
        var node = Node(parent: parent)
        node.key = hash.key(textHash, under: parent)
        node.text = texts.append(text)
        let index = add(node)
        nodes[Int(parent)].textChildren += 1
        if (tableCount + 1) * 2 > table.count { rebuildTable() }
        put(index)
        tableCount += 1
        return index
    }

    private mutating func add(_ node: Node) -> UInt32 {
        if let index = vacant.popLast() {
            nodes[Int(index)] = node
            return index
        }
        nodes.append(node)
        return UInt32(nodes.count - 1)
    }

    // MARK: Hash table

    private mutating func put(_ index: UInt32) {
        let mask = table.count - 1
        var slot = Int(nodes[Int(index)].key) & mask
        while table[slot] != Self.none { slot = (slot + 1) & mask }
        table[slot] = index
    }

    /// Removes a node from the table. If a later node could no longer be found behind the gap, moves this node into the
    /// gap.
    private mutating func removeFromTable(_ index: UInt32) {
        let mask = table.count - 1
        var gap = Int(nodes[Int(index)].key) & mask
        while table[gap] != index { gap = (gap + 1) & mask }
        var slot = (gap + 1) & mask
        while table[slot] != Self.none {
            let home = Int(nodes[Int(table[slot])].key) & mask
            if (slot - home) & mask >= (slot - gap) & mask {
                table[gap] = table[slot]
                gap = slot
            }
            slot = (slot + 1) & mask
        }
        table[gap] = Self.none
        tableCount -= 1
    }

    /// Rebuilds the table so that at most a quarter of its slots are used.
    private mutating func rebuildTable() {
        let old = table
        var size = 16
        while size < (tableCount + 1) * 4 { size *= 2 }
        table = Array(repeating: Self.none, count: size)
        for index in old where index != Self.none { put(index) }
    }

    // MARK: Memory

    /// True if there are more than 1,024 nodes, and more than three quarters of them are unused. Only then does
    /// ``compact()`` save enough memory.
    var isSparse: Bool { nodes.count > 1_024 && vacant.count > nodes.count / 4 * 3 }

    /// Moves the used nodes to a smaller array. Afterward, all lists of readers are empty until the caller inserts the
    /// readers again.
    ///
    /// - Returns: An array that maps the old index of each used node to its new index.
    mutating func compact() -> [UInt32] {
        var places = [UInt32](repeating: 0, count: nodes.count)
        for index in vacant { places[Int(index)] = .max }
        var kept = 0
        for index in places.indices where places[index] != .max {
            places[index] = UInt32(kept)
            kept += 1
        }
        var moved: [Node] = []
        moved.reserveCapacity(kept)
        for (index, node) in nodes.enumerated() where places[index] != .max {
            var node = node
            node.parent = places[Int(node.parent)]
            node.anyChild = places[Int(node.anyChild)]
            (node.readersHere, node.readersBelow) = (ReaderLists.none, ReaderLists.none)
            moved.append(node)
        }
        (nodes, vacant) = (moved, [])
        moveKeys(places)
        return places
    }

    /// Computes the keys of the moved nodes again, because a key depends on the index of the parent.
    private mutating func moveKeys(_ places: [UInt32]) {
        let texted = table.filter { $0 != Self.none }.map { places[Int($0)] }
        for index in texted {
            let node = nodes[Int(index)]
            let textHash = texts.withBytes(node.text) { hash(of: $0) }
            nodes[Int(index)].key = hash.key(textHash, under: node.parent)
        }
        table = texted
        rebuildTable()
        moveTexts()
    }

    private mutating func moveTexts() {
        var moved = LevelTexts()
        for index in table where index != Self.none {
            nodes[Int(index)].text = moved.append(nodes[Int(index)].text, of: texts)
        }
        texts = moved
    }
}
