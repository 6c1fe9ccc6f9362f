import CourierCore
import Foundation

/// The tables of an open file, with the statements that read and write their rows.
struct StoreTables {
    let outgoing: MessageTable
    let incoming: MessageTable
    let rejected: RejectedTable
    let jobs: JobTables
    let scopes: ScopeStatements
    private let expired: ExpiredRows
    private let packetIDInsertion: Statement
    private let packetIDRemoval: Statement
    private let packetIDEmptying: Statement
    private let subscriptionCheck: Statement
    private let subscriptionWriting: Statement
    private let subscriptionRemoval: Statement
    private let subscriptionEmptying: Statement
    private let lists: SessionLists

    init(_ database: Database) throws(SQLiteFailure) {
        outgoing = try MessageTable("outgoing", database)
        incoming = try MessageTable("incoming", database)
        scopes = try ScopeStatements(database)
        rejected = try RejectedTable(database)
        jobs = try JobTables(database)
        expired = try ExpiredRows(database)
        let packetID = "storing packet ids"
        packetIDInsertion = try database.prepare("INSERT OR IGNORE INTO packet_id (key) VALUES (?)", packetID)
        packetIDRemoval = try database.prepare("DELETE FROM packet_id WHERE key = ?", packetID)
        packetIDEmptying = try database.prepare("DELETE FROM packet_id WHERE key BETWEEN ? AND ?", packetID)
        let subscription = "storing a subscription"
        subscriptionCheck = try database.prepare(
            "SELECT 1 FROM subscription WHERE scope = ? AND filter = ?", subscription)
        subscriptionWriting = try database.prepare(
            "INSERT OR REPLACE INTO subscription (scope, filter, intent) VALUES (?, ?, ?)", subscription)
        subscriptionRemoval = try database.prepare(
            "DELETE FROM subscription WHERE scope = ? AND filter = ?", subscription)
        subscriptionEmptying = try database.prepare("DELETE FROM subscription WHERE scope = ?", subscription)
        lists = try SessionLists(database)
    }

    /// Clears the cached sizes of recent rows. Call this function after a rollback, because the cached rows may not
    /// exist any more.
    func forgetRecentRows() {
        outgoing.forgetRecentRows()
        incoming.forgetRecentRows()
        jobs.messages.forgetRecentRows()
    }

    // MARK: Expired messages

    /// Removes incoming messages whose lifetime has ended.
    ///
    /// - Returns: The sums of the sizes of the removed rows.
    func removeExpired(at time: StoreTime, of scope: Int64) throws(SQLiteFailure) -> MessageTable.Figures {
        var sum = MessageTable.Figures(payloadBytes: 0, size: StoreSize())
        for key in try expired.keys(at: time, of: scope) {
            guard let figures = try incoming.remove(key) else { continue }
            sum.payloadBytes += figures.payloadBytes
            sum.size += figures.size
        }
        return sum
    }

    // MARK: Packet ids

    static func packetIDKey(_ scope: Int64, _ id: UInt16) -> Int64 { scope << 16 | Int64(id) }

    func setPacketID(_ key: Int64, isThere: Bool) throws(SQLiteFailure) {
        try (isThere ? packetIDInsertion : packetIDRemoval).bind(1, key).run()
    }

    func removePacketIDs(of scope: Int64) throws(SQLiteFailure) {
        try packetIDEmptying.bind(1, Self.packetIDKey(scope, 0)).bind(2, Self.packetIDKey(scope, .max)).run()
    }

    func packetIDs(of scope: Int64) throws(SQLiteFailure) -> Set<UInt16> { try lists.packetIDs(of: scope) }

    // MARK: Subscriptions

    func hasSubscription(_ filter: String, of scope: Int64) throws(SQLiteFailure) -> Bool {
        defer { subscriptionCheck.reset() }
        return try subscriptionCheck.bind(1, scope).bind(2, filter).step()
    }

    func write(_ subscription: StoredSubscription, of scope: Int64) throws(SQLiteFailure) {
        try subscriptionWriting.bind(1, scope)
            .bind(2, subscription.filter.string)
            .bind(3, subscription.intent.stored)
            .run()
    }

    func removeSubscription(_ filter: String, of scope: Int64) throws(SQLiteFailure) {
        try subscriptionRemoval.bind(1, scope).bind(2, filter).run()
    }

    func removeSubscriptions(of scope: Int64) throws(SQLiteFailure) {
        try subscriptionEmptying.bind(1, scope).run()
    }

    func subscriptions(of scope: Int64) throws(SQLiteFailure) -> [StoredSubscription] {
        try lists.subscriptions(of: scope)
    }
}
