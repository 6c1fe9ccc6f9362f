import CourierCore
import Foundation

/// Formats one JSON line of a store's export as a readable line. The payload and the properties are left out.
struct ListedRow: Decodable {
    private let kind: String
    private let clientID: String
    private let broker: String
    private let id: UInt64?
    private let topic: String?
    private let filter: String?
    private let qos: Int?
    private let isRetained: Bool?
    private let isUnsubscribing: Bool?
    private let payload: Data?
    private let progress: String?
    private let packetID: UInt16?
    private let storedAt: String?
    private let expiresAt: String?
    private let isLatestOnly: Bool?
    private let strikes: Int?
    private let reason: String?
    private let rejectedAt: String?
    private let processor: String?
    private let attempts: Int?
    private let nextAttemptAt: String?
    private let parkedAt: String?

    /// True if the line is about a rejected message. The client no longer sends this message, because the broker ended
    /// the connection each time it was sent.
    var isRejected: Bool { kind == "rejected" }

    var line: String {
        let isPacketID = kind == "packetID"
        let parts: [String?] = [
            "\(StoreRun.name(clientID, broker)):", isPacketID ? "packet id" : kind, id.map(String.init),
            isPacketID ? packetID.map(String.init) : nil, (topic ?? filter)?.quoted(limit: 200),
            isUnsubscribing == true ? "unsubscribing" : nil, qos.map { "QoS \($0)" },
            isRetained == true ? "retained" : nil, payload.map { "\($0.count) bytes" }, progress,
            isPacketID ? nil : packetID.map { "with packet id \($0)" }, storedAt.map { "since \($0)" },
            expiresAt.map { "until \($0)" }, isLatestOnly == true ? "latest only" : nil,
            strikes.map { $0 == 1 ? "1 strike" : "\($0) strikes" }, rejectedAt.map { "rejected at \($0)" },
            processor.map { "of processor \($0.quoted(limit: 200))" },
            attempts.map { $0 == 1 ? "1 failed attempt" : "\($0) failed attempts" },
            nextAttemptAt.map { "next attempt at \($0)" }, parkedAt.map { "parked at \($0)" },
            reason.map { $0.quoted(limit: 200) },
        ]
        return parts.compactMap(\.self).joined(separator: " ")
    }
}
