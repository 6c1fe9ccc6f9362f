/// The readers of each filter of a ``TopicTree``: a doubly linked list for each filter, all in one array.
///
/// The time to add or remove a reader does not depend on the number of readers.
struct ReaderLists: Sendable {
    /// One reader in the list of a filter.
    private struct Entry: Sendable {
        var reader: UInt32
        var next: UInt32
        var previous: UInt32
    }

    /// Identifies a pair of a filter and a reader.
    private struct Key: Hashable, Sendable {
        let place: LevelNodes.Place
        /// The bytes of the share group; empty for a filter that is not shared. The key needs the group, because the
        /// filters `$share/group/a` and `a` have the same `place`, and a reader can have both filters.
        let share: [UInt8]
        let reader: Int
    }

    /// The value that marks the end of a list, or an empty list.
    static let none: UInt32 = .max

    private var entries: [Entry] = []
    /// The first of the unused entries, which form a list and can be reused.
    private var vacant = none
    private var index: [Key: UInt32] = [:]

    /// The number of readers in all lists.
    var count: Int { index.count }

    /// Returns the reader of an entry, and the next entry of the list. For the last entry, `next` is ``none``.
    subscript(entry: UInt32) -> (reader: Int, next: UInt32) {
        @inline(__always) get { (Int(entries[Int(entry)].reader), entries[Int(entry)].next) }
    }

    /// Adds a reader to a list. Returns `false` if the list contains the reader already.
    mutating func insert(
        _ reader: Int, share: String?, at place: LevelNodes.Place, heads: inout LevelNodes
    ) -> Bool {
        let key = Self.key(reader, share, place)
        guard index[key] == nil else { return false }
        insert(key, heads: &heads)
        return true
    }

    /// Removes a reader from a list. Returns `false` if the list does not contain the reader.
    mutating func remove(
        _ reader: Int, share: String?, from place: LevelNodes.Place, heads: inout LevelNodes
    ) -> Bool {
        guard let entry = index.removeValue(forKey: Self.key(reader, share, place)) else { return false }
        let (next, previous) = (entries[Int(entry)].next, entries[Int(entry)].previous)
        if next != Self.none { entries[Int(next)].previous = previous }
        if previous != Self.none { entries[Int(previous)].next = next } else { heads[head: place] = next }
        if index.isEmpty {
            (entries, vacant, index) = ([], Self.none, [:])
        } else {
            entries[Int(entry)].next = vacant
            vacant = entry
        }
        return true
    }

    /// Inserts all readers again, because the nodes were moved and lost their lists. `places` maps the old index of
    /// each node to its new index.
    mutating func rebuild(_ places: [UInt32], heads: inout LevelNodes) {
        let old = index
        (entries, vacant, index) = ([], Self.none, [:])
        for key in old.keys {
            let place = LevelNodes.Place(node: places[Int(key.place.node)], isBelow: key.place.isBelow)
            insert(Key(place: place, share: key.share, reader: key.reader), heads: &heads)
        }
    }

    private static func key(_ reader: Int, _ share: String?, _ place: LevelNodes.Place) -> Key {
        Key(place: place, share: share.map { Array($0.utf8) } ?? [], reader: reader)
    }

    private mutating func insert(_ key: Key, heads: inout LevelNodes) {
        let head = heads[head: key.place]
        let entry = add(Entry(reader: UInt32(key.reader), next: head, previous: Self.none))
        if head != Self.none { entries[Int(head)].previous = entry }
        heads[head: key.place] = entry
        index[key] = entry
    }

    private mutating func add(_ entry: Entry) -> UInt32 {
        guard vacant != Self.none else {
            entries.append(entry)
            return UInt32(entries.count - 1)
        }
        let place = vacant
        vacant = entries[Int(place)].next
        entries[Int(place)] = entry
        return place
    }
}
