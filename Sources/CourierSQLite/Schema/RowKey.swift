import CourierCore

/// The key of a message's row: the scope's number in the upper 15 bits, the message's id in the lower 48.
///
/// One number as the key, because rows that are added behind the last one and removed from the front are what SQLite
/// does fastest, and one table for all clients, because many small tables would be a page each.
struct RowKey: Hashable, Comparable, Sendable {
    /// The highest message id that has room in a key: at a million messages per second it is reached in nine years.
    static let highestMessageID: UInt64 = 1 << 48 - 1

    /// The highest number of a scope.
    static let highestScope: Int64 = 1 << 15 - 1

    let rawValue: Int64

    init(rawValue: Int64) { self.rawValue = rawValue }

    /// - Returns: `nil` when the id has no room.
    init?(scope: Int64, id: StoredMessage.ID) {
        guard id.rawValue <= Self.highestMessageID else { return nil }
        rawValue = scope << 48 | Int64(id.rawValue)
    }

    var scope: Int64 { rawValue >> 48 }
    var id: StoredMessage.ID { StoredMessage.ID(rawValue: UInt64(rawValue) & Self.highestMessageID) }

    /// The lowest key of a scope.
    static func first(of scope: Int64) -> RowKey { RowKey(rawValue: scope << 48) }
    /// The highest key of a scope.
    static func last(of scope: Int64) -> RowKey { RowKey(rawValue: scope << 48 | Int64(highestMessageID)) }

    /// The lowest key that a page begins with.
    static func behind(_ id: StoredMessage.ID?, in scope: Int64) -> RowKey? {
        guard let id else { return first(of: scope) }
        guard id.rawValue < highestMessageID else { return nil }
        return RowKey(rawValue: scope << 48 | Int64(id.rawValue + 1))
    }

    static func < (left: RowKey, right: RowKey) -> Bool { left.rawValue < right.rawValue }
}
