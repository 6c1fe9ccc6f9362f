import CourierMQTT

/// One line of the chat in JSON format. `WireLine`, which is generated from line.proto, is the same line in protobuf
/// format.
struct Line: Codable, Hashable, Sendable {
    /// Identifies the line, so that a duplicate is detected. QoS 1 allows duplicates.
    let id: String
    let author: String
    let text: String

    /// The text without control characters, because these could send commands to the terminal.
    var shownText: String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}

extension Line {
    init(_ line: WireLine) { self.init(id: line.id, author: line.author, text: line.text) }
}

extension WireLine {
    init(_ line: Line) { self.init(id: line.id, author: line.author, text: line.text) }
}

/// The format in which a member writes. Every member reads both formats.
enum Format: String, Sendable {
    case json = "JSON"
    case protobuf
}

/// The topics of the room, one for each format. The value type of a topic selects the adapter.
enum Room {
    static let json = Topic<Line>("chat/room/json", qos: .one)
    static let protobuf = Topic<WireLine>("chat/room/proto", qos: .one)
}
