/// `google.protobuf.Empty`: a message without fields.
public struct ProtobufEmpty: GeneratedProtobufMessage {
    /// Received fields that are not in the schema, such as fields of a newer version of the type.
    public var unknownFields = ProtobufUnknownFields()

    /// Creates the message.
    public init() {}

    /// The name of this message type, which has no fields.
    public static let protobufSchema: ProtobufSchema = .init("google.protobuf.Empty", [])

    /// Stores the received fields as unknown fields.
    ///
    /// - Parameter fields: The reader with the received fields.
    /// - Throws: No error. The protocol declares the function as throwing.
    public mutating func readProtobuf(_ fields: ProtobufReader) throws { fields.readUnknown(into: &unknownFields) }

    /// Writes the unknown fields to a writer.
    ///
    /// - Parameter fields: The writer that receives the fields.
    /// - Throws: ``CourierCore/CourierError`` if the memory limit is reached.
    public func writeProtobuf(_ fields: ProtobufWriter) throws { try fields.writeUnknown(unknownFields) }
}
