/// A message without fields, `google.protobuf.Empty`.
public struct ProtobufEmpty: GeneratedProtobufMessage {
    /// What newer versions of the type may add.
    public var unknownFields = ProtobufUnknownFields()

    /// Makes the message.
    public init() {}

    /// No fields.
    public static let protobufSchema: ProtobufSchema = .init("google.protobuf.Empty", [])

    /// Takes over the fields that are present.
    ///
    /// - Parameter fields: The fields.
    /// - Throws: ``CourierCore/CourierError`` when a text is not UTF-8.
    public mutating func readProtobuf(_ fields: ProtobufReader) throws { fields.readUnknown(into: &unknownFields) }

    /// Hands over the fields.
    ///
    /// - Parameter fields: Takes them.
    /// - Throws: ``CourierCore/CourierError`` when there is no memory left.
    public func writeProtobuf(_ fields: ProtobufWriter) throws { try fields.writeUnknown(unknownFields) }
}
