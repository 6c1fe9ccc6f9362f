/// A room that the user has joined, with its entries.
struct ChatRoom: Sendable {
    /// The maximum number of stored entries. Up to a quarter more entries are stored before the oldest entries are
    /// removed.
    static let entryLimit = 2_000

    /// The name of the room. It is `nil` for the room that shows notices while the user has joined no room.
    let name: ChatName?
    private(set) var entries: [ChatEntry] = []
    /// The number of unread lines of other people.
    var unreadCount = 0
    /// The number of the next entry.
    private var nextNumber = 0

    init(_ name: ChatName?) { self.name = name }

    mutating func append(_ entry: ChatEntry) {
        var entry = entry
        entry.number = nextNumber
        nextNumber += 1
        entries.append(entry)
        // Many entries are removed at once, because each removal moves all remaining entries in memory.
        if entries.count > Self.entryLimit + Self.entryLimit / 4 {
            entries.removeFirst(entries.count - Self.entryLimit)
        }
    }

    /// Sets the delivery state of a line that this user has sent. Returns `false` if this room does not store the line.
    mutating func set(_ delivery: ChatEntry.Delivery, ofMessage id: String) -> Bool {
        guard let place = entries.lastIndex(where: { $0.messageID == id }) else { return false }
        entries[place].delivery = delivery
        return true
    }
}
