/// A room that the user has joined, with its entries.
struct ChatRoom: Sendable {
    /// The maximum number of stored entries; the oldest are removed.
    static let entryLimit = 2_000

    /// `nil` for the place that shows notices while there are no rooms.
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
        // Removes several entries at once, because the remaining ones must be moved.
        if entries.count > Self.entryLimit + Self.entryLimit / 4 {
            entries.removeFirst(entries.count - Self.entryLimit)
        }
    }

    /// Sets the delivery state of this user's line; returns `false` if the line is not stored here.
    mutating func set(_ delivery: ChatEntry.Delivery, ofMessage id: String) -> Bool {
        guard let place = entries.lastIndex(where: { $0.messageID == id }) else { return false }
        entries[place].delivery = delivery
        return true
    }
}
