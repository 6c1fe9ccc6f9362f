import MQTTCodec

/// A set of packet ids, with one bit for each id. The memory is allocated at the first insertion.
struct IncomingPacketIDs {
    private var words: [UInt64] = []
    private(set) var count = 0

    /// Inserts `id`. Returns true if the set did not contain it.
    mutating func insert(_ id: PacketID) -> Bool {
        if words.isEmpty { words = [UInt64](repeating: 0, count: 1_024) }
        let (index, bit) = Self.place(id)
        guard words[index] & bit == 0 else { return false }
        words[index] |= bit
        count &+= 1
        return true
    }

    /// Removes `id`. Returns true if the set contained it.
    @discardableResult
    mutating func remove(_ id: PacketID) -> Bool {
        guard contains(id) else { return false }
        let (index, bit) = Self.place(id)
        words[index] &= ~bit
        count &-= 1
        return true
    }

    func contains(_ id: PacketID) -> Bool {
        guard !words.isEmpty else { return false }
        let (index, bit) = Self.place(id)
        return words[index] & bit != 0
    }

    mutating func removeAll() {
        if count > 0 { words = [] }
        count = 0
    }

    private static func place(_ id: PacketID) -> (index: Int, bit: UInt64) {
        (Int(id.rawValue >> 6), 1 &<< UInt64(id.rawValue & 63))
    }
}
