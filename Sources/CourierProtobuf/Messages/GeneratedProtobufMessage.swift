public import Foundation

/// A message type that `protoc-gen-courier` made from a `.proto` file.
///
/// The generated code names every field of ``protobufSchema`` by its place in that list, in ascending field numbers.
/// Apps use ``ProtobufMessage``; nothing but generated code conforms to this protocol or calls its requirements.
public protocol GeneratedProtobufMessage: ProtobufMessage, Hashable {
    /// The fields, as libprotobuf-c has to know them.
    static var protobufSchema: ProtobufSchema { get }

    /// What was read and is not in the schema, such as fields of a newer version of the `.proto` file; it is written
    /// again behind the known fields.
    var unknownFields: ProtobufUnknownFields { get set }

    /// Makes a message whose fields all have their defaults.
    init()

    /// Takes over the fields that are present.
    ///
    /// - Parameter fields: The fields, valid during the call.
    /// - Throws: ``CourierCore/CourierError`` when a required field is missing or a text is not UTF-8.
    mutating func readProtobuf(_ fields: ProtobufReader) throws

    /// Hands over every field that is to be written.
    ///
    /// - Parameter fields: Takes the fields, valid during the call.
    /// - Throws: ``CourierCore/CourierError`` when the message nests too deeply.
    func writeProtobuf(_ fields: ProtobufWriter) throws
}

extension GeneratedProtobufMessage {
    /// Reads a message within the default ``ProtobufLimits``.
    ///
    /// - Parameter data: The whole message, without a length before it.
    /// - Throws: ``CourierCore/CourierError`` with the code `decodingFailed` that says what is wrong, and where.
    public init(protobufData data: Data) throws { try self.init(protobufData: data, limits: .default) }

    /// Reads a message.
    ///
    /// - Parameters:
    ///   - data: The whole message, without a length before it.
    ///   - limits: What the message may cost.
    /// - Throws: ``CourierCore/CourierError`` with the code `decodingFailed` that says what is wrong, and where.
    public init(protobufData data: Data, limits: ProtobufLimits) throws {
        self = try data.withUnsafeBytes { try MessageUnpacking.value(Self.self, from: $0, limits: limits) }
    }

    /// Reads a message.
    ///
    /// - Parameters:
    ///   - bytes: The whole message, without a length before it.
    ///   - limits: What the message may cost, ``ProtobufLimits/default`` unless given.
    /// - Throws: ``CourierCore/CourierError`` with the code `decodingFailed` that says what is wrong, and where.
    public init(protobufBytes bytes: [UInt8], limits: ProtobufLimits = .default) throws {
        self = try bytes.withUnsafeBytes { try MessageUnpacking.value(Self.self, from: $0, limits: limits) }
    }

    /// Writes the message within the default ``ProtobufLimits``.
    ///
    /// The same value always gives the same bytes: fields in the order of their numbers, maps in the order of their
    /// keys, unknown fields last.
    ///
    /// - Returns: The bytes, without a length before them.
    /// - Throws: ``CourierCore/CourierError`` with the code `encodingFailed` when the message is too large or nests too
    ///   deeply.
    public func protobufData() throws -> Data { try protobufData(limits: .default) }

    /// Writes the message.
    ///
    /// - Parameter limits: What the message may cost.
    /// - Returns: The bytes, without a length before them.
    /// - Throws: ``CourierCore/CourierError`` with the code `encodingFailed` when the message is too large or nests too
    ///   deeply.
    public func protobufData(limits: ProtobufLimits) throws -> Data {
        try MessagePacking.data(self, limits: limits)
    }
}
