import CourierCore

/// The nodes of a ``TopicTree``: one for each level that filters have in common, in one array, found by an open table
/// that is keyed by parent and text.
///
/// `+` is a node like another, referenced by its parent. `#` needs no node: its readers belong to the node above it.
struct LevelNodes: Sendable {
    /// One level.
    struct Node: Sendable {
        fileprivate(set) var parent: UInt32
        /// The child for `+`.
        fileprivate(set) var anyChild = LevelNodes.none
        /// The readers of the filter that ends here.
        var readersHere = ReaderLists.none
        /// The readers of the filter whose next and last level is `#`.
        var readersBelow = ReaderLists.none
        /// How many children have a text.
        fileprivate var textChildren: UInt32 = 0
        fileprivate var key: UInt32 = 0
        fileprivate var text = LevelTexts.Place()
        fileprivate var isAny = false

        fileprivate var isUnused: Bool {
            anyChild == LevelNodes.none && textChildren == 0 && readersHere == ReaderLists.none
                && readersBelow == ReaderLists.none
        }
    }

    /// Where a filter's readers are.
    struct Place: Hashable, Sendable {
        let node: UInt32
        /// Whether the filter ends in `#` below the node.
        let isBelow: Bool
    }

    static let root: UInt32 = 0
    /// No node. The root is not a child, and no slot of the table has it.
    static let none: UInt32 = 0

    let hash: LevelHash
    private var nodes = [Node(parent: root)]
    /// The places in `nodes` that are free to be used again.
    private var vacant: [UInt32] = []
    private var texts = LevelTexts()
    /// The nodes with a text, each in the first free slot from where its key says; a power of two of slots, at most
    /// half of them taken.
    private var table: [UInt32] = []
    private var tableCount = 0

    init(seed: UInt64 = 0) { hash = LevelHash(seed: seed) }

    /// How many nodes are in use, the root not counted.
    var count: Int { nodes.count - vacant.count - 1 }

    subscript(node: UInt32) -> Node {
        @inline(__always) get { nodes[Int(node)] }
    }

    /// The first entry of a filter's readers.
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

    /// The child of `parent` with a text, whose hash is given.
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

    /// Finds where the readers of `filter` are, if there can be any.
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

    /// Finds where the readers of `filter` are, and makes the nodes that are missing.
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

    /// Frees `start` if it is unused, then its parent, and so on.
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

    // MARK: The table

    private mutating func put(_ index: UInt32) {
        let mask = table.count - 1
        var slot = Int(nodes[Int(index)].key) & mask
        while table[slot] != Self.none { slot = (slot + 1) & mask }
        table[slot] = index
    }

    /// Takes a node out and moves those behind it that were pushed out of their place, so that no search ends early.
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

    /// Makes the table anew, with at most a quarter of its slots taken.
    private mutating func rebuildTable() {
        let old = table
        var size = 16
        while size < (tableCount + 1) * 4 { size *= 2 }
        table = Array(repeating: Self.none, count: size)
        for index in old where index != Self.none { put(index) }
    }

    // MARK: Memory

    /// Whether most places are free, so that ``compact()`` is worth its time.
    var isSparse: Bool { nodes.count > 1_024 && vacant.count > nodes.count / 4 * 3 }

    /// Moves the nodes together and gives the rest of the memory back. No node has readers until they are put in again.
    ///
    /// - Returns: For each node that was in use, where it is now.
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

    /// Keys hold the parent, so nodes that have moved get new ones.
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
