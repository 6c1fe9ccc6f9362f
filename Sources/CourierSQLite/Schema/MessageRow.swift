import CourierCore
import Foundation

/// A row of a message table, with functions to read it from a statement and to write it.
struct MessageRow: Sendable {
    /// The columns in the order in which statements name them.
    static let columns = firstColumns + ", boot_id, since_boot, is_latest_only, strikes"

    /// The columns of file version 1.
    private static let firstColumns =
        "key, progress, qos, is_retained, stored_at, expires_at, size, topic, properties, payload"

    /// The SQL expression for the end of a row's lifetime, in seconds since the machine's last boot before the row was
    /// stored.
    static let bootEnd = "since_boot / 1e9 + (expires_at - stored_at)"

    /// Returns the columns for a SELECT statement. If a table of an older version lacks columns, the statement reads
    /// them as NULL.
    static func columns(of table: String, in database: Database) -> String {
        let hasAll = (try? database.prepare("SELECT \(columns) FROM \(table) LIMIT 0", "reading")) != nil
        return hasAll ? columns : firstColumns + ", NULL, NULL, NULL, NULL"
    }

    let key: RowKey
    let outgoing: StoredOutgoing

    var message: StoredMessage { outgoing.message }

    /// Reads the current row.
    ///
    /// - Returns: `nil` if the row is invalid.
    init?(reading row: Statement) {
        key = RowKey(rawValue: row.integer(0))
        guard key.rawValue >= 0, let progress = StoredOutgoing.Progress(stored: row.integer(1)),
            let qos = QoS(rawValue: Int(truncatingIfNeeded: row.integer(2))), let topic = row.text(7),
            let payload = row.blob(9)
        else { return nil }
        var properties = MessageProperties()
        if !row.isNull(8) {
            guard let decoded = row.blob(8).flatMap(PropertiesCodec.decode) else { return nil }
            properties = decoded
        }
        guard let bootTime = Self.bootTime(row, 10) else { return nil }
        let strikes = row.integer(13)
        guard (0...Int64(Int32.max)).contains(strikes) else { return nil }
        let message = StoredMessage(
            id: key.id, topic: topic, payload: payload, qos: qos, isRetained: row.integer(3) != 0,
            properties: properties, storedAt: Date(timeIntervalSinceReferenceDate: row.real(4)),
            expiresAt: row.isNull(5) ? nil : Date(timeIntervalSinceReferenceDate: row.real(5)),
            bootTime: bootTime.value, isLatestOnly: row.integer(12) != 0)
        outgoing = StoredOutgoing(message, progress, strikes: Int(strikes))
    }

    /// Reads the boot id and the time since the boot from two columns.
    ///
    /// - Returns: `nil` if the columns are invalid; a tuple with the value `nil` if the first column is NULL.
    static func bootTime(_ row: Statement, _ column: Int32) -> (value: BootTime?, Void)? {
        if row.isNull(column) { return (nil, ()) }
        guard let bytes = row.blob(column), bytes.count == 16, !row.isNull(column + 1) else { return nil }
        let id = bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
        return (BootTime(bootID: UUID(uuid: id), sinceBoot: .nanoseconds(row.integer(column + 1))), ())
    }

    /// Writes a row with a statement that has one parameter for each column.
    static func write(
        _ message: StoredMessage, _ progress: StoredOutgoing.Progress, _ key: RowKey, size: Int,
        by statement: Statement
    ) throws(SQLiteFailure) {
        statement.bind(1, key.rawValue)
            .bind(2, progress.stored)
            .bind(3, Int64(message.qos.rawValue))
            .bind(4, message.isRetained ? 1 : 0)
            .bind(5, real: message.storedAt.timeIntervalSinceReferenceDate)
            .bind(7, Int64(size))
            .bind(8, message.topic)
        if let end = message.expiresAt {
            statement.bind(6, real: end.timeIntervalSinceReferenceDate)
        } else {
            statement.bindNull(6)
        }
        if let bootTime = message.bootTime {
            statement.bind(11, blob: bootTime.bootID.bytes).bind(12, bootTime.nanoseconds)
        } else {
            statement.bindNull(11).bindNull(12)
        }
        if message.isLatestOnly { statement.bind(13, 1) } else { statement.bindNull(13) }
        if let properties = PropertiesCodec.encode(message.properties) {
            statement.bind(9, blob: properties)
        } else {
            statement.bindNull(9)
        }
        try statement.lending(10, blob: message.payload) { () throws(SQLiteFailure) in try statement.run() }
    }
}

extension UUID {
    /// The sixteen bytes of the UUID.
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { [UInt8]($0) } }
}

extension BootTime {
    /// The time since the boot in whole nanoseconds.
    var nanoseconds: Int64 { sinceBoot.wholeNanoseconds }
}

extension Duration {
    /// The duration in whole nanoseconds. A duration that is too long for an `Int64` becomes the nearest `Int64`.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isStillTooLarge) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooLarge || isStillTooLarge ? (seconds < 0 ? .min : .max) : sum
    }
}

extension StoredOutgoing.Progress {
    private static let kind: Int64 = 1 << 16

    /// The number that represents the value in a file.
    var stored: Int64 {
        switch self {
        case .queued: Self.kind
        case .sent(let packetID): 2 * Self.kind + Int64(packetID)
        case .received(let packetID): 3 * Self.kind + Int64(packetID)
        }
    }

    /// Creates the value from its number in a file; `nil` if the number is invalid.
    init?(stored: Int64) {
        let packetID = UInt16(truncatingIfNeeded: stored)
        switch stored / Self.kind {
        case 1 where packetID == 0: self = .queued
        case 2: self = .sent(packetID: packetID)
        case 3: self = .received(packetID: packetID)
        default: return nil
        }
    }
}

extension StoredSubscription.Intent {
    private static let unsubscribingNumber: Int64 = -1

    /// The number that represents the value in a file.
    var stored: Int64 {
        switch self {
        case .subscribed(let qos): Int64(qos.rawValue)
        case .unsubscribing: Self.unsubscribingNumber
        }
    }

    /// Creates the value from its number in a file; `nil` if the number is invalid.
    init?(stored: Int64) {
        if stored == Self.unsubscribingNumber {
            self = .unsubscribing
        } else if let qos = QoS(rawValue: Int(truncatingIfNeeded: stored)) {
            self = .subscribed(qos)
        } else {
            return nil
        }
    }
}
