/// The names of some fields of a message, `google.protobuf.FieldMask`.
public struct ProtobufFieldMask: GeneratedProtobufMessage {
    /// The fields, each a path of names with dots between them.
    public var paths: [String]
    /// What newer versions of the type may add.
    public var unknownFields = ProtobufUnknownFields()

    /// Makes a mask.
    ///
    /// - Parameter paths: The fields, each a path of names with dots between them.
    public init(paths: [String] = []) { self.paths = paths }

    /// Makes an empty mask.
    public init() { self.init(paths: []) }

    /// The fields.
    public static let protobufSchema: ProtobufSchema = .init(
        "google.protobuf.FieldMask", [.init(1, "paths", .string, .repeated)])

    /// Takes over the fields that are present.
    ///
    /// - Parameter fields: The fields.
    /// - Throws: ``CourierCore/CourierError`` when a text is not UTF-8.
    public mutating func readProtobuf(_ fields: ProtobufReader) throws {
        try fields.readRepeated(0, ProtobufCodec.Text.self, into: &paths)
        fields.readUnknown(into: &unknownFields)
    }

    /// Hands over the fields.
    ///
    /// - Parameter fields: Takes them.
    /// - Throws: ``CourierCore/CourierError`` when there is no memory left.
    public func writeProtobuf(_ fields: ProtobufWriter) throws {
        try fields.writeRepeated(0, ProtobufCodec.Text.self, paths)
        try fields.writeUnknown(unknownFields)
    }
}
