// Made by protoc-gen-courier from note.proto. Changes would be lost.
// swift-format-ignore-file

import CourierProtobuf

/// A note that somebody leaves in a chat room.
struct Note: GeneratedProtobufMessage {
    /// What it is about.
    var title: String = ""
    /// `text`.
    var text: String = ""
    /// Stars, 0 to 5.
    var stars: Int32 = 0
    /// `tags`.
    var tags: [String] = []
    /// Fields that this version of the `.proto` file does not have.
    var unknownFields = ProtobufUnknownFields()

    /// Makes a message whose fields all have their defaults.
    init() {}

    /// Makes a message.
    init(
        title: String = "",
        text: String = "",
        stars: Int32 = 0,
        tags: [String] = []
    ) {
        self.title = title
        self.text = text
        self.stars = stars
        self.tags = tags
    }

    /// The schema of the fields, for libprotobuf-c.
    static let protobufSchema: ProtobufSchema = .init(
        "Note",
        [
            .init(1, "title", .string),
            .init(2, "text", .string),
            .init(3, "stars", .int32),
            .init(4, "tags", .string, .repeated),
        ]
    )

    /// Reads the fields that are present.
    mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Text.self, into: &title)
        try fields.read(1, ProtobufCodec.Text.self, into: &text)
        try fields.read(2, ProtobufCodec.Number<Int32>.self, into: &stars)
        try fields.readRepeated(3, ProtobufCodec.Text.self, into: &tags)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields.
    func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Text.self, title)
        try fields.write(1, ProtobufCodec.Text.self, text)
        try fields.write(2, ProtobufCodec.Number<Int32>.self, stars)
        try fields.writeRepeated(3, ProtobufCodec.Text.self, tags)
        try fields.writeUnknown(unknownFields)
    }
}
