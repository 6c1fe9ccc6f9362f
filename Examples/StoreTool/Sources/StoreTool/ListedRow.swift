import Foundation

/// One line of an export as a line of the list, without payload and properties.
struct ListedRow: Decodable {
    private let kind: String
    private let clientID: String
    private let broker: String
    private let id: UInt64?
    private let topic: String?
    private let qos: Int?
    private let isRetained: Bool?
    private let progress: String?
    private let packetID: UInt16?
    private let storedAt: String?
    private let expiresAt: String?
    private let payload: Data?
    private let filter: String?
    private let isUnsubscribing: Bool?

    /// The line.
    var line: String {
        var words = [quoted(clientID), "at", quoted(broker) + ":", kind == "packetID" ? "packet id" : kind]
        if let id { words.append("\(id)") }
        if let packetID, kind == "packetID" { words.append("\(packetID)") }
        if let name = topic ?? filter { words.append(quoted(name)) }
        if isUnsubscribing == true { words.append("unsubscribing") }
        if let qos { words.append("QoS \(qos)") }
        if isRetained == true { words.append("retained") }
        if let payload { words.append("\(payload.count) bytes") }
        if let progress { words.append(progress + (packetID.map { " with packet id \($0)" } ?? "")) }
        if let storedAt { words.append("since " + storedAt) }
        if let expiresAt { words.append("until " + expiresAt) }
        return words.joined(separator: " ")
    }
}
