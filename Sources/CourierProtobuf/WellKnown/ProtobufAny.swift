import CourierCore

/// A message of any type, with its name, `google.protobuf.Any`.
public struct ProtobufAny: GeneratedProtobufMessage {
    /// The type, such as `type.googleapis.com/courier.chat.Note`: the full name stands behind the last slash.
    public var typeURL: String
    /// The bytes of the message.
    public var value: [UInt8]
    /// What newer versions of the type may add.
    public var unknownFields = ProtobufUnknownFields()

    /// Makes the message from its parts.
    ///
    /// - Parameters:
    ///   - typeURL: The type, such as `type.googleapis.com/courier.chat.Note`.
    ///   - value: The bytes of the message.
    public init(typeURL: String = "", value: [UInt8] = []) {
        self.typeURL = typeURL
        self.value = value
    }

    /// Makes an empty one.
    public init() { self.init(typeURL: "") }

    /// Packs a message.
    ///
    /// - Parameter message: The message.
    /// - Throws: ``CourierCore/CourierError`` when it cannot be written.
    public init<Message: GeneratedProtobufMessage>(_ message: Message) throws {
        self.init(
            typeURL: "type.googleapis.com/\(Message.protobufSchema.name)", value: Array(try message.protobufData()))
    }

    /// Unpacks a message.
    ///
    /// - Parameters:
    ///   - type: The type to read.
    ///   - limits: What the message may cost, ``ProtobufLimits/default`` unless given.
    /// - Returns: The message, `nil` when another type is packed.
    /// - Throws: ``CourierCore/CourierError`` when the bytes are not such a message.
    public func message<Message: GeneratedProtobufMessage>(
        _ type: Message.Type, limits: ProtobufLimits = .default
    ) throws -> Message? {
        guard typeName == Message.protobufSchema.name else { return nil }
        return try Message(protobufBytes: value, limits: limits)
    }

    /// The full name of the packed type.
    public var typeName: String {
        typeURL.lastIndex(of: "/").map { String(typeURL[typeURL.index(after: $0)...]) } ?? typeURL
    }

    /// The fields.
    public static let protobufSchema: ProtobufSchema = .init(
        "google.protobuf.Any", [.init(1, "type_url", .string), .init(2, "value", .bytes)])

    /// Takes over the fields that are present.
    ///
    /// - Parameter fields: The fields.
    /// - Throws: ``CourierCore/CourierError`` when a text is not UTF-8.
    public mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Text.self, into: &typeURL)
        try fields.read(1, ProtobufCodec.Bytes.self, into: &value)
        fields.readUnknown(into: &unknownFields)
    }

    /// Hands over the fields.
    ///
    /// - Parameter fields: Takes them.
    /// - Throws: ``CourierCore/CourierError`` when there is no memory left.
    public func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Text.self, typeURL)
        try fields.write(1, ProtobufCodec.Bytes.self, value)
        try fields.writeUnknown(unknownFields)
    }
}
