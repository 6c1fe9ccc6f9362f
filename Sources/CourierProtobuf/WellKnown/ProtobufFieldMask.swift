/// `google.protobuf.FieldMask`: a list of fields of a message.
public struct ProtobufFieldMask: GeneratedProtobufMessage {
    /// The fields. Each field is a path of names that are separated by dots.
    public var paths: [String]
    /// Received fields that are not in the schema, such as fields of a newer version of the type.
    public var unknownFields = ProtobufUnknownFields()

    /// Creates a mask from field paths.
    ///
    /// - Parameter paths: The fields. Each field is a path of names that are separated by dots.
    public init(paths: [String] = []) { self.paths = paths }

    /// Creates an empty mask.
    public init() { self.init(paths: []) }

    /// The name and the fields of this message type.
    public static let protobufSchema: ProtobufSchema = .init(
        "google.protobuf.FieldMask", [.init(1, "paths", .string, .repeated)])

    /// Sets the properties from the fields that the reader has.
    ///
    /// - Parameter fields: The reader with the received fields.
    /// - Throws: ``CourierCore/CourierError`` if a string is not UTF-8 or there are too many paths.
    public mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readRepeated(0, ProtobufCodec.Text.self, into: &paths)
        fields.readUnknown(into: &unknownFields)
    }

    /// Writes the fields to a writer.
    ///
    /// - Parameter fields: The writer that receives the fields.
    /// - Throws: ``CourierCore/CourierError`` if the memory limit is reached.
    public func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeRepeated(0, ProtobufCodec.Text.self, paths)
        try fields.writeUnknown(unknownFields)
    }
}
