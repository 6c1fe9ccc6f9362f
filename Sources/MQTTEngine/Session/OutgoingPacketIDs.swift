import MQTTCodec

/// Allocates the packet ids of outgoing exchanges.
///
/// Free ids are used again in the order in which they became free. A new id is used only when no id is free. So the ids
/// stay small, and a table that is indexed by ids has as few elements as possible.
struct OutgoingPacketIDs {
    /// The ids that were used before and are free now.
    private var free = Ring<PacketID>()
    /// The highest id that was ever used; 0 for none.
    private var highest: UInt16 = 0

    /// Returns an id that is not in use, or `nil` if all ids are in use.
    mutating func take() -> PacketID? {
        if let id = free.popFirst() { return id }
        guard highest < .max else { return nil }
        highest &+= 1
        return PacketID(rawValue: highest)
    }

    /// Frees an id that was in use.
    mutating func release(_ id: PacketID) { free.append(id) }

    /// Frees all ids. New ids then start at 1 again.
    mutating func releaseAll() { self = OutgoingPacketIDs() }

    /// Marks the ids of an earlier process as used. All lower ids are free.
    ///
    /// - Parameters:
    ///   - highest: The highest id of the earlier process; 0 for none.
    ///   - isUsed: Returns true if an id is in use.
    mutating func restore(upTo highest: UInt16, isUsed: (PacketID) -> Bool) {
        free = Ring()
        self.highest = highest
        guard highest > 0 else { return }
        for number in 1...highest {
            if let id = PacketID(rawValue: number), !isUsed(id) { free.append(id) }
        }
    }
}
