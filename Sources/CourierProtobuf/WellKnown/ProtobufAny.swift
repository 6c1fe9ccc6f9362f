import CourierCore

/// `google.protobuf.Any`: an encoded message of any type, with the name of its type.
public struct ProtobufAny: GeneratedProtobufMessage {
    /// The URL of the type, such as `type.googleapis.com/courier.chat.Note`. The full name of the type follows the last
    /// slash.
    public var typeURL: String
    /// The encoded message.
    public var value: [UInt8]
    /// Received fields that are not in the schema, such as fields of a newer version of the type.
    public var unknownFields = ProtobufUnknownFields()

    /// Creates the message from a type URL and an encoded message.
    ///
    /// - Parameters:
    ///   - typeURL: The URL of the type, such as `type.googleapis.com/courier.chat.Note`.
    ///   - value: The encoded message.
    public init(typeURL: String = "", value: [UInt8] = []) {
        self.typeURL = typeURL
        self.value = value
    }

    /// Creates a message without a type or a value.
    public init() { self.init(typeURL: "") }

    /// Encodes a message, and stores its bytes and the name of its type.
    ///
    /// - Parameter message: The message to encode.
    /// - Throws: ``CourierCore/CourierError`` if the message cannot be encoded.
    public init<Message: GeneratedProtobufMessage>(_ message: Message) throws {
        self.init(
            typeURL: "type.googleapis.com/\(Message.protobufSchema.name)", value: Array(try message.protobufData()))
    }

    /// Returns the decoded message if its type is the given type.
    ///
    /// - Parameters:
    ///   - type: The expected type.
    ///   - limits: The limits for decoding. Default: ``ProtobufLimits/default``.
    /// - Returns: The message; `nil` if `typeName` is the name of another type.
    /// - Throws: ``CourierCore/CourierError`` if the bytes are not a valid message of this type.
    public func message<Message: GeneratedProtobufMessage>(
        _ type: Message.Type, limits: ProtobufLimits = .default
    ) throws -> Message? {
        guard typeName == Message.protobufSchema.name else { return nil }
        return try Message(protobufBytes: value, limits: limits)
    }

    /// The full name of the type, which is the part of `typeURL` after the last slash.
    public var typeName: String {
        typeURL.lastIndex(of: "/").map { String(typeURL[typeURL.index(after: $0)...]) } ?? typeURL
    }

    /// The name and the fields of this message type.
    public static let protobufSchema: ProtobufSchema = .init(
        "google.protobuf.Any", [.init(1, "type_url", .string), .init(2, "value", .bytes)])

    /// Sets the properties from the fields that the reader has.
    ///
    /// - Parameter fields: The reader with the received fields.
    /// - Throws: ``CourierCore/CourierError`` if a string is not UTF-8.
    public mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.read(0, ProtobufCodec.Text.self, into: &typeURL)
        try fields.read(1, ProtobufCodec.Bytes.self, into: &value)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields to a writer.
    ///
    /// - Parameter fields: The writer that receives the fields.
    /// - Throws: ``CourierCore/CourierError`` if the memory limit is reached.
    public func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.write(0, ProtobufCodec.Text.self, typeURL)
        try fields.write(1, ProtobufCodec.Bytes.self, value)
        try fields.writeUnknown(unknownFields)
    }
}
