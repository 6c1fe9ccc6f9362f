import CourierCore

/// The key of a message's row. The upper 15 bits are the scope's number, and the lower 48 bits are the message's id.
///
/// With such keys, new rows are appended at the end of the table, and old rows are removed from its front. SQLite does
/// such insertions and removals fastest. All clients share one table, because each small table would need its own page.
struct RowKey: Hashable, Comparable, Sendable {
    /// The highest message id that fits into a key. With a million messages per second, a client reaches this id after
    /// nine years.
    static let highestMessageID: UInt64 = 1 << 48 - 1

    /// The highest number that a scope can have.
    static let highestScope: Int64 = 1 << 15 - 1

    let rawValue: Int64

    init(rawValue: Int64) { self.rawValue = rawValue }

    /// Creates the key of a message; `nil` if the id is higher than `highestMessageID`.
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

    /// Returns the lowest key after the message `id`, or the first key of the scope if `id` is `nil`. The result is
    /// `nil` if no key can follow.
    static func behind(_ id: StoredMessage.ID?, in scope: Int64) -> RowKey? {
        guard let id else { return first(of: scope) }
        guard id.rawValue < highestMessageID else { return nil }
        return RowKey(rawValue: scope << 48 | Int64(id.rawValue + 1))
    }

    static func < (left: RowKey, right: RowKey) -> Bool { left.rawValue < right.rawValue }
}
