import CourierCore
public import Foundation

/// The message types of some `.proto` files, for converting messages of these types to JSON and back at run time.
///
/// ```swift
/// // protoc --include_imports --descriptor_set_out=chat.set chat.proto
/// let types = try ProtobufDescriptorSet(Data(contentsOf: URL(filePath: "chat.set")))
/// print(try types.json(from: payload, type: "courier.chat.Note"))
/// ```
///
/// The JSON follows protobuf's JSON mapping. Names are in lower camel case, 64-bit numbers are strings, bytes are
/// Base64, and Google's well-known types have their short forms. Fields that the types do not have are left out. If a
/// value has no short form, a time is an object with `seconds` and `nanos`, and a `FieldMask` an object with `paths`. A
/// `Value` that is not finite is a text.
///
/// Payloads, JSON and the descriptor set may come from a hostile source. The limits apply to all three.
public final class ProtobufDescriptorSet: Sendable {
    private let types: DynamicTypes
    private let limits: ProtobufLimits

    /// Reads the message types from a descriptor set.
    ///
    /// - Parameters:
    ///   - data: The output of `protoc --include_imports --descriptor_set_out`.
    ///   - limits: The limits for reading the set, a payload or a JSON text. Default: ``ProtobufLimits/default``.
    /// - Throws: ``CourierCore/CourierError`` with the code `decodingFailed` if the bytes are not a descriptor set, or
    ///   its types refer to types that the set does not contain.
    public init(_ data: Data, limits: ProtobufLimits = .default) throws {
        types = try DynamicTypes(FileDescriptorSet(protobufData: data, limits: limits))
        self.limits = limits
    }

    /// The full names of all message types, in alphabetical order.
    public var messageNames: [String] { types.messages.keys.sorted() }

    /// Converts a payload to JSON.
    ///
    /// - Parameters:
    ///   - payload: The encoded message.
    ///   - type: The full name of the message's type.
    /// - Returns: The message as JSON on one line.
    /// - Throws: ``CourierCore/CourierError`` with the code `decodingFailed` if the type is unknown, the payload is
    ///   invalid, or the JSON is longer than the limit.
    public func json(from payload: Data, type: String) throws -> String {
        let type = try types.message(type)
        return try payload.withUnsafeBytes { bytes in
            try MessageUnpacking.with(
                bytes, schema: type.schema, limits: limits, memory: .init(budget: limits.workingMemory)
            ) { fields, memoryLeft in
                var printer = JSONPrinter(types: types, limits: limits, memoryLeft: memoryLeft)
                try printer.write([fields], as: type)
                return printer.text
            }
        }
    }

    /// Converts JSON to a payload.
    ///
    /// - Parameters:
    ///   - json: The message as JSON. Field names may also be those of the `.proto` file.
    ///   - type: The full name of the message's type.
    /// - Returns: The encoded message.
    /// - Throws: ``CourierCore/CourierError`` with the code `encodingFailed` if the type is unknown or a limit is
    ///   exceeded. The same error is thrown if the text is not JSON or does not match the type.
    public func payload(fromJSON json: String, type: String) throws -> Data {
        let message: DynamicTypes.Message
        do throws(CourierError) {
            message = try types.message(type)
        } catch {
            throw CourierError(.encodingFailed, error.message)
        }
        var parser = try JSONParser(json, limits: limits)
        let node = try parser.document()
        return try MessagePacking.data(message.schema, limits: limits, budget: limits.workingMemory) { fields in
            try JSONFiller(types: types, limits: limits).fill(fields, as: message, from: node)
        }
    }
}
