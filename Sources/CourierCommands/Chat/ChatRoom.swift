/// A room that this program is in, and what was said there.
struct ChatRoom: Sendable {
    /// How many entries are kept; the oldest go.
    static let entryLimit = 2_000

    /// `nil` for the place where notices are while there is no room.
    let name: ChatName?
    private(set) var entries: [ChatEntry] = []
    /// How many lines of others have come while another room was shown.
    var unreadCount = 0
    /// The number of the next entry.
    private var nextNumber = 0

    init(_ name: ChatName?) { self.name = name }

    mutating func append(_ entry: ChatEntry) {
        var entry = entry
        entry.number = nextNumber
        nextNumber += 1
        entries.append(entry)
        // Several at once, since those that stay are moved.
        if entries.count > Self.entryLimit + Self.entryLimit / 4 {
            entries.removeFirst(entries.count - Self.entryLimit)
        }
    }

    /// Tells how far a line of one's own is; `false` when it is not here.
    mutating func set(_ delivery: ChatEntry.Delivery, ofMessage id: String) -> Bool {
        guard let place = entries.lastIndex(where: { $0.messageID == id }) else { return false }
        entries[place].delivery = delivery
        return true
    }
}
