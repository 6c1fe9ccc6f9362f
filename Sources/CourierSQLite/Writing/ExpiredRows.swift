import CourierCore
import Foundation

/// Finds the incoming messages whose lifetime has ended.
///
/// Two indexes of the table select candidates, one by date and one by the time since the boot. Then
/// ``CourierCore/StoredMessage/isOver(at:)`` decides about each candidate.
struct ExpiredRows {
    /// The seconds that are added to the current time when candidates are selected. The addition is needed because
    /// index values are rounded.
    private static let tolerance = 0.001
    private static let operation = "looking for expired messages"

    private let byDate: Statement
    private let byBoot: Statement

    init(_ database: Database) throws(SQLiteFailure) {
        let columns =
            "SELECT key, stored_at, expires_at, boot_id, since_boot FROM incoming WHERE expires_at IS NOT NULL AND"
        let keys = "key BETWEEN ? AND ?"
        byDate = try database.prepare("\(columns) expires_at <= ? AND \(keys)", Self.operation)
        byBoot = try database.prepare(
            "\(columns) boot_id = ? AND \(MessageRow.bootEnd) <= ? AND \(keys)", Self.operation)
    }

    /// Returns the keys of a scope's rows whose lifetime has ended.
    func keys(at time: StoreTime, of scope: Int64) throws(SQLiteFailure) -> Set<RowKey> {
        var keys: Set<RowKey> = []
        byDate.bind(1, real: time.date.timeIntervalSinceReferenceDate + Self.tolerance)
            .bind(2, RowKey.first(of: scope).rawValue).bind(3, RowKey.last(of: scope).rawValue)
        try collect(byDate, time, &keys)
        guard let bootTime = time.bootTime else { return keys }
        byBoot.bind(1, blob: bootTime.bootID.bytes).bind(2, real: bootTime.sinceBoot / .seconds(1) + Self.tolerance)
            .bind(3, RowKey.first(of: scope).rawValue).bind(4, RowKey.last(of: scope).rawValue)
        try collect(byBoot, time, &keys)
        return keys
    }

    private func collect(_ rows: Statement, _ time: StoreTime, _ keys: inout Set<RowKey>) throws(SQLiteFailure) {
        defer { rows.reset() }
        while try rows.step() {
            guard let bootTime = MessageRow.bootTime(rows, 3) else { throw SQLiteFailure.unreadableRow(in: "incoming") }
            let key = RowKey(rawValue: rows.integer(0))
            let message = StoredMessage(
                id: key.id, topic: "", payload: [], qos: .one,
                storedAt: Date(timeIntervalSinceReferenceDate: rows.real(1)),
                expiresAt: Date(timeIntervalSinceReferenceDate: rows.real(2)), bootTime: bootTime.value)
            if message.isOver(at: time) { keys.insert(key) }
        }
    }
}
