public import Foundation

/// A message type that `protoc-gen-courier` generated from a `.proto` file. Comments in the `.proto` file become
/// documentation comments, and names that are Swift keywords get backticks.
///
/// Generated code refers to a field by its index in ``protobufSchema``, which lists fields in ascending order of their
/// numbers. Apps use ``ProtobufMessage``. Only generated code conforms to this protocol, and apps do not call its
/// requirements.
public protocol GeneratedProtobufMessage: ProtobufMessage, Hashable {
    /// The name and the fields of the message type, from which the descriptor for libprotobuf-c is created.
    static var protobufSchema: ProtobufSchema { get }

    /// Received fields that are not in the schema, such as fields of a newer version of the `.proto` file. They are
    /// written again after the known fields.
    var unknownFields: ProtobufUnknownFields { get set }

    /// Creates a message whose fields all have their default values.
    init()

    /// Sets the properties from the fields that the reader has.
    ///
    /// - Parameter fields: The reader with the received fields. It is valid only during the call.
    /// - Throws: ``CourierCore/CourierError`` if a required field is missing, a string is not UTF-8, or a limit is
    ///   exceeded.
    mutating func readProtobuf(_ fields: ProtobufReader) throws

    /// Writes all fields that have a value to a writer.
    ///
    /// - Parameter fields: The writer that receives the fields. It is valid only during the call.
    /// - Throws: ``CourierCore/CourierError`` if messages are nested too deeply.
    func writeProtobuf(_ fields: ProtobufWriter) throws
}

extension GeneratedProtobufMessage {
    /// Decodes a message within the default ``ProtobufLimits``.
    ///
    /// - Parameter data: The complete encoded message, without a length prefix.
    /// - Throws: ``CourierCore/CourierError`` with the code `decodingFailed`. Its message names the fault and its
    ///   position.
    public init(protobufData data: Data) throws { try self.init(protobufData: data, limits: .default) }

    /// Decodes a message within the given limits.
    ///
    /// - Parameters:
    ///   - data: The complete encoded message, without a length prefix.
    ///   - limits: The limits for decoding.
    /// - Throws: ``CourierCore/CourierError`` with the code `decodingFailed`. Its message names the fault and its
    ///   position.
    public init(protobufData data: Data, limits: ProtobufLimits) throws {
        self = try data.withUnsafeBytes { try MessageUnpacking.value(Self.self, from: $0, limits: limits) }
    }

    /// Decodes a message from an array of bytes.
    ///
    /// - Parameters:
    ///   - bytes: The complete encoded message, without a length prefix.
    ///   - limits: The limits for decoding. Default: ``ProtobufLimits/default``.
    /// - Throws: ``CourierCore/CourierError`` with the code `decodingFailed`. Its message names the fault and its
    ///   position.
    public init(protobufBytes bytes: [UInt8], limits: ProtobufLimits = .default) throws {
        self = try bytes.withUnsafeBytes { try MessageUnpacking.value(Self.self, from: $0, limits: limits) }
    }

    /// Encodes the message within the default ``ProtobufLimits``.
    ///
    /// Equal values always give the same bytes. Fields are in the order of their numbers, map entries are in the order
    /// of their keys, and unknown fields are last.
    ///
    /// - Returns: The encoded message, without a length prefix.
    /// - Throws: ``CourierCore/CourierError`` with the code `encodingFailed` if the message is too large or too deeply
    ///   nested.
    public func protobufData() throws -> Data { try protobufData(limits: .default) }

    /// Encodes the message within the given limits.
    ///
    /// - Parameter limits: The limits for encoding.
    /// - Returns: The encoded message, without a length prefix.
    /// - Throws: ``CourierCore/CourierError`` with the code `encodingFailed` if the message is too large or too deeply
    ///   nested.
    public func protobufData(limits: ProtobufLimits) throws -> Data {
        try MessagePacking.data(self, limits: limits)
    }
}
