import CourierCore

/// Reads the packet ids and the subscriptions of a scope, from a file of any version.
struct SessionLists {
    private let packetIDs: Statement
    private let subscriptions: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        packetIDs = try database.prepare("SELECT key FROM packet_id WHERE key BETWEEN ? AND ?", "reading packet ids")
        subscriptions = try database.prepare(
            "SELECT filter, intent FROM subscription WHERE scope = ? ORDER BY filter", "reading subscriptions")
    }

    func packetIDs(of scope: Int64) throws(SQLiteFailure) -> Set<UInt16> {
        packetIDs.bind(1, StoreTables.packetIDKey(scope, 0)).bind(2, StoreTables.packetIDKey(scope, .max))
        var ids: Set<UInt16> = []
        while try packetIDs.step() { ids.insert(UInt16(truncatingIfNeeded: packetIDs.integer(0))) }
        return ids
    }

    func subscriptions(of scope: Int64) throws(SQLiteFailure) -> [StoredSubscription] {
        var found: [StoredSubscription] = []
        subscriptions.bind(1, scope)
        defer { subscriptions.reset() }
        while try subscriptions.step() {
            guard let text = subscriptions.text(0), let filter = try? TopicFilter(text),
                let intent = StoredSubscription.Intent(stored: subscriptions.integer(1))
            else { throw SQLiteFailure.unreadableRow(in: "subscription") }
            found.append(StoredSubscription(filter, intent))
        }
        return found
    }
}
