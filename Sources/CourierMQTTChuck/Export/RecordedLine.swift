import CourierCore
import Foundation
import MQTTCodec

/// One line of a JSON Lines file. It describes a packet, or a connection before its first packet.
struct RecordedLine: Codable {
    var connection: RecordedConnectionLine?
    var packet: RecordedPacketLine?
}

/// The description of a connection in a JSON Lines file.
struct RecordedConnectionLine: Codable {
    let id: UInt64
    let ordinal: Int
    let clientId: String
    let host: String
    let port: UInt16
    let scheme: String?
    let alpn: [String]
    /// The MQTT version: `3.1`, `3.1.1` or `5.0`.
    let `protocol`: String
    let opened: String

    init(_ connection: MQTTChuckConnection) {
        id = connection.id
        ordinal = connection.ordinal
        clientId = connection.clientID
        host = connection.host
        port = connection.port
        scheme = connection.scheme
        alpn = connection.alpn
        `protocol` = connection.protocolName
        opened = WrittenTime.text(connection.openedNanoseconds)
    }

    /// An encoder for connection lines.
    static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// Decodes a connection line; returns `nil` if the text is not valid.
    static func decoded(_ line: String) -> RecordedConnectionLine? {
        try? JSONDecoder().decode(RecordedConnectionLine.self, from: Data(line.utf8))
    }

    /// The described connection, or `nil` if the MQTT version or the time is invalid.
    var value: MQTTChuckConnection? {
        let versions: [String: ObservedConnection.ProtocolVersion] = ["3.1": .v31, "3.1.1": .v311, "5.0": .v5]
        guard let version = versions[`protocol`], let opened = WrittenTime.nanoseconds(opened) else { return nil }
        return MQTTChuckConnection(
            id: id, ordinal: ordinal, clientID: clientId, host: host, port: port, scheme: scheme, alpn: alpn,
            protocolVersion: version, openedNanoseconds: opened)
    }
}

/// The description of a packet in a JSON Lines file. An import reads only some members. The other members can be
/// computed from the bytes. They are written for other programs.
struct RecordedPacketLine: Codable {
    struct Reason: Codable {
        let code: UInt8
        let name: String
    }

    struct Property: Codable {
        let name: String
        let value: String
    }

    let number: UInt64
    let time: String
    let direction: String
    let connection: UInt64
    let type: String
    let size: Int
    let packetId: UInt16?
    let qos: UInt8?
    let dup: Bool?
    let retain: Bool?
    let topic: String?
    let topicAlias: UInt16?
    let reasons: [Reason]?
    let properties: [Property]?
    let payload: String?
    let problem: String?
    let exchange: UInt64?
    let elapsedNanoseconds: Int64?
    let endsExchange: Bool?
    let bytes: Data

    init(_ raw: RawRow, _ row: MQTTChuckRow) {
        number = row.number
        time = WrittenTime.text(row.timeNanoseconds)
        direction = row.direction == .outgoing ? "out" : "in"
        connection = row.connection.id
        type = row.typeName
        size = row.size
        packetId = row.packetID
        qos = row.qos?.rawValue
        dup = row.isDuplicate ? true : nil
        retain = row.isRetained ? true : nil
        topic = row.topic
        topicAlias = row.topicAlias
        reasons = row.reasons.isEmpty ? nil : row.reasons.map { Reason(code: $0.code, name: $0.name) }
        properties = row.properties.isEmpty ? nil : row.properties.map { Property(name: $0.name, value: $0.value) }
        payload = row.preview.kind == .empty ? nil : row.preview.text
        problem = row.problem
        exchange = raw.link?.start
        elapsedNanoseconds = raw.link?.elapsed
        endsExchange = raw.link.map(\.isLast)
        bytes = Data(raw.bytes)
    }
}
