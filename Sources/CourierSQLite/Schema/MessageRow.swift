import CourierCore
import Foundation

/// A row of a message table, and how it is written to and read from a statement.
struct MessageRow: Sendable {
    /// The columns in the order in which statements name them.
    static let columns = "key, progress, qos, is_retained, stored_at, expires_at, size, topic, properties, payload"

    let key: RowKey
    let outgoing: StoredOutgoing

    var message: StoredMessage { outgoing.message }

    /// Reads the present row.
    ///
    /// - Returns: `nil` when it makes no sense.
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
        let message = StoredMessage(
            id: key.id, topic: topic, payload: payload, qos: qos, isRetained: row.integer(3) != 0,
            properties: properties, storedAt: Date(timeIntervalSinceReferenceDate: row.real(4)),
            expiresAt: row.isNull(5) ? nil : Date(timeIntervalSinceReferenceDate: row.real(5)))
        outgoing = StoredOutgoing(message, progress)
    }

    /// Writes a row by a statement whose parameters are the columns.
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
        if let properties = PropertiesCodec.encode(message.properties) {
            statement.bind(9, blob: properties)
        } else {
            statement.bindNull(9)
        }
        try statement.lending(10, blob: message.payload) { () throws(SQLiteFailure) in try statement.run() }
    }
}

extension StoredOutgoing.Progress {
    private static let kind: Int64 = 1 << 16

    /// The number that stands for it in a file.
    var stored: Int64 {
        switch self {
        case .queued: Self.kind
        case .sent(let packetID): 2 * Self.kind + Int64(packetID)
        case .received(let packetID): 3 * Self.kind + Int64(packetID)
        }
    }

    /// - Returns: `nil` for a number that stands for nothing.
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

    /// The number that stands for it in a file.
    var stored: Int64 {
        switch self {
        case .subscribed(let qos): Int64(qos.rawValue)
        case .unsubscribing: Self.unsubscribingNumber
        }
    }

    /// - Returns: `nil` for a number that stands for nothing.
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
