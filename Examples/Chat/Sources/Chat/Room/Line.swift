import CourierMQTT

/// What somebody says. This is the message as JSON; `WireLine`, which is made of line.proto, is the one as protobuf.
struct Line: Codable, Hashable, Sendable {
    /// By this a line is known that comes twice, which QoS 1 allows.
    let id: String
    let author: String
    let text: String

    /// The text without control characters, which could do more to a terminal than show a text.
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

/// How somebody writes. Everybody reads both.
enum Format: String, Sendable {
    case json = "JSON"
    case protobuf
}

/// Where the people meet: a topic for each format. The type of a topic's values decides on the adapter.
enum Room {
    static let json = Topic<Line>("chat/room/json", qos: .one)
    static let protobuf = Topic<WireLine>("chat/room/proto", qos: .one)
}
