import CourierCore
import Foundation

/// All tables of an open file, with the statements that read and write their rows.
struct StoreTables {
    let outgoing: MessageTable
    let incoming: MessageTable
    let scopes: ScopeStatements
    private let expiredFigures: Statement
    private let expiredRemoval: Statement
    private let packetIDInsertion: Statement
    private let packetIDRemoval: Statement
    private let packetIDEmptying: Statement
    private let packetIDList: Statement
    private let subscriptionCheck: Statement
    private let subscriptionWriting: Statement
    private let subscriptionRemoval: Statement
    private let subscriptionEmptying: Statement
    private let subscriptionList: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        outgoing = try MessageTable("outgoing", database)
        incoming = try MessageTable("incoming", database)
        scopes = try ScopeStatements(database)
        let expired = "FROM incoming WHERE expires_at <= ? AND key BETWEEN ? AND ?"
        expiredFigures = try database.prepare("SELECT length(payload), size \(expired)", "removing expired messages")
        expiredRemoval = try database.prepare("DELETE \(expired)", "removing expired messages")
        let packetID = "storing packet ids"
        packetIDInsertion = try database.prepare("INSERT OR IGNORE INTO packet_id (key) VALUES (?)", packetID)
        packetIDRemoval = try database.prepare("DELETE FROM packet_id WHERE key = ?", packetID)
        packetIDEmptying = try database.prepare("DELETE FROM packet_id WHERE key BETWEEN ? AND ?", packetID)
        packetIDList = try database.prepare(
            "SELECT key FROM packet_id WHERE key BETWEEN ? AND ?", "reading packet ids")
        let subscription = "storing a subscription"
        subscriptionCheck = try database.prepare(
            "SELECT 1 FROM subscription WHERE scope = ? AND filter = ?", subscription)
        subscriptionWriting = try database.prepare(
            "INSERT OR REPLACE INTO subscription (scope, filter, intent) VALUES (?, ?, ?)", subscription)
        subscriptionRemoval = try database.prepare(
            "DELETE FROM subscription WHERE scope = ? AND filter = ?", subscription)
        subscriptionEmptying = try database.prepare("DELETE FROM subscription WHERE scope = ?", subscription)
        subscriptionList = try database.prepare(
            "SELECT filter, intent FROM subscription WHERE scope = ? ORDER BY filter", "reading subscriptions")
    }

    /// Forgets what it knows of messages beside the file: a transaction was taken back.
    func forgetRecentRows() {
        outgoing.forgetRecentRows()
        incoming.forgetRecentRows()
    }

    // MARK: Expired messages

    /// Removes incoming messages whose time is over.
    ///
    /// - Returns: What they counted together.
    func removeExpired(at date: Date, of scope: Int64) throws(SQLiteFailure) -> MessageTable.Figures {
        var sum = MessageTable.Figures(payloadBytes: 0, size: StoreSize())
        for statement in [expiredFigures, expiredRemoval] {
            statement.bind(1, real: date.timeIntervalSinceReferenceDate)
                .bind(2, RowKey.first(of: scope).rawValue)
                .bind(3, RowKey.last(of: scope).rawValue)
        }
        while try expiredFigures.step() {
            sum.payloadBytes += Int(Int32(clamping: expiredFigures.integer(0)))
            sum.size += StoreSize(rows: 1, bytes: Int(Int32(clamping: expiredFigures.integer(1))))
        }
        if sum.size.rows > 0 { try expiredRemoval.run() } else { expiredRemoval.reset() }
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

    func packetIDs(of scope: Int64) throws(SQLiteFailure) -> Set<UInt16> {
        packetIDList.bind(1, Self.packetIDKey(scope, 0)).bind(2, Self.packetIDKey(scope, .max))
        var ids: Set<UInt16> = []
        while try packetIDList.step() { ids.insert(UInt16(truncatingIfNeeded: packetIDList.integer(0))) }
        return ids
    }

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
        var found: [StoredSubscription] = []
        subscriptionList.bind(1, scope)
        defer { subscriptionList.reset() }
        while try subscriptionList.step() {
            guard let text = subscriptionList.text(0), let filter = try? TopicFilter(text),
                let intent = StoredSubscription.Intent(stored: subscriptionList.integer(1))
            else { throw SQLiteFailure.unreadableRow(in: "subscription") }
            found.append(StoredSubscription(filter, intent))
        }
        return found
    }
}
